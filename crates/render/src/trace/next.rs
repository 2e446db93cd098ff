//! What to do next: one line below the sentence, from what took the most time.

use whyfaster_core::trace::report::{Avoidable, Level, PathKind, SharerKind, TraceReport};
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::units::time;

use super::sentence::{Doing, of_tasks, of_wall, whole_percent};

/// Waiting for a CPU is spoken of from this share of the tasks' time on.
const WORTH: f64 = 0.05;
/// A holder of the CPU is what to act on from this share of the waiting on.
const MATTERS: f64 = 0.2;
/// Less than this part is 0% in words, and is left out.
const NAMED: f64 = 0.005;
/// The cost of observing is spoken of here from this share of the wall time on.
const DEAR: f64 = 0.1;

/// Where records were lost for want of room.
const MORE_ROOM: &str = "next: trace it again with more room for records (--ring-size), or ask for less (--count-only, no --calls)";

/// The next step; none where the level does not see enough to say one.
pub(in super::super) fn next(report: &TraceReport, look: &Look) -> Option<String> {
    if report.level != Level::Full {
        return None;
    }
    // Where records are missing, shares are no ground for advice.
    if report.lost.any() {
        return (report.lost.ring > 0).then(|| MORE_ROOM.to_owned());
    }
    let (_, shares) = of_tasks(report);
    let waiting = shares.iter().any(|(what, share)| *what == Doing::WAITING && *share >= WORTH);
    let along = of_wall(report);
    let first = if along.is_empty() { &shares } else { &along };
    let most = first.iter().map(|(what, _)| *what).find(|what| *what != Doing::WAITING);
    let mut said: Vec<String> = waiting.then(|| behind_whom(report, look)).flatten().into_iter().collect();
    let computing = matches!(most, Some(Doing::Computing | Doing::OnPath(PathKind::User)));
    let dear = report.overhead.calibrated_share.is_some_and(|share| share >= DEAR);
    let observing = computing && dear && !super::costs::observed_itself(report).is_empty();
    said.extend(most.map(|most| {
        match observing {
            // A flame graph would show the functions that call.
            true => format!(
                "much of its user code is the observing of its many calls: 'system calls' {} counts them",
                place(look)
            ),
            false => where_to_look(most, look),
        }
    }));
    (!said.is_empty()).then(|| format!("next: {}", said.join("; ")))
}

/// Where the tables are.
fn place(look: &Look) -> &'static str {
    if look.detail >= Detail::Tables { "below" } else { "of -v" }
}

/// Who held the CPU, and what would shorten the wait.
fn behind_whom(report: &TraceReport, look: &Look) -> Option<String> {
    let all: f64 = report.cpu_sharers.iter().map(|row| row.seconds).sum();
    let of = |kinds: &[SharerKind]| {
        let rows = report.cpu_sharers.iter().filter(|row| kinds.contains(&row.kind));
        rows.map(|row| row.seconds).sum::<f64>() / all
    };
    if all <= 0.0 {
        return None;
    }
    let (outside, own) = (of(&[SharerKind::Other]), of(&[SharerKind::Tree]));
    let (throttled, steal) = (of(&[SharerKind::Throttled]), of(&[SharerKind::Steal]));
    let waited = time(all, look.time_unit);
    let was = |share: f64, who: &str| {
        let share = whole_percent(share);
        format!("of the {waited} that all its tasks together waited for a CPU {share} was {who}")
    };
    let said = |share: f64, who: &str, so: &str| format!("{}: {so}", was(share, who));
    let when_quiet = format!("run it again when they are quiet (named under 'who held it' {})", place(look));
    let part =
        |of: fn(&Avoidable) -> Option<f64>| report.avoidable.as_ref().and_then(of).map_or(0.0, |s| s / all);
    let (pinned, elsewhere) = (part(|it| it.by_pinning_s), part(|it| it.but_for_affinity_s));
    let told = report.avoidable.is_some_and(|it| it.by_pinning_s.is_some());
    let text = match report.avoidable_wait_s.map_or(0.0, |seconds| seconds / all) {
        _ if throttled >= MATTERS => {
            said(throttled, "for the cgroup's quota", "raise cpu.max, or run fewer at once")
        }
        _ if steal >= MATTERS => {
            said(steal, "taken by the hypervisor", "run it again when the host is quieter")
        }
        avoidable if pinned >= MATTERS && pinned > avoidable - pinned && pinned > elsewhere => said(
            pinned,
            "while a CPU stood idle that only a pin kept its tasks from",
            "undo the pin (--pin, taskset)",
        ),
        avoidable if elsewhere >= MATTERS && elsewhere > avoidable => said(
            elsewhere,
            "while a CPU that it was not allowed on stood idle",
            match told {
                true => "give it more CPUs (cpuset, the affinity it was started with)",
                false => "allow it on other CPUs (--pin, taskset)",
            },
        ),
        _ if outside >= MATTERS => said(outside, "behind programs outside of this tree", &when_quiet),
        avoidable if avoidable >= MATTERS => said(
            avoidable,
            "avoidable, as another CPU stood idle",
            "the kernel placed its tasks badly, and another run may fare better",
        ),
        _ if own >= MATTERS => {
            said(own, "behind its own tasks", "fewer of them at once, or more CPUs, would shorten it")
        }
        _ if outside < NAMED => return None,
        _ => return Some(was(outside, "behind programs outside of this tree")),
    };
    Some(text + &behind_others(outside))
}

/// The part behind programs outside of the tree, where it is not the main one.
fn behind_others(part: f64) -> String {
    match (NAMED..MATTERS).contains(&part) {
        true => format!(" ({} behind programs outside)", whole_percent(part)),
        false => String::new(),
    }
}

/// Which output says more of what took the most time.
fn where_to_look(most: Doing, look: &Look) -> String {
    let said = match most {
        Doing::Computing | Doing::OnPath(PathKind::User) => {
            "--flamegraph FILE shows in which functions it computed"
        }
        Doing::OnPath(PathKind::Startup) => {
            "fewer or smaller programs would shorten their start-up; --calls shows what they open and map"
        }
        Doing::OnPath(PathKind::Forked) => "--calls shows what the children do before their exec",
        Doing::InKernel | Doing::OnPath(PathKind::Kernel) => {
            return format!(
                "the system calls {} show what it asked of the kernel, --flamegraph FILE from where",
                place(look)
            );
        }
        _ => "--flamegraph FILE shows from where it waited, --calls the calls one by one",
    };
    said.to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::dispatch;
    use super::*;
    use crate::fixture::look;

    fn said(change: impl FnOnce(&mut TraceReport)) -> String {
        let mut report = dispatch();
        change(&mut report);
        next(&report, &look(80, false)).unwrap_or_default()
    }

    #[test]
    fn who_held_the_cpu_decides_what_to_do() {
        assert!(said(|_| ()).contains("behind its own tasks"), "{}", said(|_| ()));
        let outside =
            said(|report| report.cpu_sharers.iter_mut().for_each(|row| row.kind = SharerKind::Other));
        assert!(outside.contains("100% was behind programs outside of this tree: run it again"), "{outside}");
        let idle = said(|report| report.avoidable_wait_s = Some(6.0));
        assert!(idle.contains("avoidable"), "{idle}");
        let pinned = said(|report| {
            report.avoidable_wait_s = Some(6.0);
            report.avoidable.get_or_insert_default().by_pinning_s = Some(6.0);
        });
        assert!(pinned.contains("kept its tasks from: undo the pin"), "{pinned}");
        let elsewhere = |open: Option<f64>| {
            said(|report| {
                let avoidable = report.avoidable.get_or_insert_default();
                (avoidable.by_pinning_s, avoidable.but_for_affinity_s) = (open, Some(6.0));
            })
        };
        assert!(elsewhere(None).contains("stood idle: allow it on other CPUs"), "{}", elsewhere(None));
        assert!(elsewhere(Some(0.0)).contains("stood idle: give it more CPUs"), "{}", elsewhere(Some(0.0)));
        let quota =
            said(|report| report.cpu_sharers.iter_mut().for_each(|row| row.kind = SharerKind::Throttled));
        assert!(quota.contains("cpu.max"), "{quota}");
    }

    #[test]
    fn the_first_screen_says_where_its_tables_are() {
        let mut report = dispatch();
        report.cpu_sharers.iter_mut().for_each(|row| row.kind = SharerKind::Other);
        let at = |detail| next(&report, &Look { detail, ..look(80, false) }).unwrap();
        assert!(at(Detail::Screen).contains("'who held it' of -v"), "{}", at(Detail::Screen));
        assert!(at(Detail::Tables).contains("'who held it' below"), "{}", at(Detail::Tables));
    }

    #[test]
    fn where_records_are_missing_the_next_step_is_to_have_them() {
        assert_eq!(said(|report| report.lost.ring = 1), MORE_ROOM);
        assert_eq!(said(|report| report.lost.late = 1), "");
        assert_eq!(said(|report| report.lost.string = 1), said(|_| ()), "only a name is missing");
    }

    #[test]
    fn a_cheap_observing_is_not_called_much() {
        let observed = |calibrated_share| {
            said(|report| {
                report.commands.iter_mut().for_each(|row| row.runnable_s = Some(0.0));
                report.critical_path.retain(|row| row.kind == PathKind::User);
                (report.overhead.calls_s, report.overhead.calibrated_share) =
                    (Some(1e6), Some(calibrated_share));
            })
        };
        assert!(observed(0.4).contains("much of its user code is the observing"), "{}", observed(0.4));
        assert!(observed(0.005).contains("--flamegraph"), "{}", observed(0.005));
    }

    #[test]
    fn nothing_is_advised_where_too_little_was_seen() {
        assert_eq!(said(|report| report.level = Level::Unprivileged), "");
        let calm = said(|report| {
            report.critical_path.clear();
            report.commands.iter_mut().for_each(|row| row.runnable_s = Some(0.0));
        });
        assert!(!calm.contains("waiting for a CPU") && calm.contains("--flamegraph"), "{calm}");
    }
}
