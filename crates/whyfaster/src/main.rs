//! `whyfaster`: which of two commands is faster, why, and from what load on does the answer flip?
use whyfaster::run::interrupts::Interrupts;
fn main() -> std::process::ExitCode {
    if std::env::args().nth(1).as_deref() == Some("__launcher") { return whyfaster::run::launcher::main(); }
    use whyfaster_core::plan::*;
    let load: u32 = std::env::var("LOAD").ok().and_then(|v| v.parse().ok()).unwrap_or(1);
    let alt = |c: String| Alternative { name: c.clone(), command: c, parameters: Default::default(), env: Default::default(), setup: None, prepare: None, conclude: None, cleanup: None, output: if std::env::var("PIPE").is_ok() { Output::Pipe } else { Output::Null } };
    let mode = match std::env::var("MODE").as_deref() { Ok("closed") => Mode::Closed { duration_s: 1.0 }, Ok("open") => Mode::Open { rate_per_s: 100.0, duration_s: 1.0 }, _ => Mode::Batch };
    let shell = if std::env::var("N").is_ok() { Shell::None } else { Shell::Command(vec!["sh".into()]) };
    let plan = Plan { alternatives: std::env::args().skip(1).map(alt).collect(), baseline: 0, baseline_named: false, shell, input: Input::Null, loads: Loads::Fixed(vec![load]), mode, rounds: Rounds { min: 3, max: 3, fixed: true, max_time_s: 30.0, max_time_hard: false }, warmup: 0, delta: 0.02, confidence: 0.95, seed: 1, timeout_s: std::env::var("TMO").ok().and_then(|v| v.parse().ok()), placement: Placement::Session, cpus: None, drop_caches: false, check_output: std::env::var("NC").is_err(), failures: FailurePolicy::Raise, fail_if_slower: None };
    let i = Interrupts::take_over().unwrap();
    match whyfaster::run::session::measure(&plan, &i, &mut |e| eprintln!("{e:?}")) {
        Ok(f) => { for b in &f.record.batches { let c=&b.copies; let m=|v:&[f64]| { let mut v=v.to_vec(); v.sort_by(f64::total_cmp); v.get(v.len()/2).copied() }; eprintln!("{:?} mk {:.6} n {} start {:?} wall {:?} user {:?} rss {:?} st {:?} orph {:?} to {:?}", b.arm, b.makespan_s, c.len(), m(&c.start_s), m(&c.wall_s), m(&c.user_s), c.max_rss_bytes.first(), c.status.first(), b.orphans, c.timed_out.first()); } eprintln!("{:?} {:?} {:?}\n{:?}", f.record.trials, f.record.accounts, f.record.analysis.not_measured, f.failure); }
        Err(e) => eprintln!("{e:?}"),
    }
    std::process::ExitCode::SUCCESS
}
