//! What the server, or the way there, says is wrong.

use std::error::Error as _;
use std::io;

use postgres::Error;
use postgres::error::SqlState;

use super::super::trouble::{Trouble, Unconnected};

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        let Some(code) = error.code() else {
            let cut = error.is_closed() || error.source().is_some_and(|why| why.is::<io::Error>());
            return if cut { Unconnected::Cut(told(&error)).into() } else { Self::Other(told(&error)) };
        };
        if going_down(code) {
            return Unconnected::Cut(told(&error)).into();
        }
        match *code {
            SqlState::LOCK_NOT_AVAILABLE => Self::Busy,
            SqlState::T_R_DEADLOCK_DETECTED | SqlState::T_R_SERIALIZATION_FAILURE => {
                Self::Undone(told(&error))
            }
            SqlState::DISK_FULL => Self::Full,
            SqlState::INSUFFICIENT_PRIVILEGE | SqlState::READ_ONLY_SQL_TRANSACTION => {
                Self::Forbidden(told(&error))
            }
            _ => Self::Other(told(&error)),
        }
    }
}

/// Why there is no connection.
pub(super) fn unconnected(error: &Error) -> Trouble {
    let why = told(error);
    match error.code() {
        Some(
            &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | &SqlState::INVALID_CATALOG_NAME
            | &SqlState::INSUFFICIENT_PRIVILEGE,
        ) => Unconnected::Refused(why).into(),
        Some(code) if going_down(code) || *code == SqlState::TOO_MANY_CONNECTIONS => {
            Unconnected::Unreachable(why).into()
        }
        Some(_) => Trouble::Other(why),
        None if why.contains("password missing") => {
            Unconnected::Refused("it wants a password".to_owned()).into()
        }
        None if error.to_string().contains("TLS") => Unconnected::Unproven(why).into(),
        None => Unconnected::Unreachable(why).into(),
    }
}

/// It is ending, or beginning, or has ended a connection that nobody used.
fn going_down(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_SESSION_TIMEOUT,
    ]
    .contains(code)
}

/// In the words of the server where it said something; else of whoever failed on the way.
fn told(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut text = error.to_string();
    let mut why = error.source();
    while let Some(error) = why {
        text += &format!(": {error}");
        why = error.source();
    }
    text
}
