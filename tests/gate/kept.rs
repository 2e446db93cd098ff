//! The last records, which are kept unasked: `show` has them again without measuring.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::os::unix::fs::PermissionsExt;

use crate::support::Sandbox;

/// The names of the records that were kept, the last first.
fn kept(place: &Sandbox) -> Vec<String> {
    let list = place.run(&["show", "--list"]).ok().out;
    list.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

const FASTER: [&str; 5] = ["compare", "--why=no", "--runs=3", "sleep 0.01", "sleep 0.05"];

#[test]
fn the_last_record_is_shown_again() {
    let place = Sandbox::new();
    let ran = place.run(&FASTER).ok();
    let (screen, more) = ran.out.trim_end().rsplit_once('\n').unwrap();
    assert!(more.contains("whyfaster show -v"), "{}", ran.out);
    let again = place.run(&["show"]).ok().out;
    assert!(again.starts_with(screen) && !again.contains("whyfaster show"), "{again}");
    let tables = place.run(&["show", "-v"]).ok().out;
    assert!(tables.contains("makespan ms") && !screen.contains("makespan"), "{tables}");
    place.run(&["trace", "--untraced-runs=0", "true"]).ok();
    let names = kept(&place);
    assert!(names.len() == 2 && names[0].ends_with("-trace") && names[1].ends_with("-compare"), "{names:?}");
    let list = place.run(&["show", "--list"]).ok().out;
    assert!(list.contains("  true: It took ") && list.contains("'sleep 0.0"), "{list}");
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    assert!(place.run(&["show"]).ok().out.starts_with("true\n"));
    assert_eq!(place.run(&["show", &names[1]]).ok().out, again);
    let file = place.path("state/whyfaster/records").join(&names[0]);
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    place.assert_clean();
}

#[test]
fn nothing_is_kept_where_that_is_asked_for_or_cannot_be() {
    let place = Sandbox::new();
    let ran = place.run(&[&FASTER[..], &["--no-keep"]].concat()).ok();
    assert!(!ran.out.contains("whyfaster show"), "{}", ran.out);
    place.shell("ln -s $whyfaster hyperfine && ./hyperfine --runs 2 true").ok();
    place.run(&["compare", "--dry-run", "true"]).ok();
    assert!(!place.path("state").exists());
    place.run(&["show"]).expect_error(2, &["no record was kept"]);
    assert_eq!(place.run(&["show", "--list"]).ok().out, "");
    // A place that is none: the run says nothing of it.
    place.write("state", "");
    let ran = place.run(&FASTER).ok();
    assert!(!ran.err.contains("state"), "{}", ran.err);
    assert!(!ran.out.contains("whyfaster show"), "it is not there: {}", ran.out);
    let none = |name: &str, value: &str| {
        let mut command = place.whyfaster(&FASTER);
        command.env_remove("HOME").env(name, value);
        place.finish(command).ok()
    };
    none("XDG_STATE_HOME", "relative");
    assert!(!place.path("relative").exists(), "a path that is not absolute counts for nothing");
    place.assert_clean();
}

#[test]
fn what_could_not_be_kept_is_told() {
    let place = Sandbox::new();
    // A file of more than a block does not fit anywhere, as where the disk is full.
    let ran = place
        .shell("(trap '' XFSZ; ulimit -f 1; $whyfaster compare -N --runs 9 true /bin/true) 2>&1 | cat")
        .ok();
    assert!(ran.out.contains("this record could not be kept"), "{}", ran.out);
    place.run(&["show"]).expect_error(2, &["no record was kept"]);
    place.assert_clean();
}
