//! Where a store is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use whyfaster_words::exit::Failure;

/// The variable of the environment that names the store where no option does.
const VARIABLE: &str = "WHYFASTER_STORE";

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A file of SQLite.
    File(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once("://") {
            None if text.is_empty() => Err("name a file".to_owned()),
            Some((scheme, _)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                Err(format!("there is no store of the kind '{scheme}': name a file"))
            }
            _ => Ok(Self::File(text.into())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "'{}'", path.display()),
        }
    }
}

impl Address {
    /// The one that was named; else that of the environment; else the file of this user's data directory.
    pub fn or_usual(named: Option<&Self>) -> Result<Self, Failure> {
        if let Some(named) = named {
            return Ok(named.clone());
        }
        if let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) {
            let wrong =
                |why: String| Failure::usage(format!("{VARIABLE}: {why}"), "set it to a file, or unset it");
            return text.to_string_lossy().parse().map_err(wrong);
        }
        usual().map(Self::File).ok_or_else(|| {
            let message =
                "there is no directory for the store: neither XDG_DATA_HOME nor HOME is an absolute path";
            Failure::usage(message, "name one: --store FILE")
        })
    }
}

/// In the data directory of the XDG base directory specification: a path that is not absolute counts for nothing there.
fn usual() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = of("XDG_DATA_HOME").or_else(|| Some(of("HOME")?.join(".local/share")))?;
    Some(data.join("whyfaster/store.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_file() {
        assert_eq!("a b.db".parse(), Ok(Address::File("a b.db".into())));
        assert_eq!("./x://y".parse(), Ok(Address::File("./x://y".into())));
        assert!("mysql://host/db".parse::<Address>().unwrap_err().contains("'mysql'"));
        assert!("".parse::<Address>().is_err());
    }
}
