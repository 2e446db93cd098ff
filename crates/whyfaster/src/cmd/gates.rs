//! What the gates of a verb come to: their messages, and the exit status.

use whyfaster_core::gate::Gate;
use whyfaster_words::exit::{Exit, say};

/// Says which gates failed, and gives the exit status: what failed goes before what is not decided.
pub(super) fn exit(gates: impl Iterator<Item = Gate<String>>, fail_on_inconclusive: bool) -> Exit {
    let mut exit = Exit::Ok;
    for gate in gates {
        match gate {
            Gate::Passed => {}
            Gate::Failed(why) => {
                say(&format!("gate: {why}"));
                exit = Exit::Slower;
            }
            Gate::Inconclusive if fail_on_inconclusive && exit == Exit::Ok => exit = Exit::Inconclusive,
            Gate::Inconclusive => {}
        }
    }
    exit
}

/// Says what a gate could not decide, and what would help.
pub(super) fn say_undecided(what: &str, next: &str) {
    say(&format!("gate: inconclusive: it is not decided whether {what}; {next}"));
}
