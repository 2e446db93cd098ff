//! What a fleet says, in English.

use whyfaster_core::fleet::gate::{Dearer, Excess, Limit, Machines};
use whyfaster_core::fleet::outliers::{Outlier, Pattern};
use whyfaster_core::fleet::questions::Question;
use whyfaster_core::fleet::split::{Group, Split};
use whyfaster_core::price::fingerprint::{Difference, Fact};
use whyfaster_core::price::sample::row_id;

use super::phrases::{count, list, percentage};

/// From this factor on a group of rows counts as off too, beside the one by which a machine stands out.
const AS_WELL: f64 = 1.1;

/// "CPU (62% of the variance between machines) and kernel (12%)"; nothing where no fact explains any.
pub fn explained(splits: &[Split]) -> Option<String> {
    let one = |(at, split): (usize, &Split)| {
        let of = if at == 0 { " of the variance between machines" } else { "" };
        format!("{} ({:.0}%{of})", facts(split), split.share * 100.0)
    };
    (!splits.is_empty()).then(|| list(&splits.iter().enumerate().map(one).collect::<Vec<_>>()))
}

/// " at 4 copies", " with 4 workers", " at 2.5 starts a second"; nothing of one copy alone.
pub fn copies(question: &Question) -> String {
    match (question.arrivals, question.load) {
        (None, 1) => String::new(),
        (None, load) => format!(" at {load} copies"),
        (Some(arrivals), load) => match arrivals.starts_per_s() {
            Some(starts) => format!(" at {starts} starts a second"),
            None => format!(" with {}", count(load.into(), "worker", "workers")),
        },
    }
}

/// "CPU", or "CPU or microcode" where both cut the fleet alike.
pub fn facts(split: &Split) -> String {
    let names: Vec<&str> = [split.fact].iter().chain(&split.also).map(|fact| fact.name()).collect();
    names.join(" or ")
}

/// "CPU A, kernel 6.1"; "all machines" where nothing cuts the fleet.
pub fn group(group: &Group) -> String {
    let one = |(fact, value): &(Fact, Option<String>)| match value {
        // A model of a CPU or a release of a kernel speaks for itself.
        Some(value) if matches!(fact, Fact::Cpu | Fact::Os) => value.clone(),
        Some(value) => format!("{} {value}", fact.name()),
        None => format!("{} not known", fact.name()),
    };
    match group.values.as_slice() {
        [] => "all machines".to_owned(),
        values => values.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

/// The rows of a pattern.
pub fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Everything => "everything".to_owned(),
        Pattern::OtherCpu => "everything that reaches another CPU".to_owned(),
        Pattern::Group { group } => match group.as_str() {
            "kernel" => "system calls".to_owned(),
            "process" => "making processes".to_owned(),
            "thread" => "handing over between threads".to_owned(),
            "pipe" => "pipes".to_owned(),
            "cpu" => "the CPU and its memory".to_owned(),
            other => format!("the group '{other}'"),
        },
        Pattern::Row { row } => format!("{} {}", row.name, row.variant),
    }
}

/// "node17 charges 2.1x what its group does for everything that reaches another CPU; the rest is as in the others".
pub fn outlier(it: &Outlier, named: &str, factor: &dyn Fn(f64) -> String) -> String {
    let rest = it.rest.map(|rest| match rest {
        rest if rest.ln().abs() < AS_WELL.ln() => "the rest is as in the others".to_owned(),
        rest => format!("the rest {}", factor(rest)),
    });
    let mut parts = vec![format!(
        "{named} charges {} what its group does for {}",
        factor(it.factor),
        pattern(&it.pattern)
    )];
    parts.extend(rest.filter(|_| it.pattern != Pattern::Everything));
    parts.extend(differs(&it.differs));
    if it.differs.is_empty() {
        parts.extend(look(it).map(str::to_owned));
    }
    parts.join("; ")
}

fn differs(differences: &[Difference]) -> Option<String> {
    let one = |it: &Difference| format!("{} {} (in its group {})", it.fact.name(), it.second, it.first);
    (!differences.is_empty())
        .then(|| format!("it has {}", list(&differences.iter().map(one).collect::<Vec<_>>())))
}

/// What to look at first, where the rows say it.
fn look(it: &Outlier) -> Option<&'static str> {
    let dearer = it.factor > 1.0;
    match &it.pattern {
        Pattern::Everything if dearer => Some("look for other work, a CPU quota, or a lower clock"),
        Pattern::OtherCpu if dearer => {
            Some("look for deep idle states, or an interrupt that stays on one CPU")
        }
        _ => None,
    }
}

/// What a limit does not allow.
pub fn limit(limit: Limit) -> String {
    let against = |by: f64| match by {
        by if by < 0.0 => format!("does not take {} less than the baseline", percentage(-by)),
        by => format!("takes over {} more than the baseline", percentage(by)),
    };
    match limit {
        Limit::Outlier(by) => format!("a machine is more than {} off its group", percentage(by)),
        Limit::OnMachine(by) => format!("an alternative {} on a machine", against(by)),
        Limit::Combined(by) => format!("an alternative {} over all machines", against(by)),
        Limit::Slower(most) => format!("an alternative is slower on more than {}", machines(most)),
        Limit::NotFaster(most) => format!("an alternative is not faster on more than {}", machines(most)),
    }
}

fn machines(most: Machines) -> String {
    match most {
        Machines::Count(most) => count(most as u64, "machine", "machines"),
        Machines::Share(most) => format!("{} of the machines", percentage(most)),
    }
}

/// What is above a limit, and how far.
pub fn excess(limit: Limit, excess: &Excess, factor: &dyn Fn(f64) -> String) -> String {
    let asked = |it: &Question| format!("'{}' against '{}'{}", it.alternative, it.baseline, copies(it));
    match excess {
        Excess::Outlier { machine, pattern: rows, factor: by } => {
            format!("{}: '{machine}' charges {} for {}", self::limit(limit), factor(*by), pattern(rows))
        }
        Excess::OnMachine { question, machine, ratio } => {
            format!(
                "{}: {} takes {} the time on '{machine}'",
                self::limit(limit),
                asked(question),
                factor(*ratio)
            )
        }
        Excess::Combined { question, ratio } => {
            format!("{}: {} takes {} the time", self::limit(limit), asked(question), factor(*ratio))
        }
        Excess::Machines { question, count, of } => {
            format!("{}: {}, on {count} of {of}", self::limit(limit), asked(question))
        }
    }
}

/// What a limit of a change does not allow.
pub fn dearer(allowed: f64) -> String {
    format!("a price rose by more than {}", percentage(allowed))
}

/// The price that is above it.
pub fn rose(allowed: f64, found: &Dearer, factor: &dyn Fn(f64) -> String) -> String {
    let id = row_id(&found.row.name, &found.row.variant);
    format!("{}: {id} is {} what it was", dearer(allowed), factor(found.ratio))
}
