//! In which functions a finding is.

use whyfaster_core::why::report::{Finding, Function};
use whyfaster_core::why::{Cause, Located};

use super::numbers::{count, percent};

/// ": 70% of that in `__strcoll_l` (libc.so.6), called from `compare`", behind what is said of a cause that code takes.
pub(super) fn located(finding: &Finding) -> String {
    match finding.located() {
        None => String::new(),
        // Where nobody waits for a lock in user code, the kernel's locks are meant.
        Some(Located::Few { .. } | Located::Spread) if finding.cause == Cause::Lock => String::new(),
        Some(Located::NotSampled) => " (its code was not sampled)".to_owned(),
        Some(Located::Few { samples }) => {
            format!(" (in which functions is not told: too few samples, {})", count(samples))
        }
        Some(Located::Spread) => ", spread over many functions".to_owned(),
        Some(Located::In(functions)) => {
            // Where all of it is in the program itself, its name says nothing more.
            if let [only] = functions.as_slice()
                && only.share >= WHOLE
                && is_the_program_unnamed(only)
            {
                return format!(" ({} has no symbols to name its functions)", only.command);
            }
            let first =
                functions.iter().take(1).map(|it| format!("{} of that in {}", percent(it.share), code(it)));
            let others = functions.iter().skip(1).map(|it| format!("{} in {}", percent(it.share), code(it)));
            let all: Vec<String> = first.chain(others).collect();
            let samples = count(finding.samples.map_or(0.0, |it| it.here));
            match finding.cause {
                // One for every tick that its waits last.
                Cause::Lock => format!(": {} (by how long it waits)", all.join(", ")),
                _ => format!(": {} ({samples} samples)", all.join(", ")),
            }
        }
    }
}

/// ", 72% of that in `__strcoll_l` (libc.so.6)", where one function is half of a cause or more.
pub(super) fn main_function(finding: &Finding) -> Option<String> {
    let Some(Located::In(functions)) = finding.located() else { return None };
    let main = functions.first().filter(|it| it.share >= HALF && !is_the_program_unnamed(it))?;
    Some(format!(", {} of that in {}", percent(main.share), code(main)))
}

/// From this share on a function is the answer.
const HALF: f64 = 0.5;

/// From this share on it is all of it: 100% in words.
const WHOLE: f64 = 0.995;

fn is_the_program_unnamed(it: &Function) -> bool {
    it.symbol.is_none() && it.file.as_deref().map(base) == Some(it.command.as_str())
}

/// A function with its file and what called it.
fn code(it: &Function) -> String {
    let file = it.file.as_deref().map(base);
    let place = match (&it.symbol, file) {
        (Some(symbol), Some(file)) => format!("`{symbol}` ({file})"),
        (Some(symbol), None) => format!("`{symbol}`"),
        (None, Some(file)) => format!("{file} (no symbols)"),
        (None, None) => format!("code that {} makes at run time (no symbols)", it.command),
    };
    let caller = it.called_from.as_deref().map(|from| match from.starts_with('/') {
        true => format!(", called from {}", base(from)),
        false => format!(", called from `{from}`"),
    });
    place + &caller.unwrap_or_default()
}

/// A path without its directories.
fn base(path: &str) -> &str {
    path.rsplit('/').next().filter(|it| !it.is_empty()).unwrap_or(path)
}

/// How the functions of a script can be seen, where only those of what runs it were.
pub(super) fn how_to_see_more(finding: &Finding) -> Option<&'static str> {
    let Some(Located::In(functions)) = finding.located() else { return None };
    functions.iter().find_map(|it| match (it.file.as_deref().map(base), it.command.as_str()) {
        (Some(file), _) if file.starts_with("python") || file.starts_with("libpython") => Some(
            "Run with `python3 -X perf` (3.12 and later, built with frame pointers), the functions of the script are named.",
        ),
        (None, "node") if it.symbol.is_none() => {
            Some("Run with `node --perf-basic-prof`, the functions of the script are named.")
        }
        (None, _) if it.symbol.is_none() => {
            Some("What makes its code at run time can name it in /tmp/perf-PID.map, if it has an option for that.")
        }
        _ => None,
    })
}
