//! Where the cluster is and who we are there, found out as `kubectl` does.

use std::env;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use http::header::HOST;
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use whyfaster_host::names::address;

use super::fault::{Fault, why};

/// How long the cluster may take for one answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// A way to the cluster, as somebody.
pub(super) struct Login {
    pub(super) client: Client,
    /// The address of the API server.
    pub(super) server: String,
    /// The namespace of the context.
    pub(super) namespace: String,
}

/// Logs in, by a plugin if the files name one.
pub(super) async fn login() -> Result<Login, Fault> {
    let mut config = config().await?;
    let (server, namespace) = (config.cluster_url.to_string(), config.default_namespace.clone());
    if config.proxy_url.is_none() {
        // What nobody knows here is for the client to say.
        let _ = locate(&mut config);
    }
    let plugin = config.auth_info.exec.as_ref().and_then(|it| it.command.clone());
    let client = Client::try_from(config).map_err(|error| {
        let who = plugin.map(|it| format!("'{it}', which logs in: ")).unwrap_or_default();
        Fault::Failed(format!("{who}{}", why(&error)))
    })?;
    Ok(Login { client, server, namespace })
}

async fn config() -> Result<Config, Fault> {
    let failed = |error: KubeconfigError| match &error {
        KubeconfigError::ParseNoProxy(inner) => Fault::Failed(format!("NO_PROXY cannot be read: {inner}")),
        error => Fault::Failed(why(error)),
    };
    let Some(files) = files().map_err(failed)? else {
        // A pod has an account of its own.
        let none = |_| {
            Fault::Failed(
                "there is neither a KUBECONFIG nor a ~/.kube/config here, and this is no pod".to_owned(),
            )
        };
        return Config::incluster().map_err(none);
    };
    let own_proxy = has_own_proxy(&files);
    let mut config =
        Config::from_custom_kubeconfig(files, &KubeConfigOptions::default()).await.map_err(failed)?;
    // kube looks for the proxy itself in NO_PROXY, and not for the cluster.
    if !own_proxy && is_reached_directly(&config.cluster_url) {
        config.proxy_url = None;
    }
    Ok(config)
}

/// Puts the server's address in place of its name, which goes on to be what it is asked as and what its certificate is for.
fn locate(config: &mut Config) -> Option<()> {
    let name = config.cluster_url.host()?.to_owned();
    let named = config.cluster_url.authority()?.clone();
    let usual = if config.cluster_url.scheme_str() == Some("http") { 80 } else { 443 };
    let port = named.port_u16().unwrap_or(usual);
    let address = address(&name, port).filter(|it| it.to_string() != name)?;
    let mut parts = config.cluster_url.clone().into_parts();
    parts.authority = Some(SocketAddr::new(address, port).to_string().parse().ok()?);
    config.cluster_url = Uri::from_parts(parts).ok()?;
    config.headers.push((HOST, HeaderValue::from_str(named.as_str()).ok()?));
    config.tls_server_name.get_or_insert(name);
    Some(())
}

/// What `kubectl` would read: of a list of files those that are there.
fn files() -> Result<Option<Kubeconfig>, KubeconfigError> {
    let listed = env::var_os("KUBECONFIG").filter(|list| !list.is_empty());
    let paths: Vec<PathBuf> = match &listed {
        Some(list) => env::split_paths(list).collect(),
        None => env::home_dir().map(|home| home.join(".kube/config")).into_iter().collect(),
    };
    let mut found = paths.iter().filter(|path| path.exists()).map(Kubeconfig::read_from);
    let Some(first) = found.next() else { return Ok(None) };
    found.try_fold(first?, |all, next| all.merge(next?)).map(Some)
}

/// Whether the files name a proxy for the cluster.
fn has_own_proxy(files: &Kubeconfig) -> bool {
    let context = files.contexts.iter().find(|it| Some(&it.name) == files.current_context.as_ref());
    let name = context.and_then(|it| Some(&it.context.as_ref()?.cluster));
    let cluster = files.clusters.iter().find(|it| Some(&it.name) == name);
    cluster.and_then(|it| it.cluster.as_ref()?.proxy_url.as_ref()).is_some_and(|it| !it.is_empty())
}

/// Whether HTTPS_PROXY is not for this server: NO_PROXY names it, or it is this machine, as for all programs that are written in Go.
fn is_reached_directly(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
    here || Matcher::from_env().intercept(server).is_none()
}
