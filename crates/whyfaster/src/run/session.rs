//! A measurement from its plan to its record: trials, warm-up, rounds, accounts, hooks around all of them.

use std::time::Instant;

use whyfaster_core::analysis::{
    Analysis, Measured, RUN_QUEUE_DELAY, alpha_per_interval, analyse, least_rounds, level_name,
    level_verdicts,
};
use whyfaster_core::bounds::capacity;
use whyfaster_core::crossover::{MAX_BISECTIONS, bisect, ladder};
use whyfaster_core::event::{Event, Status};
use whyfaster_core::fit::{Need, fits};
use whyfaster_core::host::{Host, NotMeasured};
use whyfaster_core::plan::{Loads, Mode, Output, Plan};
use whyfaster_core::record::{Record, SCHEMA};
use whyfaster_core::sample::{Batch, SchedAccount, Trial};
use whyfaster_core::schedule::{Round, Scheduler, Standing, Step};
use whyfaster_core::why::Why;

use super::interrupts::Interrupts;
use super::rig::{Ran, Rig};
use super::why;
use crate::exit::Failure;
use crate::host;
use crate::words;

/// What the kernel holds for a process beside its pages, about: its stack, its page tables, its descriptors.
const KERNEL_BYTES: u64 = 128 << 10;

/// What a measurement gives: a record in any case, and what ended it early if something did.
#[derive(Debug)]
pub struct Finished {
    /// What was measured.
    pub record: Record,
    /// Why it is not complete.
    pub failure: Option<Failure>,
}

/// Runs a plan. Events tell how far it is; they come between batches only.
pub fn measure(plan: &Plan, interrupts: &Interrupts, on: &mut dyn FnMut(Event)) -> Result<Finished, Failure> {
    let root = host::Root::real();
    let started = jiff::Timestamp::now().to_string();
    let before = host::facts(&root);
    let mut session = Session {
        plan,
        interrupts,
        on,
        clock: Instant::now(),
        host: Host { before, ..Host::default() },
        trials: Vec::new(),
        batches: Vec::new(),
        accounts: Vec::new(),
        not_measured: Vec::new(),
        why: Why::default(),
    };
    let ended = session.run();
    (session.on)(Event::Finished);
    session.host.after = host::facts(&root).since(&session.host.before);
    let took_s = session.now_s();
    let (status, failure) = match ended {
        Ok(()) if interrupts.interrupted() => (Status::Interrupted, None),
        Ok(()) => (Status::Complete, None),
        Err(failure) if interrupts.interrupted() => (Status::Interrupted, Some(failure)),
        Err(failure) => (Status::Failed, Some(failure)),
    };
    let analysis = session.analysis();
    let Session { host, trials, batches, accounts, not_measured, why, .. } = session;
    let record = Record {
        schema: SCHEMA.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        took_s,
        status,
        study: None,
        plan: plan.clone(),
        host,
        trials,
        batches,
        sched_accounts: accounts,
        skipped: not_measured,
        analysis,
        why,
    };
    Ok(Finished { record, failure })
}

struct Session<'a> {
    plan: &'a Plan,
    interrupts: &'a Interrupts,
    on: &'a mut dyn FnMut(Event),
    clock: Instant,
    host: Host,
    trials: Vec<Trial>,
    batches: Vec<Batch>,
    accounts: Vec<SchedAccount>,
    not_measured: Vec<NotMeasured>,
    why: Why,
}

impl Session<'_> {
    fn now_s(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    fn run(&mut self) -> Result<(), Failure> {
        let mut rig = Rig::new(self.plan, self.interrupts)?;
        let ended = self.run_on(&mut rig);
        // Also after a failure or an interrupt: what setup made is to be taken away.
        let cleaned = rig.clean_up(self.on);
        ended.and(cleaned)
    }

    fn run_on(&mut self, rig: &mut Rig<'_>) -> Result<(), Failure> {
        rig.set_up(self.on)?;
        if self.interrupts.interrupted() {
            // The set-up may have been cut short: not every command is known.
            return Ok(());
        }
        self.trials = rig.try_all(self.on)?;
        let loads = match (&self.plan.loads, self.plan.mode) {
            // The rate is the load; the number of copies is what comes of it.
            (_, Mode::Open { .. }) => vec![0],
            (Loads::Fixed(loads), _) => loads.clone(),
            (Loads::Auto, _) => ladder(capacity(self.plan, &self.host)),
        };
        // Without trials nothing is known beforehand; the first round tells.
        let mut alone = vec![(0.0, 0.0); self.plan.alternatives.len()];
        for trial in &self.trials {
            alone[trial.alternative] = (trial.wall_s, trial.cpu_s);
        }
        if self.interrupts.interrupted() {
            return Ok(());
        }
        self.warm_up(rig, loads[0])?;
        self.levels(rig, &loads, &alone)?;
        self.explain(rig);
        Ok(())
    }

    /// The untimed runs before the first round. Of a time that was asked for they get half of what is left at most.
    fn warm_up(&mut self, rig: &mut Rig<'_>, load: u32) -> Result<(), Failure> {
        let (rounds, wanted, began_s) = (&self.plan.rounds, self.plan.warmup, self.now_s());
        let until_s = began_s + (rounds.max_time_s - began_s).max(0.0) / 2.0;
        let clock = self.clock;
        let goes_on = || !rounds.max_time_hard || clock.elapsed().as_secs_f64() < until_s;
        let done = rig.warm_up(load, self.on, goes_on)?;
        if done < wanted && !self.interrupts.interrupted() {
            self.not_measured.push(NotMeasured {
                what: "warm-up".to_owned(),
                why: format!(
                    "{done} of {wanted} runs took half of --max-time; allow more time, or fewer --warmup"
                ),
            });
        }
        Ok(())
    }

    /// What follows from the samples so far.
    fn analysis(&self) -> Analysis {
        analyse(Measured {
            plan: self.plan,
            host: &self.host,
            trials: &self.trials,
            batches: &self.batches,
            accounts: &self.accounts,
            not_measured: &self.not_measured,
        })
    }

    /// After the verdicts: why they are so.
    fn explain(&mut self, rig: &mut Rig<'_>) {
        let so_far = why::SoFar {
            plan: self.plan,
            host: &self.host,
            batches: &self.batches,
            analysis: &self.analysis(),
            interrupts: self.interrupts,
            clock: self.clock,
        };
        self.why = why::explain(rig, &so_far, self.on);
        words::why::write(self.plan, &mut self.why);
        self.not_measured.extend(words::why::left_out(&self.why));
    }

    /// Measures all levels.
    fn levels(&mut self, rig: &mut Rig<'_>, loads: &[u32], alone: &[(f64, f64)]) -> Result<(), Failure> {
        let levels: Vec<(u32, u32)> = loads.iter().map(|&load| (load, self.least_rounds(load))).collect();
        let mut scheduler = Scheduler::new(self.plan, &levels, alone, capacity(self.plan, &self.host));
        scheduler.keep(why::reserved_s(self.plan));
        let mut bisected = Vec::new();
        loop {
            if self.interrupts.interrupted() {
                return Ok(());
            }
            match scheduler.next(self.now_s()) {
                Step::Round(round) if round.number == 0 && !self.fits(&round) => scheduler.give_up(),
                Step::Round(round) => self.round(rig, &mut scheduler, &round)?,
                Step::Skip { load, why } => self.skip(load, why),
                Step::EndLevel { load, rounds } => {
                    self.account(rig, load)?;
                    (self.on)(Event::LevelEnd { load, rounds });
                }
                Step::Done => match self
                    .further_level(&scheduler)
                    .filter(|load| bisected.len() < MAX_BISECTIONS && !bisected.contains(load))
                {
                    Some(load) => {
                        bisected.push(load);
                        scheduler.add_level(load, self.least_rounds(load));
                    }
                    None => return Ok(()),
                },
            }
        }
    }

    /// Rounds without which there is no verdict at a load.
    fn least_rounds(&self, load: u32) -> u32 {
        least_rounds(self.plan, &self.host, load)
    }

    /// The next load to look at, where the answer changes between two that were measured.
    fn further_level(&self, scheduler: &Scheduler) -> Option<u32> {
        let auto = self.plan.loads == Loads::Auto;
        let comparisons = 0..self.plan.alternatives.len().saturating_sub(1);
        comparisons.filter(|_| auto).find_map(|comparison| bisect(&scheduler.verdicts(comparison)))
    }

    fn skip(&mut self, load: u32, why: String) {
        (self.on)(Event::LevelSkipped { load, why: why.clone() });
        self.not_measured.push(NotMeasured { what: level_name(load), why });
    }

    /// Checks before the first round of a level that its copies fit into memory, process and file limits.
    fn fits(&mut self, round: &Round) -> bool {
        let processes = self.trials.iter().map(|trial| trial.peak_processes).max().unwrap_or(1).max(1);
        let private = self.trials.iter().map(|trial| trial.peak_private_bytes).max().unwrap_or(0);
        let together = self.trials.iter().map(|trial| trial.peak_memory_bytes).max().unwrap_or(0);
        let piped = self.plan.alternatives.iter().any(|alternative| alternative.output == Output::Pipe);
        let need = Need {
            processes,
            memory_bytes: private + u64::from(processes) * KERNEL_BYTES,
            fds: if piped { 2 } else { 0 },
            fixed_processes: 4,
            fixed_memory_bytes: together - private.min(together),
            fixed_fds: 32,
        };
        match fits(&host::facts(&host::Root::real()), &need, round.load) {
            Ok(()) => true,
            Err(why) => {
                self.skip(round.load, why);
                false
            }
        }
    }

    fn round(&mut self, rig: &mut Rig<'_>, scheduler: &mut Scheduler, round: &Round) -> Result<(), Failure> {
        if round.number == 0 {
            let (index, of) = round.level;
            (self.on)(Event::LevelBegin { load: round.load, index: index + 1, of });
        }
        let (began_s, first) = (self.now_s(), self.batches.len());
        for (position, &arm) in round.order.iter().enumerate() {
            let left_s = round.left_s - (self.now_s() - began_s);
            let (now_s, total_s) = (self.now_s(), self.now_s() + left_s);
            (self.on)(Event::Batch {
                load: round.load,
                round: round.number + 1,
                rounds: round.expected,
                arm,
                batch_s: round.batch_s,
                left_s: left_s.max(0.0),
                done: if total_s > 0.0 { (now_s / total_s).min(1.0) } else { 0.0 },
            });
            match rig.batch(arm, round, position as u32)? {
                Ran::Done(batch) => self.batches.push(batch),
                Ran::Stopped => return Ok(()),
                Ran::CannotRun(why) => {
                    self.skip(round.load, why);
                    scheduler.give_up();
                    return Ok(());
                }
            }
        }
        let standing = self.standing(round.load);
        scheduler.observe(&self.batches[first..], self.now_s() - began_s, standing);
        Ok(())
    }

    /// How the verdicts at a load stand.
    fn standing(&self, load: u32) -> Standing {
        let alpha = alpha_per_interval(self.plan, &self.host, load);
        let judgements =
            level_verdicts(self.plan, self.batches.iter().filter(|batch| batch.load == load), alpha);
        Standing {
            verdicts: judgements.iter().map(|judgement| judgement.verdict).collect(),
            needed: judgements.iter().filter_map(|judgement| judgement.rounds_needed).max(),
        }
    }

    /// One traced batch of every alternative, untimed, after a level's rounds. It is left out when time is short.
    fn account(&mut self, rig: &mut Rig<'_>, load: u32) -> Result<(), Failure> {
        let of_level: Vec<&Batch> = self.batches.iter().filter(|batch| batch.load == load).collect();
        let Some(last) = of_level.iter().map(|batch| batch.round).max() else { return Ok(()) };
        let round_s: f64 =
            of_level.iter().filter(|batch| batch.round == last).map(|batch| batch.makespan_s).sum();
        let rounds = self.plan.rounds;
        if self.plan.mode != Mode::Batch {
            return Ok(());
        }
        if rounds.max_time_hard && self.now_s() + 1.5 * round_s > rounds.max_time_s {
            self.not_measured.push(NotMeasured {
                what: format!("{RUN_QUEUE_DELAY} at {}", level_name(load)),
                why: "no time was left of --max-time for its traced batch".to_owned(),
            });
            return Ok(());
        }
        for alternative in 0..self.plan.alternatives.len() {
            if self.interrupts.interrupted() {
                return Ok(());
            }
            (self.on)(Event::Account { load, alternative });
            match rig.account(alternative, load)? {
                Ran::Done(account) => self.accounts.push(account),
                Ran::CannotRun(why) => {
                    self.not_measured.push(NotMeasured {
                        what: format!("{RUN_QUEUE_DELAY} at {}", level_name(load)),
                        why,
                    });
                    return Ok(());
                }
                Ran::Stopped => return Ok(()),
            }
        }
        Ok(())
    }
}
