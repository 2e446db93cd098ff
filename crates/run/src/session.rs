//! A measurement from its plan to its record: trials, warm-up, rounds, accounts, hooks around all of them.

use whyfaster_core::analysis::{
    Analysis, Measured, alpha_per_interval, analyse, least_rounds, level_verdicts,
};
use whyfaster_core::bounds::capacity;
use whyfaster_core::crossover::{MAX_BISECTIONS, bisect, ladder};
use whyfaster_core::event::{Event, SoFar};
use whyfaster_core::fit::{Need, fits};
use whyfaster_core::host::{Host, HostFacts};
use whyfaster_core::missing::{NotMeasured, Obstacle, Quantity};
use whyfaster_core::plan::{Loads, Mode, Output, Plan, Rounds};
use whyfaster_core::record::{Record, SCHEMA};
use whyfaster_core::run::Rehearsed;
use whyfaster_core::sample::{Arm, Batch, Duet, SchedAccount, Trial};
use whyfaster_core::schedule::{Round, Scheduler, Standing, Step};
use whyfaster_core::status::Status;
use whyfaster_core::verdict::Verdict;
use whyfaster_core::warning::Place;
use whyfaster_core::why::Why;
use whyfaster_words::exit::Failure;

use super::duets;
use super::interrupts::Interrupts;
use super::launcher::{OWN_DESCRIPTORS, descriptors_of_copy};
use super::machine::Machine;
use super::real::{Real, facts};
use super::rig::{Ran, Rig, counted};
use super::simulated::Simulated;
use super::why;

/// Memory that the kernel needs for a process beside its pages, about: its stack, its page tables, its descriptors.
const KERNEL_BYTES: u64 = 128 << 10;
/// A block was planned to end within the limit: it may take so many times as long before it is cut, as machines change their speed.
const LATE: f64 = 1.1;

/// Seconds that no measurement takes.
const UNLIMITED_S: f64 = 1e9;

/// The result of a measurement: always a record, and the failure that ended it early, if any.
#[derive(Debug)]
pub struct Finished {
    /// All that was measured.
    pub record: Record,
    /// The reason for an early end.
    pub failure: Option<Failure>,
}

/// Lists the runs of a plan in their order, up to the least number of rounds. Runs that depend on results are not in it. The second list has the
/// measurements that the plan would leave out.
pub fn rehearse(plan: &Plan) -> Result<(Vec<Rehearsed>, Vec<NotMeasured>), Failure> {
    let rounds = Rounds { max_time_s: UNLIMITED_S, max_time_hard: false, ..plan.rounds };
    let timeout_s = plan.timeout_s.map(|_| UNLIMITED_S);
    let unlimited = Plan { rounds, timeout_s, explain: None, ..plan.clone() };
    let machine = Simulated::rehearsing(&unlimited, facts());
    let Finished { record, failure } = measure_on(&machine, &unlimited, &mut |_| {});
    failure.map_or_else(|| Ok((machine.done(), record.skipped)), Err)
}

/// Runs a plan of commands that sleep on a machine where they take exactly as long as they say.
pub fn pretend(plan: &Plan) -> Result<Finished, Failure> {
    let machine = HostFacts { machine: facts().machine, ..HostFacts::default() };
    Ok(measure_on(&Simulated::sleeping(plan, machine)?, plan, &mut |_| {}))
}

/// Runs a plan. Events tell how far it is; they come between batches only.
pub fn measure(plan: &Plan, interrupts: &Interrupts, on: &mut dyn FnMut(Event)) -> Result<Finished, Failure> {
    Ok(measure_on(&Real::start(plan, interrupts)?, plan, on))
}

/// Runs a plan on a machine.
fn measure_on(machine: &dyn Machine, plan: &Plan, on: &mut dyn FnMut(Event)) -> Finished {
    let mut session = Session::new(plan, machine, on);
    let ended = session.run();
    (session.on)(Event::Finished);
    session.host.after = machine.facts().since(&session.host.before);
    let took_s = machine.now_s();
    let (status, failure) = match ended {
        Ok(()) if machine.interrupted() => (Status::Interrupted, None),
        Ok(()) => (Status::Complete, None),
        Err(failure) if machine.interrupted() => (Status::Interrupted, Some(failure)),
        Err(failure) => (Status::Failed, Some(failure)),
    };
    let analysis = session.analysis();
    let Session { host, trials, batches, accounts, duets, not_measured, why, .. } = session;
    let record = Record {
        schema: SCHEMA.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: machine.started(),
        took_s,
        status,
        study: None,
        studied: None,
        plan: plan.clone(),
        host,
        trials,
        batches,
        sched_accounts: accounts,
        duets,
        skipped: not_measured,
        analysis,
        why,
    };
    Finished { record, failure }
}

struct Session<'a> {
    plan: &'a Plan,
    machine: &'a dyn Machine,
    on: &'a mut dyn FnMut(Event),
    host: Host,
    trials: Vec<Trial>,
    batches: Vec<Batch>,
    accounts: Vec<SchedAccount>,
    duets: Vec<Duet>,
    not_measured: Vec<NotMeasured>,
    why: Why,
    /// Seconds that the explanation will about take; 0 where there will be none.
    explaining_s: f64,
}

impl<'a> Session<'a> {
    fn new(plan: &'a Plan, machine: &'a dyn Machine, on: &'a mut dyn FnMut(Event)) -> Self {
        Self {
            plan,
            machine,
            on,
            host: Host { before: machine.facts(), ..Host::default() },
            trials: Vec::new(),
            batches: Vec::new(),
            accounts: Vec::new(),
            duets: Vec::new(),
            not_measured: Vec::new(),
            why: Why::default(),
            explaining_s: 0.0,
        }
    }

    fn now_s(&self) -> f64 {
        self.machine.now_s()
    }

    fn run(&mut self) -> Result<(), Failure> {
        let mut rig = Rig::new(self.plan, self.machine);
        let ended = self.run_on(&mut rig);
        self.trials = rig.trials().to_vec();
        // Also after a failure or an interrupt: what setup made is to be taken away.
        let cleaned = rig.clean_up(self.on);
        ended.and(cleaned.map(drop))
    }

    fn run_on(&mut self, rig: &mut Rig<'_>) -> Result<(), Failure> {
        rig.set_up(self.on)?;
        if self.machine.interrupted() {
            // The set-up may have been cut short: not every command is known.
            return Ok(());
        }
        rig.try_all(self.on)?;
        let loads = match (&self.plan.loads, self.plan.mode) {
            // The rate is the load; the number of copies is what comes of it.
            (_, Mode::Open { .. }) => vec![0],
            (Loads::Fixed(loads), _) => loads.clone(),
            (Loads::Auto, _) => ladder(capacity(self.plan, &self.host)),
        };
        // Without trials nothing is known beforehand; the first round tells.
        let mut alone = vec![(0.0, 0.0); self.plan.alternatives.len()];
        for trial in rig.trials() {
            alone[trial.alternative] = (trial.wall_s, trial.cpu_s);
        }
        if self.machine.interrupted() {
            return Ok(());
        }
        self.warm_up(rig, loads[0])?;
        self.levels(rig, &loads, &alone)?;
        self.trials = rig.trials().to_vec();
        self.explain(rig);
        Ok(())
    }

    /// The untimed runs before the first round. Of a time that was asked for they get half of what is left at most.
    fn warm_up(&mut self, rig: &mut Rig<'_>, load: u32) -> Result<(), Failure> {
        let (rounds, wanted, began_s) = (&self.plan.rounds, self.plan.warmup, self.now_s());
        let until_s = began_s + (rounds.max_time_s - began_s).max(0.0) / 2.0;
        let machine = self.machine;
        let goes_on = || !rounds.max_time_hard || machine.now_s() < until_s;
        let done = rig.warm_up(load, self.on, goes_on)?;
        if done < wanted && !self.machine.interrupted() {
            self.not_measured.push(NotMeasured::new(Quantity::WarmUp, Obstacle::WarmUpCut { done, wanted }));
        }
        Ok(())
    }

    /// The analysis of the samples so far.
    fn analysis(&self) -> Analysis {
        analyse(Measured {
            plan: self.plan,
            host: &self.host,
            trials: &self.trials,
            batches: &self.batches,
            accounts: &self.accounts,
            duets: &self.duets,
            not_measured: &self.not_measured,
        })
    }

    /// After the verdicts: why they are so.
    fn explain(&mut self, rig: &mut Rig<'_>) {
        let analysis = self.analysis();
        let of = ((self.plan, &self.host), (&self.batches[..], &analysis));
        let so_far = why::SoFar::by_now(of.0, of.1, self.machine);
        self.why = why::explain(rig, &so_far, self.on);
    }

    /// Measures all levels.
    fn levels(&mut self, rig: &mut Rig<'_>, loads: &[u32], alone: &[(f64, f64)]) -> Result<(), Failure> {
        let levels: Vec<(u32, u32)> = loads.iter().map(|&load| (load, self.least(load))).collect();
        let mut scheduler = Scheduler::new(self.plan, &levels, alone, capacity(self.plan, &self.host));
        scheduler.keep(why::reserved_s(self.plan, self.machine));
        scheduler.keep_for_duets(duets::kept_s(self.plan, alone));
        scheduler.stretch();
        self.explaining_s = why::expected_s(self.plan, alone, self.machine);
        if let Some((needed_s, left_s)) = scheduler.too_little(self.now_s()) {
            let enough_s = (self.plan.rounds.max_time_s + 1.1 * (needed_s - left_s)).ceil();
            (self.on)(Event::TooLittleTime { needed_s, left_s, enough_s });
        }
        let mut bisected = Vec::new();
        loop {
            if self.machine.interrupted() {
                return Ok(());
            }
            match scheduler.next(self.now_s()) {
                Step::Round(round) if round.number == 0 && !self.fits(rig, &round) => scheduler.give_up(),
                Step::Round(round) => self.round(rig, &mut scheduler, &round)?,
                Step::Skip { load, why } => self.skip(load, why.into()),
                Step::EndLevel { load, rounds } => {
                    self.account(rig, load)?;
                    self.expect_explanation(&scheduler, load);
                    if load == loads[0] {
                        self.duets(rig, scheduler.kept_s(), alone)?;
                    }
                    (self.on)(Event::LevelEnd { load, rounds });
                }
                Step::Done => match self
                    .further_level(&scheduler)
                    .filter(|load| bisected.len() < MAX_BISECTIONS && !bisected.contains(load))
                {
                    Some(load) => {
                        bisected.push(load);
                        scheduler.add_level(load, self.least(load));
                    }
                    None => return Ok(()),
                },
            }
        }
    }

    /// Rounds without which there is no verdict at this load.
    fn least(&self, load: u32) -> u32 {
        least_rounds(self.plan, &self.host, load)
    }

    /// The next load to look at, where the answer changes between two that were measured.
    fn further_level(&self, scheduler: &Scheduler) -> Option<u32> {
        let auto = self.plan.loads == Loads::Auto;
        let comparisons = 0..self.plan.alternatives.len().saturating_sub(1);
        comparisons.filter(|_| auto).find_map(|comparison| bisect(&scheduler.verdicts(comparison)))
    }

    /// Nothing will be explained if one copy alone shows no difference.
    fn expect_explanation(&mut self, scheduler: &Scheduler, load: u32) {
        let differs = |comparison| {
            let verdicts = scheduler.verdicts(comparison);
            verdicts
                .iter()
                .any(|(at, verdict)| *at == load && matches!(verdict, Verdict::Faster | Verdict::Slower))
        };
        if load == 1 && !(0..self.plan.alternatives.len().saturating_sub(1)).any(differs) {
            self.explaining_s = 0.0;
        }
    }

    fn skip(&mut self, load: u32, why: Obstacle) {
        (self.on)(Event::LevelSkipped { load, why: why.clone() });
        self.not_measured.push(NotMeasured::new(Quantity::Level { load }, why));
    }

    /// Checks before the first round of a level that its copies fit into memory, process and file limits.
    fn fits(&mut self, rig: &Rig<'_>, round: &Round) -> bool {
        let trials = rig.trials();
        // One copy has run already. What it takes is known from above only: processes may share memory that each of them counts.
        if round.load <= 1 && !trials.is_empty() {
            return true;
        }
        // Without a trial, what the copies before had at most is known, and how many processes they were is not.
        let seen =
            self.batches.iter().flat_map(|batch| &batch.copies.max_rss_bytes).copied().max().unwrap_or(0);
        let processes = trials.iter().map(|trial| trial.peak_processes).max().unwrap_or(1).max(1);
        let private = trials.iter().map(|trial| trial.peak_private_bytes).max().unwrap_or(seen);
        let together = trials.iter().map(|trial| trial.peak_memory_bytes).max().unwrap_or(seen);
        let piped = (0..self.plan.alternatives.len()).any(|index| rig.output(index) == Output::Pipe);
        let need = Need {
            processes,
            memory_bytes: private + u64::from(processes) * KERNEL_BYTES,
            fds: descriptors_of_copy(piped, counted(&self.plan.metrics).len()),
            fixed_processes: 4,
            fixed_memory_bytes: together - private.min(together),
            fixed_fds: OWN_DESCRIPTORS,
        };
        match fits(&self.machine.facts(), &need, round.load) {
            Ok(()) => true,
            Err(why) => {
                self.skip(round.load, why.into());
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
        let mut present = None;
        let mut ran: Vec<(Arm, u32)> = Vec::new();
        for &(arm, number) in &round.order {
            let position = u32::try_from(ran.len()).unwrap_or(u32::MAX);
            if self.late(position, began_s) {
                // The runs so far are the beginning of a random order, so they are as exchangeable as all of it.
                if round.number > 0 || round.complete(&ran) > 0 {
                    break;
                }
                // One whole round there is in any case: too few runs for a verdict.
                if round.furthest(&ran) != Some(number) {
                    continue;
                }
            }
            if present.replace(arm) != Some(arm) {
                rig.begin_block(arm, round.load, self.on)?;
            }
            self.announce(round, (arm, number), began_s);
            match rig.batch(arm, (round.load, number), position)? {
                Ran::Done(batch) => self.batches.push(batch),
                Ran::Stopped => return Ok(()),
                Ran::CannotRun(why) => {
                    self.skip(round.load, why.into());
                    scheduler.give_up();
                    return Ok(());
                }
            }
            ran.push((arm, number));
        }
        let standing = self.looks(round).then(|| self.standing(round.load));
        let round = &Round { runs: round.complete(&ran), ..round.clone() };
        scheduler.observe(round, &self.batches[first..], self.now_s() - began_s, standing);
        Ok(())
    }

    /// True if the verdicts are due to be computed. A look takes in all rounds so far, and nothing depends on it before the rounds that were asked for
    /// have run. Until then a look comes whenever the rounds have grown by a tenth.
    fn looks(&self, round: &Round) -> bool {
        let (rounds, ran) = (&self.plan.rounds, round.number + round.runs);
        let decides = ran >= rounds.max || !rounds.fixed && ran >= rounds.min;
        decides || ran % (ran / 10).max(1) < round.runs
    }

    /// Whether so much more time than was planned has passed in a block that the next batch would end well after a limit that was asked
    /// for: commands may take longer than in their trials.
    fn late(&self, batches: u32, began_s: f64) -> bool {
        let (now_s, rounds) = (self.now_s(), &self.plan.rounds);
        let batch_s = (now_s - began_s) / f64::from(batches.max(1));
        rounds.max_time_hard && batches > 0 && now_s + batch_s > rounds.max_time_s * LATE
    }

    /// Tells that a batch is about to begin.
    fn announce(&mut self, round: &Round, (arm, number): (Arm, u32), began_s: f64) {
        let now_s = self.now_s();
        let left_s = (round.left_s - (now_s - began_s)).max(0.0) + self.explaining_s;
        (self.on)(Event::Batch {
            load: round.load,
            round: number + 1,
            rounds: round.expected,
            arm,
            batch_s: round.batch_s,
            left_s,
        });
    }

    /// Computes the verdicts at a load, and reports them.
    fn standing(&mut self, load: u32) -> Standing {
        let alpha = alpha_per_interval(self.plan, &self.host, load);
        let judgements =
            level_verdicts(self.plan, self.batches.iter().filter(|batch| batch.load == load), alpha);
        let others = (0..self.plan.alternatives.len()).filter(|index| *index != self.plan.baseline);
        let standings = others.zip(&judgements).map(|(alternative, judgement)| SoFar {
            alternative,
            ratio: judgement.ratio,
            verdict: judgement.verdict,
        });
        (self.on)(Event::SoFar { load, standings: standings.collect() });
        Standing {
            verdicts: judgements.iter().map(|judgement| judgement.verdict).collect(),
            needed: judgements.iter().filter_map(|judgement| judgement.soonest).max(),
        }
    }

    /// Every alternative at once with the baseline: its CPU time decides the levels above, where all CPUs are busy.
    fn duets(&mut self, rig: &mut Rig<'_>, kept_s: f64, trials: &[(f64, f64)]) -> Result<(), Failure> {
        let left_s = self.plan.rounds.max_time_s - kept_s - self.now_s();
        let cpus = self.plan.cpus.as_ref().or(self.host.before.cpus_allowed.as_ref());
        let cpus = cpus.cloned().unwrap_or_default();
        let found = duets::run(rig, &cpus, (&self.batches, trials, left_s), self.on)?;
        self.duets = found.ran;
        self.not_measured.extend(found.not_measured);
        Ok(())
    }

    /// One traced batch of every alternative, untimed, after a level's rounds. It is left out when time is short.
    fn account(&mut self, rig: &mut Rig<'_>, load: u32) -> Result<(), Failure> {
        // A traced command must not be left running.
        if !self.plan.extra_runs() || self.plan.mode != Mode::Batch || self.plan.keep_daemons {
            return Ok(());
        }
        let of_level: Vec<&Batch> = self.batches.iter().filter(|batch| batch.load == load).collect();
        let Some(last) = of_level.iter().map(|batch| batch.round).max() else { return Ok(()) };
        let round_s: f64 =
            of_level.iter().filter(|batch| batch.round == last).map(|batch| batch.makespan_s).sum();
        let rounds = self.plan.rounds;
        let delay = Quantity::RunQueueDelay { at: Place::of(self.plan.mode, vec![load]) };
        if rounds.max_time_hard && self.now_s() + 1.5 * round_s > rounds.max_time_s {
            self.not_measured.push(NotMeasured::new(delay, Obstacle::NoTimeForTrace));
            return Ok(());
        }
        for alternative in 0..self.plan.alternatives.len() {
            if self.machine.interrupted() {
                return Ok(());
            }
            (self.on)(Event::Account { load, alternative });
            match rig.account(alternative, load)? {
                Ran::Done(account) => self.accounts.push(account),
                Ran::CannotRun(why) => {
                    self.not_measured.push(NotMeasured::new(delay, why));
                    return Ok(());
                }
                Ran::Stopped => return Ok(()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
