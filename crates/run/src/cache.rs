//! The directory in which this program keeps what can be made or fetched again.

use std::path::PathBuf;

/// Where it is, if there is one for this user: a path that is not absolute counts for nothing (XDG base directory specification).
pub fn directory() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")))?.join("whyfaster"))
}
