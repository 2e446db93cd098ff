//! The cluster's API, through the client that its own foundation keeps for Rust (<https://kube.rs>). It reads the files of `kubectl` and calls the
//! plugins named there.
//!
//! The client is asynchronous and who asks is not: its threads are in here, and each call blocks.

use std::fmt;
use std::fs::File;
use std::io::{PipeReader, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use k8s_openapi::api::{batch, core};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::api::{Api, AttachParams, DeleteParams, GetParams, ListParams, PostParams};
use kube::client::AuthError;
use kube::core::{ListMeta, Request, Resource};
use kube::{Client, Config, Error};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, stderr, stdout};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::facts::{Event, Node, Pod};
use super::job::CONTAINER;

/// How long the cluster may take for one answer, and a shell to end once nobody holds its input open.
const PATIENCE: Duration = Duration::from_secs(15);

/// How many things one answer lists at most, which is `kubectl`'s number.
const PAGE: u32 = 500;

/// How much of a stream is on its way at most. A message is a part of it.
const BUFFER: usize = 64 << 10;

/// Why a call brought nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// The API server will not do it, and would not if it were asked again.
    Refused { state: String, reason: String },
    /// Anything else.
    Failed(String),
}

impl Fault {
    fn of(server: &str, error: Error) -> Self {
        match error {
            // The codes of Unauthorized, Forbidden, NotFound, BadRequest and Invalid: the others may be gone next time.
            Error::Api(status) if [400, 401, 403, 404, 422].contains(&status.code) => {
                Self::Refused { state: status.reason, reason: status.message }
            }
            Error::Api(status) => Self::Failed(format!("{}: {}", status.reason, status.message)),
            error => Self::Failed(format!("{server}: {}", first_cause(&error))),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { state, reason } => write!(f, "{state}: {reason}"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// What all else comes from: what wraps it says only where it passed.
fn first_cause(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match cause.downcast_ref() {
        // It has said why, and its own words would follow as a dump.
        Some(AuthError::AuthExecRun { out, .. }) => format!("the plugin that logs in failed: {}", out.status),
        _ => cause.to_string(),
    }
}

/// A list, or the first part of one.
#[derive(Debug, Deserialize)]
struct List<T> {
    #[serde(default)]
    metadata: ListMeta,
    items: Vec<T>,
}

/// A call that kube has made ready.
type Call = Result<http::Request<Vec<u8>>, kube::core::request::Error>;

/// The cluster of the current context.
pub(super) struct Cluster {
    runtime: Runtime,
    client: Client,
    server: String,
    /// Where our jobs are made.
    namespace: String,
}

impl Cluster {
    /// With our jobs in that namespace, or in the one of the context.
    pub(super) fn reach(namespace: Option<&str>) -> Result<Self, Fault> {
        // A shell goes on beside who waits for it.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| Fault::Failed(error.to_string()))?;
        let config = runtime.block_on(Config::infer()).map_err(|error| Fault::Failed(error.to_string()))?;
        let server = config.cluster_url.to_string();
        let namespace = namespace.map_or_else(|| config.default_namespace.clone(), str::to_owned);
        let client = runtime.block_on(async { Client::try_from(config) });
        let client = client.map_err(|error| Fault::of(&server, error))?;
        Ok(Self { runtime, client, server, namespace })
    }

    /// What is of that name, if there is such a node.
    pub(super) fn node(&self, name: &str) -> Result<Option<Node>, Fault> {
        found(self.ask(everywhere::<core::v1::Node>().get(name, &GetParams::default())))
    }

    /// All nodes, or those with these labels.
    pub(super) fn nodes(&self, labels: Option<&str>) -> Result<Vec<Node>, Fault> {
        let labels = labels.map(str::to_owned);
        self.list(
            &everywhere::<core::v1::Node>(),
            ListParams { label_selector: labels, ..ListParams::default() },
        )
    }

    /// The pods of a node, whoever's they are.
    pub(super) fn pods_on(&self, node: &str) -> Result<Vec<Pod>, Fault> {
        self.list(
            &everywhere::<core::v1::Pod>(),
            ListParams::default().fields(&format!("spec.nodeName={node}")),
        )
    }

    /// The pods of one of our jobs.
    pub(super) fn pods_of(&self, job: &str) -> Result<Vec<Pod>, Fault> {
        self.list(&self.ours::<core::v1::Pod>(), ListParams::default().labels(&format!("job-name={job}")))
    }

    /// One of our pods, if it is still there.
    pub(super) fn pod(&self, name: &str) -> Result<Option<Pod>, Fault> {
        found(self.ask(self.ours::<core::v1::Pod>().get(name, &GetParams::default())))
    }

    /// What happened to one of our jobs or pods.
    pub(super) fn events(&self, name: &str) -> Result<Vec<Event>, Fault> {
        self.list(
            &self.ours::<core::v1::Event>(),
            ListParams::default().fields(&format!("involvedObject.name={name}")),
        )
    }

    pub(super) fn make_job(&self, manifest: &Value) -> Result<(), Fault> {
        let text = manifest.to_string().into_bytes();
        self.ask::<Value>(self.ours::<batch::v1::Job>().create(&PostParams::default(), text)).map(drop)
    }

    /// Takes a job away, and its pods after it.
    pub(super) fn delete_job(&self, name: &str) -> Result<(), Fault> {
        self.ask::<Value>(self.ours::<batch::v1::Job>().delete(name, &DeleteParams::background())).map(drop)
    }

    /// Runs these words in a pod, with that input and our output, until both have ended.
    pub(super) fn exec(&self, pod: &str, words: &[String], input: OwnedFd) -> Result<Exec, Fault> {
        let failed = |error: std::io::Error| Fault::Failed(error.to_string());
        let (ended, ends) = pipe().map_err(failed)?;
        let pods: Api<core::v1::Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let (pod, words, server) = (pod.to_owned(), words.to_vec(), self.server.clone());
        let task = self.runtime.spawn(async move {
            let answer = executed(&pods, &pod, words, input).await;
            drop(ends);
            answer.unwrap_or_else(|error| Err(Fault::of(&server, error)))
        });
        Ok(Exec { ended, task })
    }

    /// How it ended.
    pub(super) fn end_of(&self, exec: Exec) -> Result<i32, Fault> {
        self.runtime.block_on(exec.task).unwrap_or_else(|error| Err(Fault::Failed(error.to_string())))
    }

    fn ours<K: Resource<DynamicType = ()>>(&self) -> Request {
        Request::new(K::url_path(&(), Some(&self.namespace)))
    }

    fn list<T: DeserializeOwned>(&self, of: &Request, params: ListParams) -> Result<Vec<T>, Fault> {
        let mut params = params.limit(PAGE);
        let mut all = Vec::new();
        loop {
            let page: List<T> = self.ask(of.list(&params))?;
            all.extend(page.items);
            params.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
            if params.continue_token.is_none() {
                return Ok(all);
            }
        }
    }

    fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T, Fault> {
        let call = call.map_err(|error| Fault::of(&self.server, Error::BuildRequest(error)))?;
        let answer = self.runtime.block_on(async { timeout(PATIENCE, self.client.request(call)).await });
        let late = |_| Fault::Failed(format!("{}: no answer within {} s", self.server, PATIENCE.as_secs()));
        answer.map_err(late)?.map_err(|error| Fault::of(&self.server, error))
    }
}

fn everywhere<K: Resource<DynamicType = ()>>() -> Request {
    Request::new(K::url_path(&(), None))
}

fn found<T>(answer: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match answer {
        Err(Fault::Refused { state, .. }) if state == "NotFound" => Ok(None),
        answer => answer.map(Some),
    }
}

/// A process in a pod.
pub(super) struct Exec {
    /// Ends when it does.
    ended: PipeReader,
    task: JoinHandle<Result<i32, Fault>>,
}

impl AsFd for Exec {
    /// It can be read once the process has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

async fn executed(
    pods: &Api<core::v1::Pod>,
    pod: &str,
    words: Vec<String>,
    input: OwnedFd,
) -> Result<Result<i32, Fault>, Error> {
    let params = AttachParams::default().stdin(true).container(CONTAINER).max_stdin_buf_size(BUFFER);
    let params = params.max_stdout_buf_size(BUFFER).max_stderr_buf_size(BUFFER);
    let mut process = pods.exec(pod, words, &params).await?;
    let cut = || Fault::Failed("the connection ended".to_owned());
    let (Some(status), Some(mut line)) = (process.take_status(), process.stdin()) else {
        return Ok(Err(cut()));
    };
    let output = (pass(process.stdout(), stdout()), pass(process.stderr(), stderr()));
    let whole = async {
        let (_, _, status) = tokio::join!(output.0, output.1, status);
        status.map_or_else(|| Err(cut()), exit_code)
    };
    let nobody_is_left = async {
        let mut input = tokio::fs::File::from_std(File::from(input));
        // Whatever ends it: over there it has ended too.
        let _ = copy(&mut input, &mut line).await;
        let _ = line.shutdown().await;
        sleep(PATIENCE).await;
    };
    Ok(tokio::select! {
        status = whole => status,
        () = nobody_is_left => Err(cut()),
    })
}

/// Passes on what a stream brings, until it ends or nobody reads it.
async fn pass(from: Option<impl AsyncRead + Unpin>, mut to: impl AsyncWrite + Unpin) {
    if let Some(mut from) = from {
        let _ = copy(&mut from, &mut to).await;
    }
}

/// From what the kubelet says of a process that has ended.
/// <https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/client-go/tools/remotecommand/v4.go> reads it the same way.
fn exit_code(status: Status) -> Result<i32, Fault> {
    if status.status.as_deref() == Some("Success") {
        return Ok(0);
    }
    let causes = status.details.and_then(|it| it.causes).unwrap_or_default();
    let code = causes.into_iter().find(|it| it.reason.as_deref() == Some("ExitCode"));
    let code = code.and_then(|it| it.message?.parse().ok());
    code.ok_or_else(|| Fault::Failed(status.message.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status<T: DeserializeOwned>(text: &str) -> T {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_the_server_refuses_is_told_from_what_failed() {
        let fault = |text: &str| Fault::of("https://h", Error::Api(Box::new(status(text))));
        let refused = fault(
            r#"{"status": "Failure", "message": "nodes is forbidden", "reason": "Forbidden", "code": 403}"#,
        );
        let reason = "nodes is forbidden".to_owned();
        assert_eq!(refused, Fault::Refused { state: "Forbidden".to_owned(), reason });
        let late = fault(r#"{"status": "Failure", "message": "too slow", "reason": "Timeout", "code": 504}"#);
        assert_eq!(late, Fault::Failed("Timeout: too slow".to_owned()));
    }

    #[test]
    fn a_process_has_an_exit_code_or_was_never_there() {
        assert_eq!(exit_code(status(r#"{"metadata": {}, "status": "Success"}"#)), Ok(0));
        let ended = r#"{"metadata": {}, "status": "Failure", "message": "command terminated with non-zero exit code: exit status 91",
            "reason": "NonZeroExitCode", "details": {"causes": [{"reason": "ExitCode", "message": "91"}]}}"#;
        assert_eq!(exit_code(status(ended)), Ok(91));
        let never = r#"{"metadata": {}, "status": "Failure", "message": "container not found (\"whyfaster\")", "reason": "InternalError", "code": 500}"#;
        assert_eq!(
            exit_code(status(never)),
            Err(Fault::Failed("container not found (\"whyfaster\")".to_owned()))
        );
    }
}
