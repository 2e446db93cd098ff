//! Measurements that are interrupted or that fail.

use std::collections::BTreeSet;

use whyfaster_core::plan::FailurePolicy;
use whyfaster_core::sample::Io;
use whyfaster_words::exit::Exit;

use super::super::super::protocol::{LaunchError, Step, Who};
use super::*;

/// Plans that together make every kind of run, but for those of an explanation.
fn plans() -> Vec<Plan> {
    let usual = Plan { warmup: 1, ..plan_of(2) };
    let few = Rounds { max: 3, ..usual.rounds };
    let fixed = Rounds { min: 3, max: 3, fixed: true, ..usual.rounds };
    vec![
        with_hooks(Plan { rounds: few, drop_caches: true, ..usual.clone() }),
        Plan { rounds: few, loads: Loads::Fixed(vec![1, 2]), ..usual.clone() },
        with_hooks(Plan { rounds: fixed, ..usual.clone() }),
        Plan { rounds_per_setup: Some(2), ..with_hooks(Plan { rounds: few, ..usual.clone() }) },
        Plan { rounds: few, mode: Mode::Closed { duration_s: 1.0 }, ..usual.clone() },
        with_hooks(Plan { rounds: few, ..plan_of(1) }),
    ]
}

#[test]
fn a_signal_at_any_moment_ends_a_measurement_and_nothing_begins_afterwards() {
    for plan in plans() {
        let whole = Troubled::new(computing(&plan, &[0.2, 0.3][..plan.alternatives.len()]));
        let (finished, _) = measured(&whole, &plan);
        assert_eq!((finished.record.status, finished.failure.is_none()), (Status::Complete, true));
        for at in 1..=whole.calls.get() {
            let cut = Troubled {
                signal_at: Some(at),
                ..Troubled::new(computing(&plan, &[0.2, 0.3][..plan.alternatives.len()]))
            };
            let (Finished { record, failure }, events) = measured(&cut, &plan);
            assert!(failure.is_none(), "at call {at}: {failure:?}");
            assert_eq!(record.status, Status::Interrupted, "at call {at}");
            assert_eq!(cut.late.take(), [], "at call {at}, after the signal was known");
            assert_eq!(events.last(), Some(&Event::Finished));
            // The runs are the first of those without the signal.
            let (all, ran) = (finished.record.batches.len(), record.batches.len());
            assert!(ran <= all && record.batches == finished.record.batches[..ran], "at call {at}");
            cleaned_up(&cut, &plan, (&format!("at call {at}"), runs(&cut) == runs(&whole)));
        }
    }
}

/// Whether each setup that was begun has one cleanup behind it, which came to its end. Where all runs had been made, the signal may have come
/// with the last cleanup: then it was meant for that.
fn cleaned_up(machine: &Troubled<'_>, plan: &Plan, (case, all_ran): (&str, bool)) {
    let hooks = machine.hooks.borrow();
    for index in 0..plan.alternatives.len() {
        let count = |of| hooks.iter().filter(|it| **it == of).count();
        let begun = count((Hook::Setup, index, true)) + count((Hook::Setup, index, false));
        let lost = if all_ran { count((Hook::Cleanup, index, false)) } else { 0 };
        assert_eq!(count((Hook::Cleanup, index, true)) + lost, begun, "{case}: {hooks:?}");
    }
}

/// Counts the runs that began.
fn runs(machine: &Troubled<'_>) -> usize {
    machine.machine.done().iter().filter(|it| matches!(it, Rehearsed::Run { .. })).count()
}

/// An error that keeps a batch from running, or from ending well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trouble {
    Fork,
    Prepare(Step),
    Exec,
    Signalled,
    Overloaded,
    Left,
    Status(i32),
    Lost,
}

impl Trouble {
    pub(super) const ALL: [Self; 10] = [
        Self::Fork,
        Self::Prepare(Step::Output),
        Self::Exec,
        Self::Signalled,
        Self::Overloaded,
        Self::Left,
        Self::Status(1),
        Self::Status(127),
        Self::Status(-libc::SIGKILL),
        Self::Lost,
    ];

    pub(super) fn becomes(self, mut outcome: Outcome) -> Result<Outcome, NoOutcome> {
        let other = Who { pid: 4711, name: Some("other".to_owned()) };
        match self {
            Self::Fork => return Err(NoOutcome::Launch(LaunchError::Fork { copy: 1, errno: libc::EAGAIN })),
            Self::Prepare(step) => {
                return Err(NoOutcome::Launch(LaunchError::Prepare { step, errno: libc::EACCES }));
            }
            Self::Lost => {
                return Err(
                    Failure::new(Exit::Error, "lost the launcher of the commands", "see dmesg").into()
                );
            }
            Self::Exec => outcome.ended = Ended::ExecFailed { errno: libc::ENOEXEC },
            Self::Signalled => outcome.ended = Ended::Signalled { signal: libc::SIGTERM, by: other },
            Self::Overloaded => outcome.ended = Ended::Overloaded,
            Self::Left => outcome.left = vec![other],
            Self::Status(status) => outcome.copies.status.fill(status),
        }
        Ok(outcome)
    }

    /// The exit status of a measurement that meets it in a run of this kind. `None`: the measurement goes on without the results of these runs.
    fn ends(self, kind: RunKind) -> Option<Exit> {
        match (self, kind) {
            (Self::Lost | Self::Prepare(_), _) => Some(Exit::Error),
            (Self::Exec | Self::Signalled | Self::Left, _) => Some(Exit::CommandFailed),
            (Self::Fork | Self::Overloaded, RunKind::Trial) => Some(Exit::Unfit),
            (Self::Fork | Self::Overloaded, _) => None,
            // To be traced may be the cause.
            (Self::Status(_), RunKind::Account) => None,
            (Self::Status(_), _) => Some(Exit::CommandFailed),
        }
    }
}

/// The measurement that is missing without runs of this kind.
fn is_of(kind: RunKind, what: &NotMeasured) -> bool {
    match kind {
        RunKind::Timed => what.quantity == Some(Quantity::Level { load: 1 }),
        RunKind::Duet => matches!(what.quantity, Some(Quantity::Duets { .. })),
        RunKind::Account => matches!(what.quantity, Some(Quantity::RunQueueDelay { .. })),
        RunKind::Trial | RunKind::WarmUp | RunKind::Observed | RunKind::Experiment => false,
    }
}

#[test]
fn every_error_of_a_launch_has_its_exit_status_and_names_the_command_and_a_next_step() {
    let hooked = with_hooks(Plan { warmup: 1, ..plan_of(2) });
    let rounds = Rounds { max_time_s: 60.0, ..hooked.rounds };
    let duets = Plan { loads: Loads::Fixed(vec![1, 2]), rounds, ..plan_of(2) };
    let kinds = [RunKind::Trial, RunKind::WarmUp, RunKind::Timed, RunKind::Duet, RunKind::Account];
    for (kind, trouble) in kinds.iter().flat_map(|kind| Trouble::ALL.map(|trouble| (*kind, trouble))) {
        let plan = if kind == RunKind::Duet { &duets } else { &hooked };
        let met = Cell::new(false);
        let launched = |launch: &Launch, _: &Request, outcome| {
            met.set(met.get() || launch.run.kind == kind);
            if launch.run.kind == kind { trouble.becomes(outcome) } else { Ok(outcome) }
        };
        let machine =
            Troubled { launched: Box::new(launched), ..Troubled::new(computing(plan, &[0.2, 0.3])) };
        let (Finished { record, failure }, events) = measured(&machine, plan);
        let case = format!("{trouble:?} in {kind:?}");
        assert!(met.get(), "{case}: there was no such run");
        assert_eq!(failure.as_ref().map(|it| it.exit), trouble.ends(kind), "{case}: {failure:?}");
        assert_eq!(record.status == Status::Failed, failure.is_some(), "{case}");
        match failure {
            Some(Failure { message, hint, .. }) => {
                assert!(message.contains("command"), "{case}: {message}");
                assert!(trouble == Trouble::Lost || message.contains("'command "), "{case}: {message}");
                assert!(hint.is_some_and(|hint| !hint.is_empty()), "{case}: {message}");
            }
            None if kind == RunKind::WarmUp => assert_eq!(record.skipped, [], "{case}"),
            None => assert!(record.skipped.iter().any(|it| is_of(kind, it)), "{case}: {:?}", record.skipped),
        }
        assert_eq!(events.last(), Some(&Event::Finished), "{case}");
        cleaned_up(&machine, plan, (&case, false));
    }
}

#[test]
fn every_step_before_a_command_is_named_when_it_fails() {
    let plan = Plan { check_output: false, ..plan_of(2) };
    let mut messages = BTreeSet::new();
    for step in Step::ALL {
        let launched = |_: &Launch, _: &Request, outcome| Trouble::Prepare(step).becomes(outcome);
        let machine =
            Troubled { launched: Box::new(launched), ..Troubled::new(computing(&plan, &[0.2, 0.3])) };
        let failure = measured(&machine, &plan).0.failure.expect("the command cannot be run");
        assert!(failure.hint.is_some_and(|hint| !hint.is_empty()), "{step:?}");
        messages.insert(failure.message);
    }
    assert_eq!(messages.len(), Step::ALL.len(), "{messages:?}");
}

#[test]
fn failures_that_are_allowed_are_measured() {
    for (failures, status, goes_on) in [
        (FailurePolicy::Raise, 3, false),
        (FailurePolicy::IgnoreAll, 3, true),
        (FailurePolicy::IgnoreAll, -libc::SIGSEGV, true),
        (FailurePolicy::IgnoreCodes(vec![1, 3]), 3, true),
        (FailurePolicy::IgnoreCodes(vec![1, 3]), 2, false),
        // As a shell calls it.
        (FailurePolicy::IgnoreCodes(vec![139]), -libc::SIGSEGV, true),
    ] {
        let case = format!("{failures:?} with {status}");
        let plan = Plan { failures, ..plan_of(2) };
        let failing = Behaviour { status, ..Behaviour::taking(0.3, 0.3) };
        let machine = Simulated::new(&plan, two_cpus(), vec![Behaviour::taking(0.2, 0.2), failing]);
        let (Finished { record, failure }, _) = measured(&machine, &plan);
        assert_eq!((record.status == Status::Complete, failure.is_none()), (goes_on, goes_on), "{case}");
        assert_eq!(verdicts(&record), if goes_on { vec![Verdict::Slower] } else { vec![] }, "{case}");
    }
}

#[test]
fn a_hook_that_fails_ends_the_measurement_and_every_cleanup_runs() {
    let plan = with_hooks(plan_of(2));
    let fails = || Failure::new(Exit::CommandFailed, "the hook failed", "run it by hand");
    for failing in [Hook::Setup, Hook::Prepare, Hook::Conclude, Hook::Cleanup] {
        let hooked = |hook| if hook == failing { Err(fails()) } else { Ok(()) };
        let machine = Troubled { hooked: Box::new(hooked), ..Troubled::new(computing(&plan, &[0.2, 0.3])) };
        let (Finished { record, failure }, _) = measured(&machine, &plan);
        assert_eq!(record.status, Status::Failed, "{failing:?}");
        assert_eq!(failure.map(|it| it.exit), Some(Exit::CommandFailed), "{failing:?}");
        assert_eq!(record.batches.is_empty(), failing != Hook::Cleanup, "{failing:?}");
        cleaned_up(&machine, &plan, (failing.name(), false));
    }
    // The reader needs the first failure.
    let hooked = |hook| if hook == Hook::Cleanup { Err(fails()) } else { Ok(()) };
    let launched = |_: &Launch, _: &Request, outcome| Trouble::Exec.becomes(outcome);
    let machine = Troubled {
        hooked: Box::new(hooked),
        launched: Box::new(launched),
        ..Troubled::new(computing(&plan, &[0.2, 0.3]))
    };
    let failure = measured(&machine, &plan).0.failure.unwrap();
    assert!(failure.message.contains("cannot execute"), "{failure}");
}

#[test]
fn what_is_missing_before_the_first_run_ends_the_measurement() {
    let plan = with_hooks(Plan { drop_caches: true, ..plan_of(2) });
    let unfit = || Failure::unfit("cannot do that here", "run as root");
    let computes = || Troubled::new(computing(&plan, &[0.2, 0.3]));
    let second = |it: &Alternative| if it.name == "command 1" { Err(unfit()) } else { Ok(()) };
    let machines = [
        Troubled { dropped: Box::new(|| Err(unfit())), ..computes() },
        Troubled { resolved: Box::new(second), ..computes() },
    ];
    for machine in machines {
        let (Finished { record, failure }, _) = measured(&machine, &plan);
        assert_eq!(record.status, Status::Failed);
        assert_eq!(failure.map(|it| it.exit), Some(Exit::Unfit));
        assert_eq!(record.batches, []);
        cleaned_up(&machine, &plan, ("before the first run", false));
    }
}

#[test]
fn outputs_that_differ_are_reported_or_end_the_measurement() {
    let of = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan_of(2);
        change(&mut plan);
        let prints = |text: &str| Behaviour { stdout: text.into(), ..Behaviour::taking(0.2, 0.2) };
        let behaviours = vec![prints("one\ntwo\n"), prints("one\n2\n")];
        measured(&Simulated::new(&plan, two_cpus(), behaviours), &plan).0
    };
    let differences = |finished: &Finished| {
        let trials = finished.record.trials.iter();
        trials.filter_map(|it| Some((it.alternative, it.differs.as_ref()?.place))).collect::<Vec<_>>()
    };
    let reported = of(&|_| ());
    assert!(reported.failure.is_none() && !reported.record.batches.is_empty());
    assert_eq!(differences(&reported), [(1, Some((5, 2)))]);
    let gated = of(&|plan| plan.fail_if_slower = Some(0.1)).failure;
    assert_eq!(gated.map(|it| it.exit), Some(Exit::CommandFailed));
    let failure = of(&|plan| plan.strict_output = true).failure.unwrap();
    assert_eq!(failure.exit, Exit::CommandFailed);
    for part in ["line 2", "'command 0': two", "'command 1': 2"] {
        assert!(failure.message.contains(part), "{failure}");
    }
    assert_eq!(differences(&of(&|plan| plan.check_output = false)), []);
    let parameter = |plan: &mut Plan| {
        plan.alternatives[1].parameters.insert("n".to_owned(), "2".to_owned());
    };
    assert_eq!(differences(&of(&parameter)), [], "with other parameters they do other work");
}

#[test]
fn who_does_less_unread_is_read() {
    let plan = plan_of(2);
    let io = |bytes| Io { read_bytes: bytes, write_bytes: 8 << 20, reads: 100, writes: 100 };
    let reads =
        |bytes| Behaviour { stdout: b"found\n".to_vec(), io: Some(io(bytes)), ..Behaviour::taking(0.2, 0.2) };
    for (less, expected) in [(true, Output::Pipe), (false, Output::Null)] {
        let outputs = RefCell::new(Vec::new());
        let launched = |launch: &Launch, request: &Request, outcome: Outcome| {
            if launch.run.kind == RunKind::Timed {
                outputs.borrow_mut().push(request.output.clone());
            }
            let unread = less && launch.run.kind == RunKind::Trial && request.output == Output::Null;
            // The first trial has its streams read, whatever the request holds.
            let first = launch.run.number == 0;
            Ok(if unread && !first { Outcome { io: Some(io(0)), ..outcome } } else { outcome })
        };
        let machine = Simulated::new(&plan, two_cpus(), vec![reads(64 << 20), reads(64 << 20)]);
        let machine = Troubled { launched: Box::new(launched), ..Troubled::new(machine) };
        let (Finished { record, failure }, _) = measured(&machine, &plan);
        assert!(failure.is_none() && record.trials.iter().all(|it| it.destinations.is_some()));
        let outputs = outputs.borrow();
        assert!(!outputs.is_empty() && outputs.iter().all(|it| *it == expected), "{outputs:?}");
    }
}
