//! The cluster's API, through the client that its own foundation keeps for Rust (<https://kube.rs>). It reads the files of `kubectl`, and `plugin`
//! runs what is to log in by them.
//!
//! The client is asynchronous and who asks is not: its threads are in here, and each call blocks.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use k8s_openapi::api::{batch, core};
use kube::Error;
use kube::api::{Api, DeleteParams, GetParams, ListParams, PostParams};
use kube::core::{ListMeta, Request, Resource};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::timeout;

use super::exec::Exec;
use super::facts::{Event, Node, Pod};
use super::fault::Fault;
use super::login::{Login, PATIENCE, login};

/// How long it may take to log in at first: somebody may have to do so in a browser.
const LOGIN: Duration = Duration::from_secs(120);

/// How often is looked meanwhile whether anybody still waits.
const LOOK: Duration = Duration::from_millis(200);

/// How many things one answer lists at most, which is `kubectl`'s number.
const PAGE: u32 = 500;

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
    /// Its threads; none is waited for at the end.
    runtime: Option<Runtime>,
    handle: Handle,
    login: RefCell<Login>,
    /// Where our jobs are made.
    namespace: String,
}

impl Cluster {
    /// With our jobs in that namespace, or in the one of the context. `None` where nobody waits for it any more.
    pub(super) fn reach(namespace: Option<&str>, is_left: &dyn Fn() -> bool) -> Result<Option<Self>, Fault> {
        // A shell goes on beside who waits for it.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| Fault::Failed(error.to_string()))?;
        let handle = runtime.handle().clone();
        let Some(login) = logged_in(&handle, LOGIN, is_left)? else {
            runtime.shutdown_background();
            return Ok(None);
        };
        let namespace = namespace.map_or_else(|| login.namespace.clone(), str::to_owned);
        let login = RefCell::new(login);
        Ok(Some(Self { runtime: Some(runtime), handle, login, namespace }))
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
        let answer = self.ask::<Value>(self.ours::<batch::v1::Job>().create(&PostParams::default(), text));
        match answer {
            // kube asks a busy server again, which may have done it already. The name is drawn by chance.
            Err(Fault::Answered { code: 409, .. }) => Ok(()),
            answer => answer.map(drop),
        }
    }

    /// Takes a job away, and its pods after it.
    pub(super) fn delete_job(&self, name: &str) -> Result<(), Fault> {
        self.ask::<Value>(self.ours::<batch::v1::Job>().delete(name, &DeleteParams::background())).map(drop)
    }

    /// Runs these words in a pod, with that input and our output, until both have ended.
    pub(super) fn exec(&self, pod: &str, words: &[String], input: OwnedFd) -> Result<Exec, Fault> {
        let client = self.login.borrow().client.clone();
        Exec::begin(&self.handle, Api::namespaced(client, &self.namespace), pod, words, input)
    }

    /// How it ended.
    pub(super) fn end_of(&self, exec: Exec) -> Result<i32, Fault> {
        exec.end(&self.handle)
    }

    fn ours<K: Resource<DynamicType = ()>>(&self) -> Request {
        Request::new(K::url_path(&(), Some(&self.namespace)))
    }

    fn list<T: DeserializeOwned>(&self, of: &Request, params: ListParams) -> Result<Vec<T>, Fault> {
        let mut params = params.limit(PAGE);
        let mut all = Vec::new();
        loop {
            let page: List<T> = match self.ask(of.list(&params)) {
                // The server has forgotten where it was.
                Err(Fault::Answered { code: 410, .. }) if params.limit.is_some() => {
                    params = ListParams { limit: None, continue_token: None, ..params };
                    all.clear();
                    continue;
                }
                page => page?,
            };
            all.extend(page.items);
            params.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
            if params.continue_token.is_none() {
                return Ok(all);
            }
        }
    }

    fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T, Fault> {
        let call = call.map_err(|error| Fault::of("", &Error::BuildRequest(error)))?;
        let answer = self.ask_once(call.clone());
        match &answer {
            // Hours may have gone by in a queue: who asks has to log in again.
            Err(Fault::Answered { code: 401, .. }) => {
                self.renew()?;
                self.ask_once(call)
            }
            // Or the server is elsewhere by now, which counts for the next call.
            Err(Fault::Failed(_)) => {
                let _ = self.renew();
                answer
            }
            _ => answer,
        }
    }

    fn renew(&self) -> Result<(), Fault> {
        if let Some(login) = logged_in(&self.handle, PATIENCE, &|| false)? {
            self.login.replace(login);
        }
        Ok(())
    }

    fn ask_once<T: DeserializeOwned>(&self, call: http::Request<Vec<u8>>) -> Result<T, Fault> {
        let Login { client, server, .. } = &*self.login.borrow();
        let answer = self.handle.block_on(async { timeout(PATIENCE, client.request(call)).await });
        let late = |_| Fault::Failed(format!("{server}: no answer within {} s", PATIENCE.as_secs()));
        answer.map_err(late)?.map_err(|error| Fault::of(server, &error))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A read of our input may still be under way, or a look-up of a name.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Logs in; `None` where nobody waits for it any more.
fn logged_in(
    handle: &Handle,
    patience: Duration,
    is_left: &dyn Fn() -> bool,
) -> Result<Option<Login>, Fault> {
    let (send, receive) = channel();
    let own = handle.clone();
    // A plugin and the look-up of a name give way to nothing else.
    thread::spawn(move || {
        // Nobody may wait any more.
        let _ = send.send(own.block_on(login(patience)));
    });
    let until = Instant::now() + patience + LOOK;
    loop {
        match receive.recv_timeout(LOOK) {
            Ok(login) => return login.map(Some),
            Err(RecvTimeoutError::Timeout) if is_left() => return Ok(None),
            Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
            Err(_) => {
                let why = format!("logging in took longer than {} s", patience.as_secs());
                return Err(Fault::Failed(why));
            }
        }
    }
}

fn everywhere<K: Resource<DynamicType = ()>>() -> Request {
    Request::new(K::url_path(&(), None))
}

fn found<T>(answer: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match answer {
        Err(Fault::Answered { code: 404, .. }) => Ok(None),
        answer => answer.map(Some),
    }
}
