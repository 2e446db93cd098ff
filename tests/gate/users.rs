//! As whom commands run: under sudo as its caller, with all that belongs to that user, and never as root unless asked.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use crate::support::needs::{mounts, needs, root};
use crate::support::user::{NOBODY, under_sudo};
use crate::support::{Ran, Sandbox, children, eventually, kill, seccomp};
use rustix::process::Signal;

fn run(place: &Sandbox, args: &[&str]) -> Ran {
    place.finish(under_sudo(place, args))
}

/// What `id` would print for this user by itself.
fn groups_of_nobody() -> String {
    let out = std::process::Command::new("id").args(["-G", "nobody"]).output().unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

#[test]
fn under_sudo_commands_and_hooks_run_as_its_caller() {
    needs!(root());
    let place = Sandbox::open();
    let who = "echo $(id -u) $(id -g) $(id -G) / $USER $LOGNAME $HOME ${SUDO_UID-none}";
    let ran = run(
        &place,
        &[
            "compare",
            "--runs",
            "2",
            "--no-check-output",
            "--record",
            "r.json",
            "--setup",
            &format!("{who} >hook"),
            &format!("{who} >command"),
        ],
    );
    ran.expect(0, &["note: the commands run as nobody (uid 65534)", "--as-root"]);
    let home = std::process::Command::new("sh").args(["-c", "echo ~nobody"]).output().unwrap();
    let home = String::from_utf8(home.stdout).unwrap().trim().to_owned();
    let wanted = format!("65534 65534 {} / nobody nobody {home} none\n", groups_of_nobody());
    for file in ["command", "hook"] {
        assert_eq!(place.read(file), wanted, "{file}");
    }
    let record = place.record("r.json");
    assert_eq!(record["plan"]["user"]["uid"], 65534);
    assert_eq!(record["plan"]["user"]["name"], "nobody");
    assert_eq!(record["plan"]["user"]["because"], "sudo");
    // A new file belongs to who called sudo, who could not read or remove it otherwise.
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&fs::metadata(place.path("r.json")).unwrap()), 65534);
}

#[test]
fn a_caller_has_no_more_rights_than_before() {
    needs!(root());
    let place = Sandbox::open();
    place.write("secret", "x");
    fs::set_permissions(place.path("secret"), Permissions::from_mode(0o600)).unwrap();
    run(&place, &["compare", "--max-runs", "1", "cat secret"]).expect_error(5, &["Permission denied"]);
    run(&place, &["compare", "--runs", "1", "grep -q 'CapEff:.0*$' /proc/self/status"]).ok();
    // Not to be had again either.
    run(&place, &["compare", "--runs", "1", "setpriv --reuid 0 true"]).expect_error(5, &[]);
}

#[test]
fn as_root_keeps_root_and_the_record_says_so() {
    needs!(root());
    let place = Sandbox::open();
    let ran = run(&place, &["compare", "--as-root", "--runs", "1", "--record", "r.json", "id -u >uid"]).ok();
    assert!(!ran.err.contains("note: the commands run as"), "{}", ran.err);
    assert_eq!(place.read("uid"), "0\n");
    assert_eq!(place.record("r.json")["plan"]["user"]["because"], "as_root");
}

#[test]
fn an_unclear_caller_is_refused() {
    needs!(root());
    let place = Sandbox::open();
    for text in ["-1", "alice", ""] {
        let mut command = under_sudo(&place, &["compare", "--runs", "1", "touch ran"]);
        command.env("SUDO_UID", text);
        place.finish(command).expect_error(2, &["SUDO_UID", "--as-root"]);
    }
    assert!(!place.path("ran").exists());
}

#[test]
fn who_is_another_user_dies_with_the_launcher_too() {
    needs!(root());
    let place = Sandbox::open();
    let sleep = format!("sleep {}", place.marker);
    let running = place.begin(under_sudo(&place, &["compare", "-N", "--no-check-output", &sleep]));
    place.wait_for_sleepers(1);
    kill(running.launcher(), Signal::KILL);
    running.wait().expect_error(1, &["launcher"]);
    place.assert_clean();
}

/// What the user can open, and nothing more, is opened as that user.
#[test]
fn inputs_and_outputs_are_opened_as_the_caller() {
    needs!(root());
    use std::os::unix::fs::MetadataExt;
    let place = Sandbox::open();
    let compare = ["compare", "--runs", "1", "--no-check-output"];
    let run = |words: &[&str]| run(&place, &[&compare[..], words].concat());
    run(&["--output", "./made", "echo x"]).ok();
    let made = fs::metadata(place.path("made")).unwrap();
    assert_eq!((made.uid().to_string(), made.gid().to_string()), (NOBODY.to_owned(), NOBODY.to_owned()));
    place.write("secret", "x");
    fs::set_permissions(place.path("secret"), Permissions::from_mode(0o600)).unwrap();
    run(&["--input", "secret", "cat"]).expect_error(1, &["secret", "Permission denied", "--input"]);
    run(&["--output", "./secret", "echo y"]).expect_error(1, &["secret", "Permission denied", "--output"]);
    assert_eq!(place.read("secret"), "x");
    // A group of the user's is enough, and whyfaster itself is root as before.
    let groups: Vec<u32> = groups_of_nobody().split(' ').map(|group| group.parse().unwrap()).collect();
    std::os::unix::fs::chown(place.path("secret"), Some(0), groups.last().copied()).unwrap();
    fs::set_permissions(place.path("secret"), Permissions::from_mode(0o660)).unwrap();
    run(&["--input", "secret", "--output", "./made", "--prepare", "true", "cat"]).ok();
    assert_eq!(place.read("made"), "x");
    run(&["--as-root", "--output", "./of_root", "true"]).ok();
    assert_eq!(fs::metadata(place.path("of_root")).unwrap().uid(), 0);
}

/// Where whyfaster may not become its caller it says that, and what to do.
#[test]
fn who_cannot_become_the_caller_is_told_so() {
    needs!(root());
    for call in [libc::SYS_setgroups, libc::SYS_setresuid] {
        let place = Sandbox::open();
        let mut command = under_sudo(&place, &["compare", "--runs", "1", "touch ran"]);
        // SAFETY: system calls between fork and exec, in a process with one thread.
        unsafe { command.pre_exec(move || seccomp::refuse(&[call])) };
        let ran = place.finish(command);
        ran.expect_error(1, &["becoming the user who called sudo", "CAP_SETUID", "--as-root"]);
        assert!(!ran.err.contains("--input") && !place.path("ran").exists(), "{}", ran.err);
        place.assert_clean();
    }
}

/// What sudo kept of its caller stays; what was made for root goes.
#[test]
fn variables_that_name_another_users_files_are_taken_away() {
    needs!(root());
    let place = Sandbox::open();
    for (name, owner) in [("of_root", 0), ("of_caller", 65534)] {
        place.write(name, "");
        std::os::unix::fs::chown(place.path(name), Some(owner), None).unwrap();
    }
    let who = "echo $SSH_AUTH_SOCK $KRB5CCNAME $XDG_RUNTIME_DIR $DBUS_SESSION_BUS_ADDRESS >seen";
    for (name, seen) in [("of_root", false), ("of_caller", true)] {
        let path = place.file(name);
        let mut command = under_sudo(&place, &["compare", "--runs", "1", "--no-check-output", who]);
        command.env("SSH_AUTH_SOCK", &path).env("KRB5CCNAME", format!("FILE:{path}"));
        command
            .env("XDG_RUNTIME_DIR", &path)
            .env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={path},guid=0"));
        place.finish(command).ok();
        let all = format!("{path} FILE:{path} {path} unix:path={path},guid=0\n");
        let wanted = if seen { all.as_str() } else { "\n" };
        assert_eq!(place.read("seen"), wanted);
    }
}

/// Copies wait at the gate as the user who called sudo, beside commands of that user: these can take nothing from them.
#[test]
fn nobody_of_that_user_can_take_what_a_waiting_copy_has_open() {
    needs!(root());
    let place = Sandbox::open();
    let sleep = format!("sleep {}", place.marker);
    let args =
        ["compare", "-N", "--no-check-output", "--output=null", "--mode=closed", "--duration=60s", &sleep];
    let running = place.begin(under_sudo(&place, &args));
    place.wait_for_sleepers(1);
    let launcher = running.launcher();
    // The next ones stand ready while one runs.
    let mut waiting = Vec::new();
    eventually("copies at the gate", || {
        waiting = children(launcher);
        waiting
            .retain(|&pid| fs::metadata(format!("/proc/{pid}")).is_ok() && !place.sleepers().contains(&pid));
        waiting.len() >= 4 && waiting.iter().all(|&pid| owner(pid) == NOBODY)
    });
    for &pid in &waiting {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
        assert_eq!(open, 3, "a copy has more open than its standard streams");
        assert!(!taken(pid), "the standard input of copy {pid} was taken");
    }
    // What runs as that user can be looked into by it, unless Yama forbids it to all: the attempt is a real one.
    let yama = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    assert!(taken(place.sleepers()[0]) || !matches!(yama.trim(), "" | "0"));
    running.signal(Signal::TERM);
    running.wait().expect(130, &[]);
    place.assert_clean();
}

/// The real user of a process.
fn owner(pid: i32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    line.split_whitespace().next().unwrap_or_default().to_owned()
}

/// Whether a process of that user can take the standard input of another one.
fn taken(pid: i32) -> bool {
    let mut thief = std::process::Command::new("true");
    let nobody = NOBODY.parse().unwrap();
    thief.uid(nobody).gid(nobody);
    // SAFETY: system calls between fork and exec, as the user that was set before: std::os::unix::process::CommandExt.
    unsafe {
        thief.pre_exec(move || {
            let handle = libc::syscall(libc::SYS_pidfd_open, pid, 0);
            match libc::syscall(libc::SYS_pidfd_getfd, handle, 0, 0) {
                -1 => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            }
        })
    };
    match thief.status() {
        Ok(status) => status.success(),
        Err(error) => {
            assert_eq!(error.raw_os_error(), Some(libc::EPERM));
            false
        }
    }
}

#[test]
fn a_study_can_be_read_and_run_by_the_caller() {
    needs!(root());
    let place = Sandbox::open();
    let ran = run(&place, &["study", "pipes", "--load", "1", "--max-time", "3s", "--record", "r.json"]);
    ran.expect(0, &["nobody"]);
    assert_eq!(place.record("r.json")["plan"]["user"]["uid"], 65534);
}

#[test]
fn the_worker_of_prices_runs_as_the_caller() {
    needs!(root());
    let place = Sandbox::open();
    let running = place.begin(under_sudo(&place, &["prices", "getpid", "fork", "--record", "r.json"]));
    let mut ids = String::new();
    eventually("the worker", || {
        let found = children(running.pid()).into_iter().find(|pid| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words.starts_with(b"whyfaster-worker"))
        });
        let status = found.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/status")).ok());
        let line =
            |name: &str| Some(status.as_ref()?.lines().find(|line| line.starts_with(name))?.to_owned());
        ids = [line("Uid:"), line("Gid:"), line("CapEff:")].into_iter().flatten().collect();
        !ids.is_empty()
    });
    let four = [NOBODY; 4].join("\t");
    assert_eq!(ids, format!("Uid:\t{four}Gid:\t{four}CapEff:\t0000000000000000"));
    running.wait().ok();
    let list: serde_json::Value = place.json("r.json");
    assert_eq!(list["status"], "complete");
    place.assert_clean();
}

/// With `fs.suid_dumpable=1` a process that is about to become the caller could be looked into. The setting is the machine's, so the test
/// shows whyfaster another file in its place.
#[test]
fn where_a_process_that_changes_its_user_is_open_nothing_runs() {
    needs!(root());
    needs!(mounts());
    let place = Sandbox::open();
    let run = |setting: &str, words: &[&str]| {
        place.write("setting", setting);
        let program = under_sudo(&place, words);
        let line = r#"mount --bind setting /proc/sys/fs/suid_dumpable && exec "$@""#;
        let mut command = place.command("unshare", &["-m", "sh", "-c", line, "sh"]);
        command.arg(program.get_program()).args(program.get_args());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        place.finish(command)
    };
    let compare = ["compare", "--runs=1", "--why=no", "--record=r.json", "touch ran"];
    let verbs: [&[&str]; 7] = [
        &compare,
        &["trace", "--untraced-runs=0", "--record=r.json", "--", "touch", "ran"],
        &["prices", "getpid", "--quick", "--record=r.json", "--inside=command:sh -c 'touch ran'"],
        &["study", "pipes", "--quick", "--max-time=1s", "--record=r.json"],
        &["demo", "--max-time=1s", "--record=r.json"],
        &["doctor"],
        &["show", "r.json"],
    ];
    for words in verbs {
        let ran = run("1\n", words);
        ran.expect_error(6, &["fs.suid_dumpable is 1", "sysctl fs.suid_dumpable=0", "--as-root"]);
        assert_eq!(ran.out, "", "{words:?}");
        for file in ["ran", "r.json"] {
            assert!(!place.path(file).exists(), "{words:?}: {file}");
        }
    }
    // The other settings are safe, and whoever runs the commands as root has no caller to fear.
    for (setting, words) in
        [("0\n", &compare[..]), ("2\n", &compare), ("1\n", &[&compare[..], &["--as-root"]].concat())]
    {
        run(setting, words).ok();
        fs::remove_file(place.path("ran")).unwrap();
        fs::remove_file(place.path("r.json")).unwrap();
    }
}
