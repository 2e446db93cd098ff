//! A plugin that logs in, which the files of `kubectl` may name:
//! <https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>.
//!
//! kube would run it anew for every part of a client that it makes, and for a token that is about to expire in the middle of a call, without giving
//! way to anything else. Here it runs once; who asks the cluster logs in again where a token has expired.

use std::io::{Error, ErrorKind, IsTerminal, stdin};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use data_encoding::BASE64;
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::{Value, json};

use whyfaster_host::said::{last_line, said_within};

/// What it prints.
#[derive(Deserialize)]
struct Answer {
    status: Option<Credential>,
}

/// Who we are.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credential {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

/// The same user with what the plugin says in its place.
pub(super) fn logged_in(user: AuthInfo, patience: Duration) -> Result<AuthInfo, String> {
    // kube takes these first.
    let password = user.username.is_some() && user.password.is_some();
    let token = user.token.is_some() || user.token_file.is_some();
    let Some(plugin) = user.exec.as_ref().filter(|_| user.auth_provider.is_none() && !password && !token)
    else {
        return Ok(user);
    };
    let name = plugin.command.clone().unwrap_or_default();
    let answer = run(plugin, patience).and_then(|said| credential(&said));
    let told = answer.map_err(|why| format!("'{name}', which logs in: {why}"))?;
    Ok(AuthInfo {
        exec: None,
        token: told.token,
        client_certificate_data: told.client_certificate_data.or(user.client_certificate_data),
        client_key_data: told.client_key_data.or(user.client_key_data),
        ..user
    })
}

fn run(plugin: &ExecConfig, patience: Duration) -> Result<Vec<u8>, String> {
    // Whoever holds a node has no terminal, and two at once would read each other's answers: then it may still know us from before.
    static TERMINAL: Mutex<()> = Mutex::new(());
    let alone = TERMINAL.try_lock();
    let may_ask = plugin.interactive_mode != Some(ExecInteractiveMode::Never);
    let asks = may_ask && alone.is_ok() && stdin().is_terminal();
    let mut command = Command::new(plugin.command.as_deref().unwrap_or_default());
    command.args(plugin.args.iter().flatten()).stdout(Stdio::piped());
    for variable in plugin.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            command.env(name, value);
        }
    }
    command.env("KUBERNETES_EXEC_INFO", question(plugin, asks).to_string());
    if asks {
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
    }
    let said = said_within(&mut command, patience).map_err(|error| hinted(&error, plugin))?;
    if said.status.success() {
        return Ok(said.stdout);
    }
    Err(match last_line(&said) {
        last if last.is_empty() => said.status.to_string(),
        last => format!("{}: {last}", said.status),
    })
}

/// The value of `KUBERNETES_EXEC_INFO`, which it finds in its environment.
fn question(plugin: &ExecConfig, asks: bool) -> Value {
    let mut spec = json!({ "interactive": asks });
    if plugin.provide_cluster_info {
        spec["cluster"] = json!(plugin.cluster);
    }
    json!({ "kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec })
}

/// The reason; of a plugin that is not there with how to install it, if the file says how.
fn hinted(why: &Error, plugin: &ExecConfig) -> String {
    match plugin.install_hint.as_deref().map(str::trim) {
        Some(hint) if why.kind() == ErrorKind::NotFound && !hint.is_empty() => format!("{why} ({hint})"),
        _ => why.to_string(),
    }
}

/// From the words of a plugin. Some write YAML, which `kubectl` takes.
fn credential(said: &[u8]) -> Result<AuthInfo, String> {
    // Its words are a secret.
    let answer: Answer =
        serde_saphyr::from_slice(said).map_err(|_| "what it printed is no ExecCredential".to_owned())?;
    let told = answer.status.filter(|it| it.token.is_some() || it.client_certificate_data.is_some());
    let told = told.ok_or("it printed no token and no certificate")?;
    let encoded = |text: Option<String>| text.map(|text| BASE64.encode(text.as_bytes()));
    let user = json!({
        "token": told.token,
        "client-certificate-data": encoded(told.client_certificate_data),
        "client-key-data": encoded(told.client_key_data),
    });
    serde_json::from_value(user).map_err(|_| "what it printed cannot be taken".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(line: &str) -> AuthInfo {
        let plugin = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", line],
            "env": [{ "name": "WHO", "value": "me" }], "interactiveMode": "Never", "installHint": "brew install it",
        });
        serde_json::from_value(json!({ "as": "other", "exec": plugin })).unwrap()
    }

    fn told(line: &str) -> Result<Value, String> {
        logged_in(user(line), Duration::from_secs(30)).map(|it| serde_json::to_value(it).unwrap())
    }

    #[test]
    fn it_says_who_we_are() {
        let token = told(r#"echo "{\"status\": {\"token\": \"$WHO\"}}""#).unwrap();
        assert_eq!(
            (&token["token"], &token["as"], &token["exec"]),
            (&json!("me"), &json!("other"), &Value::Null)
        );
        let yaml = told(
            "printf 'kind: ExecCredential\\nstatus:\\n  clientCertificateData: a\\n  clientKeyData: b\\n'",
        )
        .unwrap();
        assert_eq!(
            (&yaml["client-certificate-data"], &yaml["client-key-data"]),
            (&json!("YQ=="), &json!("Yg=="))
        );
        let asked = told(
            r#"test -z "$(cat)" && echo "$KUBERNETES_EXEC_INFO" | grep -q '"interactive":false' && echo '{"status": {"token": "t"}}'"#,
        );
        assert_eq!(asked.unwrap()["token"], "t");
    }

    #[test]
    fn who_is_known_otherwise_is_not_asked() {
        for known in [
            json!({ "token": "t" }),
            json!({ "tokenFile": "/t" }),
            json!({ "username": "u", "password": "p" }),
            json!({ "auth-provider": { "name": "oidc", "config": {} } }),
        ] {
            let mut user = serde_json::to_value(user("exit 1")).unwrap();
            user.as_object_mut().unwrap().extend(known.as_object().unwrap().clone());
            let user = logged_in(serde_json::from_value(user).unwrap(), Duration::from_secs(30));
            assert!(user.unwrap().exec.is_some(), "{known}");
        }
    }

    #[test]
    fn why_it_does_not_is_told() {
        let why = |line: &str| told(line).unwrap_err();
        assert_eq!(
            why("echo a >&2; echo no such user >&2; echo >&2; exit 3"),
            "'sh', which logs in: exit status: 3: no such user"
        );
        assert_eq!(
            why("echo '{\"status\": {}}'"),
            "'sh', which logs in: it printed no token and no certificate"
        );
        assert_eq!(why("echo secret"), "'sh', which logs in: what it printed is no ExecCredential");
        let late = logged_in(user("sleep 60"), Duration::from_millis(50)).unwrap_err();
        assert_eq!(late, "'sh', which logs in: no answer within 0 s");
        let mut missing = user("");
        missing.exec.as_mut().unwrap().command = Some("/nonexistent/aws".into());
        assert_eq!(
            logged_in(missing, Duration::from_secs(30)).unwrap_err(),
            "'/nonexistent/aws', which logs in: No such file or directory (os error 2) (brew install it)"
        );
    }
}
