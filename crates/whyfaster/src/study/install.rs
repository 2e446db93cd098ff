//! Fetching what engines need, as an ordinary user: packages of Debian are unpacked into a directory of the user's cache and nothing is
//! installed, packages of PyPI go into a directory beside them. a script among the programs of the engines does it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::ladder::{Engine, Wants, has_apt};
use whyfaster_words::exit::{Exit, Failure, say};

/// The script's name among the programs of the engines.
pub const SCRIPT: &str = "install.sh";

/// Where what was fetched is.
#[derive(Clone, Debug)]
pub struct Fetched {
    root: Option<PathBuf>,
}

impl Fetched {
    /// In this cache, if there is one.
    pub fn within(cache: Option<PathBuf>) -> Self {
        Self { root: cache.map(|cache| cache.join("ladder")) }
    }

    fn below(&self, names: &[&str]) -> Vec<PathBuf> {
        let root = self.root.iter().filter(|root| root.is_dir());
        root.flat_map(|root| names.iter().map(|name| root.join(name))).filter(|path| path.is_dir()).collect()
    }

    /// The search path: the user's own, then what was fetched, then where servers lie.
    pub fn search_path(&self) -> OsString {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut all: Vec<PathBuf> = env::split_paths(&path).collect();
        all.extend(self.below(&["debian/usr/bin", "debian/usr/sbin", "python/bin"]));
        all.extend(["/usr/sbin", "/sbin"].map(PathBuf::from));
        // Debian keeps the servers of every version of PostgreSQL apart.
        let postgres =
            self.below(&["debian/usr/lib/postgresql"]).into_iter().chain(["/usr/lib/postgresql".into()]);
        let versions = postgres.flat_map(|path| fs::read_dir(path).into_iter().flatten().flatten());
        all.extend(versions.map(|version| version.path().join("bin")));
        env::join_paths(all).unwrap_or(path)
    }

    /// What programs need to find what was fetched.
    pub fn environment(&self) -> Vec<(String, OsString)> {
        let triplet = format!("debian/usr/lib/{}-linux-gnu", env::consts::ARCH);
        let set = |name: &str, ours: Vec<PathBuf>| {
            let own = env::var_os(name).unwrap_or_default();
            let all = env::split_paths(&own).filter(|path| !path.as_os_str().is_empty()).chain(ours.clone());
            let joined = env::join_paths(all).ok()?;
            (!ours.is_empty()).then(|| (name.to_owned(), joined))
        };
        let modules = self.below(&["python", "debian/usr/lib/python3/dist-packages"]);
        [set("PYTHONPATH", modules), set("LD_LIBRARY_PATH", self.below(&[&triplet]))]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Fetches what these engines lack, by this script.
pub fn fetch(fetched: &Fetched, script: &str, engines: &[Engine]) -> Result<(), Failure> {
    let Some(root) = &fetched.root else {
        return Err(Failure::unfit(
            "--install: there is no directory for it",
            "set HOME or XDG_CACHE_HOME to an absolute path",
        ));
    };
    let (path, environment) = (fetched.search_path(), fetched.environment());
    let lacking: Vec<&Wants> =
        engines.iter().flat_map(|engine| engine.look(&path, &environment).missing).collect();
    let apt = has_apt(&path);
    for need in lacking.iter().filter(|need| need.fetched_as(apt).is_none()) {
        let name = need.name();
        say(&format!("--install: there is no apt-get here to fetch {name} with: install it by other means"));
    }
    let mut packages: Vec<String> = lacking.iter().filter_map(|need| need.fetched_as(apt)).collect();
    packages.sort();
    packages.dedup();
    if packages.is_empty() {
        if lacking.is_empty() {
            say("nothing is missing");
        }
        return Ok(());
    }
    say(&format!("fetching {} into {}; nothing else is changed", packages.join(", "), root.display()));
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "install"]).arg(root).args(&packages).stdin(Stdio::null());
    // What it says is for the user, and not part of the report.
    let ended = std::io::stderr()
        .as_fd()
        .try_clone_to_owned()
        .map(Stdio::from)
        .map(|out| command.stdout(out).status());
    match ended {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(Failure::new(
            Exit::Error,
            format!("--install: fetching ended with {status}"),
            "what it said is above; 'apt-get update' may help, or install the packages as root",
        )),
        Ok(Err(error)) | Err(error) => {
            Err(Failure::unfit(format!("--install: {error}"), "a shell must be at /bin/sh"))
        }
    }
}
