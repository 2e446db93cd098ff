//! As whom commands run: under sudo as the user who called it, never as root unless asked.
//!
//! sudo leaves that user's ids and name in `SUDO_UID`, `SUDO_GID` and `SUDO_USER` (sudo(8), ENVIRONMENT). The groups come
//! from the machine's own databases, as a login would get them.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use whyfaster_core::plan::{Because, User};
use whyfaster_words::exit::Failure;

use super::accounts::{Account, account, groups_of};
use super::root::Root;

/// What sudo says of its caller; the words of its variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// `SUDO_UID`.
    pub uid: Option<String>,
    /// `SUDO_GID`.
    pub gid: Option<String>,
    /// `SUDO_USER`.
    pub name: Option<String>,
}

impl Caller {
    /// Reads this process's environment.
    pub fn here() -> Self {
        let word = |name| env::var_os(name).map(|word| word.to_string_lossy().into_owned());
        Self { uid: word("SUDO_UID"), gid: word("SUDO_GID"), name: word("SUDO_USER") }
    }
}

/// As whom commands run when whyfaster itself has this effective user id and was called so.
pub fn user(euid: u32, caller: &Caller, as_root: bool) -> Result<User, Failure> {
    let Some(uid) = caller.uid.as_deref().filter(|_| euid == 0) else { return Ok(own(euid, Because::Own)) };
    let uid = id("SUDO_UID", uid)?;
    match uid {
        // root called sudo: there is no other user to go back to.
        0 => Ok(own(euid, Because::Own)),
        _ if as_root => Ok(own(euid, Because::AsRoot)),
        _ => of_sudo(uid, caller),
    }
}

/// What this machine knows of a user.
fn entry(uid: u32) -> Option<Account> {
    account(&Root::real(), uid)
}

fn own(euid: u32, because: Because) -> User {
    let gid = rustix::process::getegid().as_raw();
    let groups = rustix::process::getgroups().unwrap_or_default().into_iter().map(|gid| gid.as_raw());
    User { uid: euid, gid, groups: whole(gid, groups), name: entry(euid).map(|entry| entry.name), because }
}

fn of_sudo(uid: u32, caller: &Caller) -> Result<User, Failure> {
    let entry = entry(uid);
    let gid = match (&caller.gid, &entry) {
        (Some(gid), _) => id("SUDO_GID", gid)?,
        (None, Some(entry)) => entry.gid,
        (None, None) => return Err(unclear("SUDO_UID is set and SUDO_GID is not".to_owned())),
    };
    let name = entry.map(|entry| entry.name).or_else(|| caller.name.clone());
    let groups = name.as_deref().map(|name| groups_of(&Root::real(), name)).unwrap_or_default();
    Ok(User { uid, gid, groups: whole(gid, groups), name, because: Because::Sudo })
}

/// All groups in rising order, the main one among them.
fn whole(gid: u32, groups: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut groups: Vec<u32> = groups.into_iter().chain([gid]).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

fn id(variable: &str, text: &str) -> Result<u32, Failure> {
    // The largest number is no user: to setresuid(2) it means "leave it".
    text.parse::<u32>().ok().filter(|id| *id != u32::MAX).ok_or_else(|| {
        unclear(format!("{variable} is '{}', which is no number of a user or group", text.escape_default()))
    })
}

fn unclear(what: String) -> Failure {
    Failure::usage(
        format!("it is not clear which user called sudo: {what}"),
        "start whyfaster with sudo itself, or work as root: unset SUDO_UID, or add --as-root where commands run",
    )
}

/// The variable that names the store. Its value may hold a password, so no command of a plan gets it.
pub const STORE: &str = "WHYFASTER_STORE";

/// Variables that may hold a password of the store. They are for this program and its user, and for nobody who is further away.
pub const SECRETS: [&str; 2] = [STORE, "PGPASSWORD"];

/// Variables that name a file, a directory or a socket of one user: an agent, a cache of tickets, a bus.
const OF_ONE_USER: [&str; 6] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "KRB5CCNAME",
    "PGPASSFILE",
    "SSH_AUTH_SOCK",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
];

/// Whether what such a variable names is there and another user's.
fn of_another(value: &OsStr, uid: u32) -> bool {
    // There may be a kind before the path (FILE:/tmp/krb5cc_0) and more behind it (unix:path=/run/user/0/bus,guid=1).
    let value = value.as_bytes();
    let path = value.iter().position(|byte| *byte == b'/').map_or(&[][..], |at| &value[at..]);
    let path = path.split(|byte| *byte == b',').next().unwrap_or_default();
    fs::metadata(OsStr::from_bytes(path)).is_ok_and(|found| found.uid() != uid)
}

/// Variables of the environment that say who one is, for a user who is not whyfaster's own: those to set and those to take
/// away. As sudo(8) sets them for its target user, without sudo's own: the command is to find what its user would.
///
/// What sudo was told to keep of its caller (`env_keep` in sudoers(5): SSH_AUTH_SOCK, KRB5CCNAME, ..) is right for commands that run
/// as that caller again. What was made for root (pam_systemd sets XDG_RUNTIME_DIR) is not.
pub fn environment(user: &User) -> (Vec<(String, String)>, Vec<&'static str>) {
    let mut taken = vec!["SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "SUDO_HOME"];
    taken.extend(SECRETS);
    taken.extend(
        OF_ONE_USER.iter().filter(|name| env::var_os(name).is_some_and(|value| of_another(&value, user.uid))),
    );
    if user.because != Because::Sudo {
        return (Vec::new(), Vec::new());
    }
    let entry = entry(user.uid);
    let name = user.name.clone().unwrap_or_else(|| format!("#{}", user.uid));
    let mut set = vec![("USER".to_owned(), name.clone()), ("LOGNAME".to_owned(), name.clone())];
    let home = entry.as_ref().map_or("/", |entry| entry.home.as_str());
    set.push(("HOME".to_owned(), home.to_owned()));
    if let Some(shell) = entry.map(|entry| entry.shell).filter(|shell| !shell.is_empty()) {
        set.push(("SHELL".to_owned(), shell));
    }
    if env::var_os("MAIL").is_some() {
        set.push(("MAIL".to_owned(), format!("/var/mail/{name}")));
    }
    (set, taken)
}

#[cfg(test)]
mod tests {
    use whyfaster_words::exit::Exit;

    use super::*;

    fn caller(uid: &str, gid: Option<&str>) -> Caller {
        Caller { uid: Some(uid.to_owned()), gid: gid.map(str::to_owned), name: Some("nobody".to_owned()) }
    }

    #[test]
    fn without_sudo_nothing_changes() {
        let own = user(1000, &Caller::default(), false).unwrap();
        assert_eq!((own.uid, own.because), (1000, Because::Own));
        assert_eq!(user(0, &Caller::default(), false).unwrap().because, Because::Own);
        // Only root can become someone else, so the variables mean nothing to others.
        assert_eq!(user(1000, &caller("65534", None), false).unwrap().uid, 1000);
        assert_eq!(user(0, &caller("0", Some("0")), false).unwrap().because, Because::Own);
    }

    #[test]
    fn under_sudo_it_is_the_caller_with_all_groups() {
        let user = user(0, &caller("65534", Some("65534")), false).unwrap();
        assert_eq!((user.uid, user.gid, user.because), (65534, 65534, Because::Sudo));
        assert!(user.groups.contains(&65534));
        assert_eq!(user.name.as_deref(), entry(65534).map(|entry| entry.name).as_deref().or(Some("nobody")));
        let (set, taken) = environment(&user);
        assert!(set.iter().any(|(name, _)| name == "HOME") && taken.contains(&"SUDO_UID"));
    }

    #[test]
    fn what_is_of_another_user_is_known_by_its_owner() {
        let own = rustix::process::geteuid().as_raw();
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        for value in [path.to_owned(), format!("FILE:{path}"), format!("unix:path={path},guid=0")] {
            assert!(
                !of_another(OsStr::new(&value), own) && of_another(OsStr::new(&value), own + 1),
                "{value}"
            );
        }
        for value in ["", "KEYRING:persistent:1000", "/no/such/file"] {
            assert!(!of_another(OsStr::new(value), own + 1), "{value}");
        }
    }

    #[test]
    fn as_root_keeps_root() {
        let user = user(0, &caller("65534", Some("65534")), true).unwrap();
        assert_eq!((user.uid, user.because), (0, Because::AsRoot));
        assert_eq!(environment(&user), (vec![], vec![]));
    }

    #[test]
    fn what_is_no_number_is_refused_and_never_root() {
        for text in ["", "-1", "root", "4294967295", "4294967296", "0x0"] {
            let failure = user(0, &caller(text, Some("1")), false).unwrap_err();
            assert_eq!(failure.exit, Exit::Usage, "{text}");
            assert!(user(0, &caller("1000", Some(text)), false).is_err(), "{text}");
        }
    }
}
