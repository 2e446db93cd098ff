//! Where a store is.

use std::fmt;
use std::path::{Path, PathBuf};

use whyfaster_host::user::STORE;
use whyfaster_words::exit::Failure;

use super::server::Named;

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A file of SQLite.
    File(PathBuf),
    /// A database of a PostgreSQL server.
    Server(Box<Named>),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "'{}'", path.display()),
            Self::Server(named) => write!(f, "'{named}'"),
        }
    }
}

impl Address {
    /// The one that was named; else that of the environment; else the file of this user's data directory.
    ///
    /// The text may hold a password, so an error never quotes it: the command line takes any text and leaves it to this.
    pub fn or_usual(named: Option<&str>) -> Result<Self, Failure> {
        let wrong = |from: &str, why: String| {
            Failure::usage(
                format!("{from}: {why}"),
                "name a file, or a server: postgres://USER@HOST/DATABASE?sslmode=verify-full",
            )
        };
        if let Some(named) = named {
            return Self::of(named).map_err(|why| wrong("--store", why));
        }
        if let Some(text) = std::env::var_os(STORE).filter(|text| !text.is_empty()) {
            let text = text.to_str().ok_or_else(|| wrong(STORE, "it is not UTF-8".to_owned()))?;
            return Self::of(text).map_err(|why| wrong(STORE, why));
        }
        usual().map(Self::File).ok_or_else(|| {
            let message =
                "there is no directory for the store: neither XDG_DATA_HOME nor HOME is an absolute path";
            Failure::usage(message, "name one: --store FILE")
        })
    }

    fn of(text: &str) -> Result<Self, String> {
        if Named::is(text) {
            return Named::of(text).map(|named| Self::Server(Box::new(named)));
        }
        match text.split_once("://") {
            None if text.is_empty() => Err("it names nothing".to_owned()),
            Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                Err(format!("there is no store of the kind '{scheme}'"))
            }
            _ => Ok(Self::File(text.into())),
        }
    }
}

/// In the data directory of the XDG base directory specification: a path that is not absolute counts for nothing there.
fn usual() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = of("XDG_DATA_HOME").or_else(|| Some(of("HOME")?.join(".local/share")))?;
    Some(data.join("whyfaster/store.db"))
}

/// Rights of a new file for a store and of its directory, before the umask is taken off. At the usual place they are its owner's alone, as the
/// records are that are kept unasked: they hold command lines. A file that was named may be for several users.
pub(super) fn rights(path: &Path) -> (u32, u32) {
    if usual().is_some_and(|it| it == path) { (0o600, 0o700) } else { (0o644, 0o777) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_file_or_a_server() {
        assert_eq!(Address::of("a b.db"), Ok(Address::File("a b.db".into())));
        assert_eq!(Address::of("./x://y"), Ok(Address::File("./x://y".into())));
        assert!(matches!(Address::of("postgresql://me@host/db"), Ok(Address::Server(_))));
        let why = Address::of("mysql://me:s3cr3t@host/db").unwrap_err();
        assert!(why.contains("'mysql'") && !why.contains("s3cr3t"), "{why}");
        assert!(Address::of("").is_err());
    }
}
