//! Why the cluster brought nothing.

use std::error::Error as Cause;
use std::{fmt, io};

use kube::Error;

/// Why a call brought nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// The API server will not do it: the code of HTTP, and its words.
    Answered { code: u16, state: String, reason: String },
    /// Anything else.
    Failed(String),
}

impl Fault {
    /// What that server answered, or what became of the question.
    pub(super) fn of(server: &str, error: &Error) -> Self {
        let Error::Api(status) = error else { return Self::Failed(format!("{server}: {}", why(error))) };
        let (state, reason) = match status.reason.as_str() {
            // It was no answer of an API server, but a page of whatever stands before it.
            "" | "Failed to parse error data" => {
                let first = status.message.lines().next().unwrap_or_default();
                (format!("HTTP {}", status.code), first.to_owned())
            }
            known => (known.to_owned(), status.message.clone()),
        };
        Self::Answered { code: status.code, state, reason }
    }

    /// Whether it would be the same if it were asked again: what is Unauthorized, BadRequest, Forbidden, NotFound or Invalid. What the others are about
    /// may have changed by then.
    pub(super) fn stays(&self) -> bool {
        matches!(self, Self::Answered { code: 400 | 401 | 403 | 404 | 422, .. })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { state, reason, .. } => write!(f, "{state}: {reason}"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// The first cause of an error: what wraps it says only where it passed. An error of the system does not say what it is about, so what names that is
/// taken with it.
pub(super) fn why(error: &(dyn Cause + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        let text = source.to_string();
        let named = cause.to_string().contains(&text) && source.is::<io::Error>();
        if named && source.source().is_none() {
            break;
        }
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use kube::client::AuthError;

    use super::*;

    fn of(code: u16, reason: &str) -> Fault {
        let status =
            serde_json::json!({ "status": "Failure", "message": "it says", "reason": reason, "code": code });
        Fault::of("https://h/", &Error::Api(Box::new(serde_json::from_value(status).unwrap())))
    }

    #[test]
    fn what_the_server_refuses_is_told_from_what_may_change() {
        for code in [400, 401, 403, 404, 422] {
            assert!(of(code, "Forbidden").stays(), "{code}");
        }
        for code in [409, 410, 429, 500, 503, 504] {
            assert!(!of(code, "Timeout").stays(), "{code}");
        }
        assert_eq!(of(403, "Forbidden").to_string(), "Forbidden: it says");
        assert_eq!(of(403, "Failed to parse error data").to_string(), "HTTP 403: it says");
    }

    #[test]
    fn what_a_file_is_about_is_told_with_the_error_of_the_system() {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such file");
        let of = |error: AuthError| why(&Error::Auth(error));
        assert_eq!(
            of(AuthError::ReadTokenFile(missing(), "/t".into())),
            "failed to read token file '\"/t\"': no such file"
        );
    }
}
