//! What became of the machines of a run, in English.

use whyfaster_core::fleet::visit::{Tally, Trouble};

/// "3 done, 2 running, 1 failed, 4 waiting".
pub fn tally(tally: Tally) -> String {
    let Tally { done, running, failed, waiting } = tally;
    format!("{done} done, {running} running, {failed} failed, {waiting} waiting")
}

/// Why a machine is not measured twice at once.
const DISTURB: &str = "two measurements on one machine would disturb each other";

/// Why a machine gave no record.
pub fn trouble(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Unreachable { said, status } => {
            let status = status.map_or_else(String::new, |status| format!(" (exit status {status})"));
            with(&format!("it could not be reached{status}"), said)
        }
        Trouble::Down { state, reason } if reason.is_empty() || reason == "none" => format!("it is {state}"),
        Trouble::Down { state, reason } => format!("it is {state}: {reason}"),
        Trouble::Silent { seconds, measuring: false } => {
            format!("nothing came from it for {} before it began", time(*seconds))
        }
        Trouble::Silent { seconds, measuring: true } => {
            format!("it began to measure, and then nothing came from it for {}", time(*seconds))
        }
        Trouble::TooLong { seconds } => format!("it was not done within {}", time(*seconds)),
        Trouble::SameMachine { name } => {
            // The owner of a machine can make it report the boot id of another one.
            format!("by its boot id it is the same machine as {name}, and {DISTURB}")
        }
        Trouble::Busy { uid } => {
            let whose = uid.map_or_else(String::new, |uid| format!(" (of the user with uid {uid})"));
            format!("another run measures on it{whose}, and {DISTURB}")
        }
        Trouble::NotLinux { system } => format!("it runs {system}, and this program runs on Linux"),
        Trouble::NoProgram { machine } => {
            format!("it is {machine}, and there is no program for that: --binary {machine}=FILE names one")
        }
        Trouble::NoRoom { said } => with("there is no room on it", said),
        Trouble::NotRun { said } => with("the program that was copied there does not run", said),
        Trouble::Damaged => "what arrived there is not what was sent".to_owned(),
        Trouble::Verb { status, said } => with(&format!("it ended with exit status {status}"), said),
        Trouble::Cut { said } => with("the connection ended while it measured", said),
        Trouble::NoRecord { why } => format!("what came home is no record: {why}"),
        Trouble::NotSent { why } => format!("not sent: {why}"),
        Trouble::NotKept { why } => why.clone(),
        Trouble::Interrupted => "interrupted".to_owned(),
    }
}

/// With what it said, which may be several lines.
fn with(what: &str, said: &[String]) -> String {
    if said.is_empty() { what.to_owned() } else { format!("{what}: {}", said.join("; ")) }
}

/// "45 s", "2 min", "1 h".
fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 3600.0 && s % 3600.0 == 0.0 => format!("{} h", s / 3600.0),
        s if s >= 60.0 && s % 60.0 == 0.0 => format!("{} min", s / 60.0),
        s => format!("{s} s"),
    }
}

/// That it is measured as a job.
pub fn job(job: &str) -> String {
    format!("job {job}")
}

/// That its engine does not give it yet.
pub fn waits(why: &str) -> String {
    format!("waits: {why}")
}

/// That it is tried again.
pub fn again(why: &Trouble) -> String {
    format!("once more, because {}", trouble(why))
}

/// "2 of 3 machines gave a record".
pub fn summary(done: usize, of: usize) -> String {
    format!("{done} of {of} machine{} gave a record", if of == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_what_was_said_and_what_to_do() {
        let said = vec!["one".to_owned(), "two".to_owned()];
        for (it, words) in [
            (
                Trouble::Unreachable { said: said.clone(), status: Some(255) },
                "could not be reached (exit status 255): one; two",
            ),
            (Trouble::Silent { seconds: 120.0, measuring: true }, "nothing came from it for 2 min"),
            (Trouble::NoProgram { machine: "aarch64".to_owned() }, "--binary aarch64=FILE"),
            (Trouble::Verb { status: 5, said }, "exit status 5: one"),
            (Trouble::Down { state: "drained".to_owned(), reason: "disk".to_owned() }, "it is drained: disk"),
            (Trouble::SameMachine { name: "a".to_owned() }, "same machine as a"),
        ] {
            let text = trouble(&it);
            assert!(text.contains(words), "{text}");
        }
        let counts = Tally { done: 1, running: 2, failed: 3, waiting: 4 };
        assert_eq!(tally(counts), "1 done, 2 running, 3 failed, 4 waiting");
    }
}
