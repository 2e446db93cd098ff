//! Commands, hooks and traced commands find no address of the store in their environment, and under sudo no password of it.

use std::fs;

use crate::support::Sandbox;
use crate::support::needs::{needs, root};
use crate::support::user::NOBODY;

const STORE: &str = "postgres://u:s3cr3t@127.0.0.1/d";

/// The lines `NAME=VALUE` that a command, a hook and a traced command see of these variables.
fn seen(place: &Sandbox, variables: &[(&str, &str)]) -> [Vec<String>; 3] {
    let list =
        |file: &str| format!("env | grep -E '^(WHYFASTER_STORE|PGPASSWORD|PGPASSFILE)=' | sort >{file}");
    let compare = ["compare", "--runs", "1", "--no-check-output", "--why=no", "--no-keep"];
    let trace = ["trace", "sh", "-c", &list("traced")];
    for words in [&[&compare[..], &["--setup", &list("hook"), &list("command")]].concat()[..], &trace] {
        let mut command = place.whyfaster(words);
        command.envs(variables.iter().copied());
        place.finish(command).ok();
    }
    ["command", "hook", "traced"].map(|file| {
        assert!(place.path(file).exists(), "{file}");
        place.lines(file)
    })
}

#[test]
fn no_command_gets_the_address_of_the_store() {
    let place = Sandbox::new();
    // The user's other variables stay: a command may need them.
    let variables = [("WHYFASTER_STORE", STORE), ("PGPASSWORD", "own")];
    assert_eq!(seen(&place, &variables), [(); 3].map(|()| ["PGPASSWORD=own"]));
    // A command gets the variables that the user gives it by name.
    let words = [
        "compare",
        "--runs",
        "1",
        "--no-check-output",
        "--env",
        "WHYFASTER_STORE=s.db",
        "echo $WHYFASTER_STORE >given",
    ];
    place.run(&words).ok();
    assert_eq!(place.lines("given"), ["s.db"]);
}

#[test]
fn under_sudo_no_command_gets_a_password_of_the_store() {
    needs!(root());
    let place = Sandbox::open();
    for (file, owner) in [("of_root", 0), ("of_caller", 65534)] {
        place.write(file, "");
        std::os::unix::fs::chown(place.path(file), Some(owner), None).unwrap();
    }
    let sudo = [("SUDO_UID", NOBODY), ("SUDO_GID", NOBODY), ("SUDO_USER", "nobody")];
    let secret = [("WHYFASTER_STORE", STORE), ("PGPASSWORD", "s3cr3t")];
    for (file, left) in [("of_root", false), ("of_caller", true)] {
        let file = place.file(file);
        let variables = [&sudo[..], &secret, &[("PGPASSFILE", &file)]].concat();
        let wanted = if left { vec![format!("PGPASSFILE={file}")] } else { Vec::new() };
        assert_eq!(seen(&place, &variables), [(); 3].map(|()| wanted.clone()));
        for file in ["command", "hook", "traced"] {
            fs::remove_file(place.path(file)).unwrap();
        }
    }
}
