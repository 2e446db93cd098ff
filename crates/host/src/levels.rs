//! Which levels `trace` has here, each with what would give it. It looks at this process itself, so it is no fact of a
//! machine whose files can be faked.

use whyfaster_trace::unprivileged::possible;
use whyfaster_trace::{Missing, support};

use super::judge::{Finding, Mark};

/// One line for each level.
pub fn levels() -> Vec<Finding> {
    let found = support();
    let mut lines = match found.missing.as_slice() {
        [] => vec![Finding::ok("trace: full", "every call, switch and wake-up can be seen")],
        missing => missing.iter().map(|missing| line("trace: full", "not to be had", missing)).collect(),
    };
    if found.full() {
        lines.extend(found.reduced.iter().map(|missing| line("trace: full", "reduced", missing)));
    }
    lines.push(match possible() {
        Ok(()) => Finding::ok(
            "trace: unprivileged",
            "forks, execs, ends, run and wait times can be seen; with --level ptrace every call too",
        ),
        Err(missing) => Finding::with(
            Mark::Note,
            "trace: unprivileged",
            format!("not to be had: {}", missing.why),
            format!("{}; else only rusage is left", missing.advice()),
        ),
    });
    lines
}

fn line(name: &str, how: &str, missing: &Missing) -> Finding {
    Finding::with(Mark::Note, name, format!("{how}: {}: {}", missing.what, missing.why), missing.advice())
}
