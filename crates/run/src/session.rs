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
use super::round::{Series, make};
use super::simulated::Simulated;
use super::why;

/// Estimate of the kernel's memory for one process, without the process's pages: a kernel stack, page tables and descriptors.
const KERNEL_BYTES: u64 = 128 << 10;
/// A block was planned to end within the limit. As machines change their speed, it may take this many times as long before it is cut.
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

/// A measurement that runs.
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
    /// An estimate of the seconds that the explanation will take; 0 where there will be none.
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
        Timed::measure(self, rig, &loads, &alone)?;
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

    /// Runs each alternative concurrently with the baseline. Their CPU times decide at loads that keep all CPUs busy.
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

/// The timed rounds of a measurement.
struct Timed<'a, 'b, 'c> {
    session: &'a mut Session<'b>,
    rig: &'a mut Rig<'c>,
    scheduler: Scheduler,
    /// The loads that were asked for.
    loads: &'a [u32],
    /// Span and work of a copy of each alternative, as its trial run had them.
    alone: &'a [(f64, f64)],
    /// Loads between those, where the answer changes.
    bisected: Vec<u32>,
    block: Block,
}

/// The block of rounds that runs.
#[derive(Default)]
struct Block {
    plan: Round,
    began_s: f64,
    /// The number of batches before it.
    batches: usize,
    /// The arm of the last batch.
    present: Option<Arm>,
    ran: Vec<(Arm, u32)>,
}

impl<'a, 'b, 'c> Timed<'a, 'b, 'c> {
    /// Measures all levels.
    fn measure(
        session: &'a mut Session<'b>,
        rig: &'a mut Rig<'c>,
        loads: &'a [u32],
        alone: &'a [(f64, f64)],
    ) -> Result<(), Failure> {
        let (plan, machine) = (session.plan, session.machine);
        let levels: Vec<(u32, u32)> =
            loads.iter().map(|&load| (load, least_rounds(plan, &session.host, load))).collect();
        let mut scheduler = Scheduler::new(plan, &levels, alone, capacity(plan, &session.host));
        scheduler.keep(why::reserved_s(plan, machine));
        scheduler.keep_for_duets(duets::kept_s(plan, alone));
        scheduler.stretch();
        session.explaining_s = why::expected_s(plan, alone, machine);
        if let Some((needed_s, left_s)) = scheduler.too_little(machine.now_s()) {
            let enough_s = (plan.rounds.max_time_s + 1.1 * (needed_s - left_s)).ceil();
            (session.on)(Event::TooLittleTime { needed_s, left_s, enough_s });
        }
        let (bisected, block) = (Vec::new(), Block::default());
        let mut timed = Self { session, rig, scheduler, loads, alone, bisected, block };
        while let Ran::CannotRun(why) = make(machine, &mut timed)? {
            timed.skip(timed.block.plan.load, why.into());
            timed.scheduler.give_up();
        }
        Ok(())
    }

    /// The next load to look at, where the answer changes between two that were measured.
    fn further_level(&self) -> Option<u32> {
        let plan = self.session.plan;
        let comparisons = 0..plan.alternatives.len().saturating_sub(1);
        comparisons
            .filter(|_| plan.loads == Loads::Auto && self.bisected.len() < MAX_BISECTIONS)
            .find_map(|comparison| bisect(&self.scheduler.verdicts(comparison)))
            .filter(|load| !self.bisected.contains(load))
    }

    fn end_level(&mut self, load: u32, rounds: u32) -> Result<(), Failure> {
        self.session.account(self.rig, load)?;
        self.expect_explanation(load);
        if load == self.loads[0] {
            self.session.duets(self.rig, self.scheduler.kept_s(), self.alone)?;
        }
        (self.session.on)(Event::LevelEnd { load, rounds });
        Ok(())
    }

    /// Nothing will be explained if one copy alone shows no difference.
    fn expect_explanation(&mut self, load: u32) {
        let differs = |comparison| {
            let verdicts = self.scheduler.verdicts(comparison);
            verdicts
                .iter()
                .any(|(at, verdict)| *at == load && matches!(verdict, Verdict::Faster | Verdict::Slower))
        };
        if load == 1 && !(0..self.session.plan.alternatives.len().saturating_sub(1)).any(differs) {
            self.session.explaining_s = 0.0;
        }
    }

    fn skip(&mut self, load: u32, why: Obstacle) {
        (self.session.on)(Event::LevelSkipped { load, why: why.clone() });
        self.session.not_measured.push(NotMeasured::new(Quantity::Level { load }, why));
    }

    /// Checks before the first round of a level that its copies fit into memory, process and file limits. The error is what they do not fit into.
    fn fits(&self, round: &Round) -> Result<(), Obstacle> {
        let (session, trials) = (&*self.session, self.rig.trials());
        // One copy has run already. What it takes is known from above only: processes may share memory that each of them counts.
        if round.number > 0 || round.load <= 1 && !trials.is_empty() {
            return Ok(());
        }
        // Without a trial, what the copies before had at most is known, and how many processes they were is not.
        let seen =
            session.batches.iter().flat_map(|batch| &batch.copies.max_rss_bytes).copied().max().unwrap_or(0);
        let processes = trials.iter().map(|trial| trial.peak_processes).max().unwrap_or(1).max(1);
        let private = trials.iter().map(|trial| trial.peak_private_bytes).max().unwrap_or(seen);
        let together = trials.iter().map(|trial| trial.peak_memory_bytes).max().unwrap_or(seen);
        let piped = (0..session.plan.alternatives.len()).any(|index| self.rig.output(index) == Output::Pipe);
        let need = Need {
            processes,
            memory_bytes: private + u64::from(processes) * KERNEL_BYTES,
            fds: descriptors_of_copy(piped, counted(&session.plan.metrics).len()),
            fixed_processes: 4,
            fixed_memory_bytes: together - private.min(together),
            fixed_fds: OWN_DESCRIPTORS,
        };
        fits(&session.machine.facts(), &need, round.load).map_err(Obstacle::from)
    }

    /// Begins a block; its runs.
    fn begin(&mut self, plan: Round) -> Vec<(Arm, u32)> {
        if plan.number == 0 {
            let (index, of) = plan.level;
            (self.session.on)(Event::LevelBegin { load: plan.load, index: index + 1, of });
        }
        let (began_s, batches) = (self.session.machine.now_s(), self.session.batches.len());
        let order = plan.order.clone();
        self.block = Block { plan, began_s, batches, ..Block::default() };
        order
    }

    /// True if so much more time than was planned has passed in a block that the next batch would end well after a limit that was asked for: commands
    /// may take longer than in their trials.
    fn late(&self) -> bool {
        let (now_s, rounds) = (self.session.machine.now_s(), &self.session.plan.rounds);
        let batches = self.block.ran.len();
        let batch_s = (now_s - self.block.began_s) / batches.max(1) as f64;
        rounds.max_time_hard && batches > 0 && now_s + batch_s > rounds.max_time_s * LATE
    }

    /// True if a run of a block that is late is left out.
    fn left_out(&self, number: u32) -> bool {
        let Block { plan, ran, .. } = &self.block;
        // The runs so far are the beginning of a random order, so they are as exchangeable as all of it. One whole round there is in any
        // case: too few runs for a verdict.
        self.late() && (plan.number > 0 || plan.complete(ran) > 0 || plan.furthest(ran) != Some(number))
    }

    /// Tells that a batch is about to begin.
    fn announce(&mut self, (arm, number): (Arm, u32)) {
        let Block { plan, began_s, .. } = &self.block;
        let left_s = (plan.left_s - (self.session.machine.now_s() - began_s)).max(0.0);
        (self.session.on)(Event::Batch {
            load: plan.load,
            round: number + 1,
            rounds: plan.expected,
            arm,
            batch_s: plan.batch_s,
            left_s: left_s + self.session.explaining_s,
        });
    }

    /// True if the verdicts are due to be computed. A look takes in all rounds so far, and nothing depends on it before the rounds that were asked for
    /// have run. Until then a look comes whenever the rounds have grown by a tenth.
    fn looks(&self) -> bool {
        let (rounds, block) = (&self.session.plan.rounds, &self.block.plan);
        let ran = block.number + block.runs;
        let decides = ran >= rounds.max || !rounds.fixed && ran >= rounds.min;
        decides || ran % (ran / 10).max(1) < block.runs
    }

    /// Computes the verdicts at a load, and reports them.
    fn standing(&mut self, load: u32) -> Standing {
        let Session { plan, host, batches, on, .. } = &mut *self.session;
        let alpha = alpha_per_interval(plan, host, load);
        let judgements = level_verdicts(plan, batches.iter().filter(|batch| batch.load == load), alpha);
        let others = (0..plan.alternatives.len()).filter(|index| *index != plan.baseline);
        let standings = others.zip(&judgements).map(|(alternative, judgement)| SoFar {
            alternative,
            ratio: judgement.ratio,
            verdict: judgement.verdict,
        });
        on(Event::SoFar { load, standings: standings.collect() });
        Standing {
            verdicts: judgements.iter().map(|judgement| judgement.verdict).collect(),
            needed: judgements.iter().filter_map(|judgement| judgement.soonest).max(),
        }
    }
}

/// A round of the loop is a block of the schedule: its rounds run mixed.
impl Series for Timed<'_, '_, '_> {
    type Run = (Arm, u32);
    /// Each batch is kept when it has run, also that of a block that an interrupt cuts.
    type Made = ();

    fn next(&mut self) -> Result<Option<Vec<(Arm, u32)>>, Failure> {
        let machine = self.session.machine;
        while !machine.interrupted() {
            match self.scheduler.next(machine.now_s()) {
                Step::Round(round) => match self.fits(&round) {
                    Ok(()) => return Ok(Some(self.begin(round))),
                    Err(why) => {
                        self.skip(round.load, why);
                        self.scheduler.give_up();
                    }
                },
                Step::Skip { load, why } => self.skip(load, why.into()),
                Step::EndLevel { load, rounds } => self.end_level(load, rounds)?,
                Step::Done => match self.further_level() {
                    Some(load) => {
                        self.bisected.push(load);
                        let (plan, host) = (self.session.plan, &self.session.host);
                        self.scheduler.add_level(load, least_rounds(plan, host, load));
                    }
                    None => return Ok(None),
                },
            }
        }
        Ok(None)
    }

    fn run(&mut self, (arm, number): (Arm, u32)) -> Result<Ran<()>, Failure> {
        if self.left_out(number) {
            return Ok(Ran::Done(()));
        }
        let load = self.block.plan.load;
        if self.block.present.replace(arm) != Some(arm) {
            self.rig.begin_block(arm, load, self.session.on)?;
        }
        self.announce((arm, number));
        let position = u32::try_from(self.block.ran.len()).unwrap_or(u32::MAX);
        let ran = self.rig.batch(arm, (load, number), position)?;
        Ok(ran.map(|batch| {
            self.session.batches.push(batch);
            self.block.ran.push((arm, number));
        }))
    }

    fn keep(&mut self, _: Vec<()>) {
        let standing = self.looks().then(|| self.standing(self.block.plan.load));
        let block = &self.block;
        let ran = Round { runs: block.plan.complete(&block.ran), ..block.plan.clone() };
        let took_s = self.session.machine.now_s() - block.began_s;
        self.scheduler.observe(&ran, &self.session.batches[block.batches..], took_s, standing);
    }
}

#[cfg(test)]
mod tests;
