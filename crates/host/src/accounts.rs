//! The machine's users and their groups.
//!
//! The C library's own look-ups (`getpwuid_r`, `getgrouplist`) are not used: in a static program glibc would load the modules
//! that /etc/nsswitch.conf names, which are made for the machine's own glibc and not for the one inside the program. So a user
//! is looked up in /etc/passwd; for those that only a directory service knows (LDAP, sssd), the machine's own tools are asked.

use super::root::Root;
use super::tools::asked;

/// An entry of the user database, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) gid: u32,
    pub(crate) home: String,
    pub(crate) shell: String,
}

/// What the machine knows of a user.
pub(crate) fn account(root: &Root, uid: u32) -> Option<Account> {
    let among = |text: String| text.lines().find_map(|line| of_line(line, uid));
    let local = root.text("/etc/passwd").ok().and_then(among);
    local.or_else(|| asked(root, "getent", &["passwd", &uid.to_string()]).and_then(among))
}

/// A line of passwd(5), if it is about this user: `name:password:uid:gid:comment:home:shell`.
fn of_line(line: &str, uid: u32) -> Option<Account> {
    let fields: Vec<&str> = line.split(':').collect();
    let [name, _, number, gid, _, home, shell] = fields[..] else { return None };
    (number.parse() == Ok(uid)).then_some(())?;
    let [name, home, shell] = [name, home, shell].map(str::to_owned);
    Some(Account { name, gid: gid.parse().ok()?, home, shell })
}

/// The groups that a login of this name would get, the main one left out where nothing names it.
///
/// `id` asks every source that the machine has: a user of /etc/passwd may have groups in a directory service. Without
/// that tool /etc/group is all there is.
pub(crate) fn groups_of(root: &Root, name: &str) -> Vec<u32> {
    let numbers =
        |text: String| text.split_whitespace().map(str::parse).collect::<Result<Vec<u32>, _>>().ok();
    let known = asked(root, "id", &["-G", "--", name]).and_then(numbers);
    known.unwrap_or_else(|| root.text("/etc/group").map(|text| groups_in(&text, name)).unwrap_or_default())
}

/// The groups of group(5), `name:password:gid:members`, in which this user is a member.
fn groups_in(text: &str, name: &str) -> Vec<u32> {
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, gid, members] = fields[..] else { return None };
        members.split(',').any(|member| member.trim() == name).then(|| gid.parse().ok())?
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Machine;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n# a comment\n+::::::\n-@banned\nbroken:x:1000\n\
        ann:x:1000:100:Ann, of the lab:/home/ann:/bin/zsh\ntwin:x:1000:7::/:/bin/sh\n";
    const GROUP: &str =
        "root:x:0:\nusers:x:100:\nannex:x:5:bob\nwheel:x:10:bob,ann\n+:::\ndialout:x:20:ann\nodd:x:y:ann\n";

    fn machine() -> Machine {
        let machine = Machine::bare();
        machine.file("/etc/passwd", PASSWD).file("/etc/group", GROUP);
        machine
    }

    #[test]
    fn a_user_of_the_files_is_found_there() {
        let machine = machine();
        machine.tool("getent", "echo 'other:x:1000:1::/:/bin/sh'");
        let ann =
            Account { name: "ann".into(), gid: 100, home: "/home/ann".into(), shell: "/bin/zsh".into() };
        assert_eq!(account(&machine.root(), 1000), Some(ann));
        assert_eq!(groups_of(&machine.root(), "ann"), [10, 20]);
        assert_eq!(groups_of(&machine.root(), "an"), [0_u32; 0]);
    }

    #[test]
    fn a_user_of_a_directory_service_is_asked_for() {
        let machine = machine();
        assert_eq!(account(&machine.root(), 70_001), None, "nobody to ask");
        machine.tool(
            "getent",
            "test \"$*\" = 'passwd 70001' && echo 'eve:*:70001:70000:Eve:/net/eve:/bin/sh' || exit 2",
        );
        machine.tool("id", "test \"$*\" = '-G -- eve' && echo 70000 70010 || exit 1");
        let eve = account(&machine.root(), 70_001).unwrap();
        assert_eq!((eve.name.as_str(), eve.gid, eve.home.as_str()), ("eve", 70_000, "/net/eve"));
        assert_eq!(account(&machine.root(), 70_002), None);
        assert_eq!(groups_of(&machine.root(), "eve"), [70_000, 70_010]);
        // It does not know her: the files still do.
        assert_eq!(groups_of(&machine.root(), "ann"), [10, 20]);
    }

    #[test]
    fn the_real_machine_knows_root() {
        assert_eq!(account(&Root::real(), 0).unwrap().gid, 0);
        assert!(groups_of(&Root::real(), "root").contains(&0));
    }
}
