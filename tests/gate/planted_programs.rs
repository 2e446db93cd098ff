//! Programs that the caller of sudo planted, in the search path or in a cache: whyfaster never runs one of them as root.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;

use crate::support::needs::{needs, root};
use crate::support::user::{NOBODY, under_sudo};
use crate::support::{Ran, Sandbox, eventually};

/// The capabilities that a process may use, where it has none (proc_pid_status(5)).
const NONE: &str = "0000000000000000";

/// A place of the caller's, with directories for planted programs and for a cache.
struct Planted {
    place: Sandbox,
}

impl Planted {
    fn new() -> Self {
        let place = Sandbox::open();
        for dir in ["planted", "cache", "state"] {
            fs::create_dir(place.path(dir)).unwrap();
            chown(place.path(dir), Some(65_534), Some(65_534)).unwrap();
        }
        let this = Self { place };
        this.forget();
        this
    }

    /// From here on nothing has run. Every user may add a line.
    fn forget(&self) {
        self.place.write("seen", "");
        fs::set_permissions(self.place.path("seen"), Permissions::from_mode(0o666)).unwrap();
    }

    /// A script that writes down its name and its rights, and then does something.
    fn script(&self, name: &str, then: &str) -> String {
        let seen = self.place.file("seen");
        let rights = "$(/usr/bin/id -u) $(/bin/sed -n 's/^CapPrm:[^0-9a-f]*//p' /proc/self/status)";
        format!("#!/bin/sh\necho \"{name} {rights}\" >>'{seen}'\n{then}\n")
    }

    /// Plants it where the search path begins.
    fn plant(&self, name: &str, then: &str) {
        self.place.script(&format!("planted/{name}"), &self.script(name, then));
    }

    /// The program under sudo, which keeps the caller's search path and cache.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = under_sudo(&self.place, words);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.place.file("planted")));
        command.env("XDG_CACHE_HOME", self.place.file("cache"));
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.place.finish(self.command(words))
    }

    /// Returns the names of the programs that ran. Fails if one had other rights than the caller's.
    #[track_caller]
    fn ran(&self) -> Vec<String> {
        let rights = format!(" {NOBODY} {NONE}");
        let of_caller = |line: String| {
            line.strip_suffix(&rights)
                .map(str::to_owned)
                .unwrap_or_else(|| panic!("not as the caller: {line}"))
        };
        self.place.lines("seen").into_iter().map(of_caller).collect()
    }
}

#[test]
fn the_browser_is_the_callers() {
    needs!(root());
    let planted = Planted::new();
    planted.plant("xdg-open", "");
    planted.run(&["compare", "--runs=2", "--why=no", "--record=r.json", "true", "true"]).ok();
    let verbs: [&[&str]; 5] = [
        &["compare", "--runs=2", "--why=no", "--open", "true", "true"],
        &["trace", "--untraced-runs=0", "--open", "--", "true"],
        &["prices", "getpid", "--quick", "--open"],
        &["study", "pipes", "--quick", "--max-time=1s", "--open"],
        &["report", "r.json", "--open"],
    ];
    for words in verbs {
        planted.forget();
        planted.run(words).ok();
        // whyfaster does not wait for it.
        eventually("the browser", || planted.place.read("seen").ends_with('\n'));
        assert_eq!(planted.ran(), ["xdg-open"], "{words:?}");
    }
}

/// Every program of the machine, planted: whatever whyfaster looks for, it finds this one first.
#[test]
fn no_program_of_the_search_path_runs_as_root() {
    needs!(root());
    let planted = Planted::new();
    let directories = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
    let real =
        format!("for at in {}; do test -x $at/$name && exec $at/$name \"$@\"; done", directories.join(" "));
    planted.place.script("any", &planted.script("${0##*/}", &format!("name=${{0##*/}}\n{real}")));
    for directory in directories {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            // One name may be in several directories.
            let _ = symlink("../any", planted.place.path("planted").join(entry.file_name()));
        }
    }
    // The measurement of this machine's noise starts `true` many times.
    let doctor = planted.run(&["doctor", "--json"]).json();
    assert!(doctor["noise"]["launch"]["Ok"]["repeats"].as_u64().unwrap() >= 20, "{}", doctor["noise"]);
    planted.ran();
    let verbs: [(&[&str], &str); 4] = [
        (&["compare", "--runs=2", "--prepare=env true", "env true", "sleep 0.01"], "env"),
        (&["trace", "--untraced-runs=1", "--", "env", "true"], "env"),
        (&["prices", "getpid", "--quick", "--inside=command:env --"], "env"),
        (&["study", "pipes", "--quick", "--max-time=1s"], "sh"),
    ];
    for (words, one) in verbs {
        planted.forget();
        planted.run(words).ok();
        let ran = planted.ran();
        assert!(ran.iter().any(|name| name == one), "{words:?}: {ran:?}");
    }
}

/// The cache is below the caller's home, and so is the search path for the compiler and the emulator.
#[test]
fn a_planted_worker_is_the_callers() {
    needs!(root());
    let planted = Planted::new();
    planted.plant("qemu-s390x", "case $1 in --version) echo 1 ;; *) exec \"$1\" ;; esac");
    let worker = |name: &str| format!("cat >worker <<'END'\n{}END\n", planted.script(name, ""));
    planted.plant("s390x-linux-gnu-gcc", &worker("compiled"));
    let prices = ["prices", "getpid", "--quick", "--inside=qemu-user:s390x"];
    planted.run(&prices).expect_error(1, &["the worker never began"]);
    let first = planted.ran();
    for name in ["qemu-s390x", "s390x-linux-gnu-gcc", "compiled"] {
        assert!(first.iter().any(|it| it == name), "{name}: {first:?}");
    }
    // Now the caller exchanges what is in the cache.
    let cached: Vec<_> =
        fs::read_dir(planted.place.path("cache/whyfaster/workers")).unwrap().flatten().collect();
    assert_eq!(cached.len(), 1);
    fs::write(cached[0].path(), planted.script("exchanged", "")).unwrap();
    planted.forget();
    planted.run(&prices).expect_error(1, &["the worker never began"]);
    let second = planted.ran();
    assert!(second.iter().any(|it| it == "exchanged"), "{second:?}");
    assert!(!second.iter().any(|it| it == "s390x-linux-gnu-gcc" || it == "compiled"), "{second:?}");
}
