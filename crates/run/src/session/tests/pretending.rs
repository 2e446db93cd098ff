//! Machines that the program itself simulates: for `--debug-mode` and `--dry-run`.

use whyfaster_core::plan::Shell;

use super::*;

#[test]
fn sleeps_take_as_long_as_in_hyperfine_and_run_as_often() {
    let runs = |command: &str, shell: &str, prepare: Option<&str>| {
        let mut one = Alternative::new(command);
        one.prepare = prepare.map(str::to_owned);
        one.output = Output::Null;
        let mut plan = Plan { check_output: false, ..Plan::new(vec![one], 1) };
        plan.shell = Shell::Command(shell.split(' ').map(str::to_owned).collect());
        let Finished { record, failure } = pretend(&plan).unwrap();
        assert!(record.validate().is_ok() && failure.is_none(), "{failure:?}");
        record.batches.len()
    };
    assert_eq!(runs("sleep 0.5", "sh", None), 10);
    assert_eq!(runs("sleep 0.01", "sh", None), 300);
    assert_eq!(runs("sleep 0.01", "sleep 0.02", None), 100);
    assert_eq!(runs("sleep 0.05", "sleep 0.01", Some("sleep 0.03")), 30);
    let failure = pretend(&Plan::new(vec![Alternative::new("true")], 1)).unwrap_err();
    assert!(failure.message.contains("sleep"), "{failure}");
}

#[test]
fn a_rehearsal_lists_what_a_measurement_of_slow_commands_does() {
    let usual = plan_of(2);
    let fixed = Rounds { min: 3, max: 3, fixed: true, ..usual.rounds };
    let plans = [
        with_hooks(usual.clone()),
        plan_of(1),
        plan_of(3),
        Plan { rounds: fixed, warmup: 2, ..usual.clone() },
        Plan { loads: Loads::Fixed(vec![1, 4]), timeout_s: Some(0.1), ..usual.clone() },
        Plan { loads: Loads::Fixed(vec![1, 4]), ..usual.clone() },
        Plan { rounds_per_setup: Some(2), warmup: 1, ..with_hooks(usual.clone()) },
        Plan { mode: Mode::Closed { duration_s: 2.0 }, ..usual },
    ];
    for plan in plans {
        let (listed, left_out) = rehearse(&plan).unwrap();
        assert_eq!(left_out, []);
        let rounds = Rounds { max_time_s: 1e6, ..plan.rounds };
        let plan = Plan { rounds, timeout_s: plan.timeout_s.map(|_| 1e6), ..plan };
        let behaviours = vec![Behaviour::taking(8.0, 7.0); plan.alternatives.len()];
        let machine = Simulated::new(&plan, facts(), behaviours);
        assert_eq!(measured(&machine, &plan).0.record.status, Status::Complete);
        assert_eq!(machine.done(), listed);
    }
}
