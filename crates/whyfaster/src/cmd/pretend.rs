//! hyperfine's hidden `--debug-mode`, which its own tests use: nothing runs, and `sleep 1.5` takes exactly 1.5 seconds. Schedule,
//! analysis and report are the real ones.

use whyfaster_core::host::{Host, HostFacts};
use whyfaster_core::plan::{Plan, Shell};
use whyfaster_core::record::{Record, SCHEMA};
use whyfaster_core::sample::{Arm, Batch, Copies, Orphans};
use whyfaster_core::schedule::{Scheduler, Step};
use whyfaster_core::status::Status;
use whyfaster_words::exit::Failure;

/// The record of the only alternative of a plan.
pub(super) fn pretended(plan: &Plan) -> Result<Record, Failure> {
    let command = plan.alternatives.first();
    let span_s = command.and_then(|it| slept(&it.command)).ok_or_else(|| {
        Failure::usage(
            "--debug-mode knows no command but sleep",
            "Write 'sleep 1.5', or leave --debug-mode out.",
        )
    })?;
    let shell_s = match &plan.shell {
        Shell::None => 0.0,
        Shell::Command(words) => slept(&words.join(" ")).unwrap_or(0.0),
    };
    let hooks = command.into_iter().flat_map(|it| [&it.prepare, &it.conclude]).flatten();
    let hooks_s: f64 = hooks.map(|hook| shell_s + slept(hook).unwrap_or(0.0)).sum();
    // A hair more: a sum of hundredths may come out below the whole number.
    let took_s = (shell_s + span_s + hooks_s) * (1.0 + 1e-9);
    let mut scheduler = Scheduler::new(plan, &[(1, 1)], &[(span_s, 0.0)], 1.0);
    let (mut now_s, mut batches) = (0.0, Vec::new());
    loop {
        match scheduler.next(now_s) {
            Step::Round(round) => {
                let runs = (round.number..).take(round.runs as usize);
                let ran: Vec<Batch> = runs.map(|number| batch(number, now_s, span_s)).collect();
                let block_s = took_s * ran.len() as f64;
                now_s += block_s;
                scheduler.observe(&round, &ran, block_s, None);
                batches.extend(ran);
            }
            Step::Skip { .. } | Step::EndLevel { .. } => {}
            Step::Done => break,
        }
    }
    let machine = rustix::system::uname().machine().to_string_lossy().into_owned();
    let facts = HostFacts { machine: Some(machine), ..HostFacts::default() };
    Ok(Record {
        schema: SCHEMA.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: "1970-01-01T00:00:00Z".to_owned(),
        took_s: now_s,
        status: Status::Complete,
        study: None,
        studied: None,
        plan: plan.clone(),
        host: Host { before: facts.clone(), after: facts },
        trials: Vec::new(),
        batches,
        sched_accounts: Vec::new(),
        duets: Vec::new(),
        skipped: Vec::new(),
        analysis: whyfaster_core::analysis::Analysis::default(),
        why: whyfaster_core::why::Why::default(),
    })
}

/// How long a command sleeps, if that is all that it does.
fn slept(command: &str) -> Option<f64> {
    let seconds = command.trim().strip_prefix("sleep ")?.trim().parse::<f64>().ok()?;
    (seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

fn batch(round: u32, released_s: f64, seconds: f64) -> Batch {
    Batch {
        load: 1,
        arm: Arm::Alternative(0),
        round,
        position: 0,
        released_s,
        makespan_s: seconds,
        copies: Copies {
            start_s: vec![0.0],
            wall_s: vec![seconds],
            user_s: vec![0.0],
            system_s: vec![0.0],
            max_rss_bytes: vec![0],
            voluntary_switches: vec![0],
            involuntary_switches: vec![0],
            status: vec![0],
            timed_out: vec![false],
            counters: None,
        },
        orphans: Orphans::default(),
        machine_busy_s: None,
        steal_s: None,
        io: None,
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_core::plan::Alternative;

    use super::*;

    #[test]
    fn as_long_as_hyperfine_and_as_often() {
        let runs = |command: &str, shell: &str, prepare: Option<&str>| {
            let mut one = Alternative::new(command);
            one.prepare = prepare.map(str::to_owned);
            let mut plan = Plan::new(vec![one], 1);
            plan.shell = Shell::Command(shell.split(' ').map(str::to_owned).collect());
            let record = pretended(&plan).unwrap();
            assert!(record.validate().is_ok());
            record.batches.len()
        };
        assert_eq!(runs("sleep 0.5", "sh", None), 10);
        assert_eq!(runs("sleep 0.01", "sh", None), 300);
        assert_eq!(runs("sleep 0.01", "sleep 0.02", None), 100);
        assert_eq!(runs("sleep 0.05", "sleep 0.01", Some("sleep 0.03")), 30);
        assert!(pretended(&Plan::new(vec![Alternative::new("true")], 1)).is_err());
    }
}
