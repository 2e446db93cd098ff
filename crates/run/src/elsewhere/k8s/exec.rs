//! A process in a pod, whose streams are ours.

use std::fs::File;
use std::io::{PipeReader, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::api::{Api, AttachParams};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, stderr, stdout};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::fault::{Fault, why};
use super::job::CONTAINER;
use super::login::PATIENCE;

/// How much of a stream is on its way at most. A message is a part of it.
const BUFFER: usize = 64 << 10;

/// How long what has come already may take to be passed on, once the connection is cut.
const REST: Duration = Duration::from_secs(1);

/// The process.
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

impl Exec {
    /// Starts these words in a pod.
    pub(super) fn begin(
        handle: &Handle,
        pods: Api<Pod>,
        pod: &str,
        words: &[String],
        input: OwnedFd,
    ) -> Result<Self, Fault> {
        let (ended, ends) = pipe().map_err(|error| Fault::Failed(error.to_string()))?;
        let (pod, words) = (pod.to_owned(), words.to_vec());
        let task = handle.spawn(async move {
            let answer = executed(&pods, &pod, words, input).await;
            drop(ends);
            answer
        });
        Ok(Self { ended, task })
    }

    /// How it ended.
    pub(super) fn end(self, handle: &Handle) -> Result<i32, Fault> {
        handle.block_on(self.task).unwrap_or_else(|error| Err(Fault::Failed(error.to_string())))
    }
}

async fn executed(pods: &Api<Pod>, pod: &str, words: Vec<String>, input: OwnedFd) -> Result<i32, Fault> {
    let params = AttachParams::default().stdin(true).container(CONTAINER).max_stdin_buf_size(BUFFER);
    let params = params.max_stdout_buf_size(BUFFER).max_stderr_buf_size(BUFFER);
    let begun = timeout(PATIENCE, pods.exec(pod, words, &params)).await;
    let begun = begun
        .map_err(|_| Fault::Failed(format!("the pod's shell: no answer within {} s", PATIENCE.as_secs())))?;
    let mut process = begun.map_err(|error| may_change(Fault::of("the pod's shell", &error)))?;
    let cut = |why: String| Fault::Failed(format!("the connection to the pod ended: {why}"));
    let (Some(status), Some(mut line)) = (process.take_status(), process.stdin()) else {
        return Err(cut("it has no input".to_owned()));
    };
    let output = (pass(process.stdout(), stdout()), pass(process.stderr(), stderr()));
    let mut output = tokio::spawn(async { tokio::join!(output.0, output.1) });
    let whole = async {
        // A connection that breaks does not end the streams.
        if let Err(error) = process.join().await {
            let _ = timeout(REST, &mut output).await;
            return Err(cut(why(&error)));
        }
        let _ = (&mut output).await;
        status.await.map_or_else(|| Err(cut("it did not say how the shell ended".to_owned())), exit_code)
    };
    let nobody_is_left = async {
        let mut input = tokio::fs::File::from_std(File::from(input));
        // Whatever ends it: over there it has ended too.
        let _ = copy(&mut input, &mut line).await;
        let _ = line.shutdown().await;
        sleep(PATIENCE).await;
    };
    tokio::select! {
        status = whole => status,
        () = nobody_is_left => Err(Fault::Failed("the pod's shell did not end".to_owned())),
    }
}

/// A pod may be taken away in the moment between its start and this, and is asked for again.
fn may_change(fault: Fault) -> Fault {
    match fault {
        Fault::Answered { code: 401 | 403, .. } => fault,
        fault => Fault::Failed(fault.to_string()),
    }
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
    let why = status.message.unwrap_or_else(|| "the shell did not run".to_owned());
    code.ok_or(Fault::Failed(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> Status {
        serde_json::from_str(text).unwrap()
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
