//! Where the cluster is and who we are there, found out as `kubectl` does.

use std::env;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use http::header::HOST;
use http::uri::InvalidUri;
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use whyfaster_host::names::address;

use super::fault::{Fault, why};
use super::plugin;

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

/// Logs in. A plugin, if the files name one, gets this long for it.
pub(super) async fn login(patience: Duration) -> Result<Login, Fault> {
    let mut config = config().await?;
    let (server, namespace) = (config.cluster_url.to_string(), config.default_namespace.clone());
    // First, so that its limit is over before that of whoever waits for all of this.
    config.auth_info = plugin::logged_in(config.auth_info, patience).map_err(Fault::Failed)?;
    if config.proxy_url.is_none() {
        locate(&mut config).map_err(|why| Fault::Failed(format!("{server}: {why}")))?;
    }
    let client =
        Client::try_from(config).map_err(|error| Fault::Failed(format!("{server}: {}", why(&error))))?;
    Ok(Login { client, server, namespace })
}

async fn config() -> Result<Config, Fault> {
    // The address itself may hold a password.
    let unread = |why: &InvalidUri| {
        Fault::Failed(format!("the address of the proxy cannot be read (HTTPS_PROXY, or proxy-url): {why}"))
    };
    let failed = |error: KubeconfigError| match &error {
        KubeconfigError::ParseNoProxy(inner) => {
            Fault::Failed(format!("NO_PROXY cannot be read: {inner}; no entry of it may be empty"))
        }
        KubeconfigError::ParseProxyUrl(inner) => unread(inner),
        error => Fault::Failed(why(error)),
    };
    let Some(files) = files().map_err(failed)? else {
        // A pod has an account of its own.
        return Config::incluster().map_err(|_| Fault::Failed(nowhere()));
    };
    let own_proxy = own_proxy(&files);
    let mut config =
        Config::from_custom_kubeconfig(files, &KubeConfigOptions::default()).await.map_err(failed)?;
    // kube looks for the proxy itself in NO_PROXY, and not for the cluster.
    let proxy = match own_proxy {
        Some(proxy) => Some(proxy),
        None if is_reached_directly(&config.cluster_url) => None,
        None => env::var("HTTPS_PROXY").or_else(|_| env::var("https_proxy")).ok(),
    };
    let proxy = proxy.filter(|it| !it.is_empty()).map(|it| it.parse()).transpose();
    config.proxy_url = proxy.map_err(|why| unread(&why))?;
    Ok(config)
}

/// Why there is no cluster.
fn nowhere() -> String {
    match env::var("KUBECONFIG").ok().filter(|list| !list.is_empty()) {
        Some(list) => format!("KUBECONFIG names no file that is there: '{list}'"),
        None => {
            "there is no ~/.kube/config, KUBECONFIG names no other file, and this is no pod with an account"
                .to_owned()
        }
    }
}

/// Puts the server's address in place of its name, which goes on to be what it is asked as and what its certificate is for.
fn locate(config: &mut Config) -> Result<(), String> {
    let url = &config.cluster_url;
    let name = url.host().unwrap_or_default().to_owned();
    if name.is_empty() || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return Ok(());
    }
    let usual = if url.scheme_str() == Some("http") { 80 } else { 443 };
    let port = url.port_u16();
    let address = address(&name, port.unwrap_or(usual))
        .ok_or_else(|| format!("nobody here knows the address of '{name}'"))?;
    let asked = port.map_or_else(|| name.clone(), |port| format!("{name}:{port}"));
    let mut parts = url.clone().into_parts();
    let authority = SocketAddr::new(address, port.unwrap_or(usual)).to_string().parse();
    parts.authority = Some(authority.map_err(|why: InvalidUri| why.to_string())?);
    config.cluster_url = Uri::from_parts(parts).map_err(|why| why.to_string())?;
    config.headers.push((HOST, HeaderValue::from_str(&asked).map_err(|why| why.to_string())?));
    config.tls_server_name.get_or_insert(name);
    Ok(())
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

/// The proxy that the files name for the cluster.
fn own_proxy(files: &Kubeconfig) -> Option<String> {
    let context = files.contexts.iter().find(|it| Some(&it.name) == files.current_context.as_ref());
    let name = context.and_then(|it| Some(&it.context.as_ref()?.cluster));
    let cluster = files.clusters.iter().find(|it| Some(&it.name) == name);
    cluster.and_then(|it| it.cluster.as_ref()?.proxy_url.clone()).filter(|it| !it.is_empty())
}

/// Whether HTTPS_PROXY is not for this server: NO_PROXY names it, or it is this machine, as for all programs that are written in Go.
fn is_reached_directly(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback());
    here || Matcher::from_env().intercept(server).is_none()
}
