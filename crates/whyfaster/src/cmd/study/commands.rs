//! A study of commands: they are timed untraced, then those runs are repeated under observation where the report asks for it.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Read};
use std::path::{self, Path, PathBuf};
use std::time::Instant;

use sha2::{Digest, Sha256};
use whyfaster_core::claims::confidence;
use whyfaster_core::missing::{NotMeasured, Quantity};
use whyfaster_core::plan::Plan;
use whyfaster_core::record::Record;
use whyfaster_core::status::Status;
use whyfaster_core::studied::Studied;
use whyfaster_core::trace::event::Event;
use whyfaster_core::trace::occupancy::{CpuRow, Occupancy};
use whyfaster_core::trace::plan::{Target, TracePlan};
use whyfaster_core::trace::report::{Level, TraceReport};
use whyfaster_core::trace::tally::Tally;
use whyfaster_render::trace::flame::{Flame, Flames};
use whyfaster_render::trace::hottest::hottest;
use whyfaster_render::trace::outputs::svg;
use whyfaster_run::drop_caches;
use whyfaster_run::session::Finished;
use whyfaster_run::trace;
use whyfaster_store as store;
use whyfaster_store::OutputFile;
use whyfaster_trace::foreign;
use whyfaster_words::Tell;
use whyfaster_words::exit;
use whyfaster_words::exit::{Exit, Failure, say};

use super::findings::{Findings, placed, traced_run};
use super::report::{Measured, printed};
use crate::cli::args::StudyArgs;
use crate::cli::compare::user_note;
use crate::cli::trace::SAMPLES_PER_S;
use crate::cli::{HostSeed, Outputs};
use crate::cmd::results;
use crate::study::{
    Command, Commands, Generated, Study, Table, TracedRounds, WorkDir, check_needs, hexadecimal,
};

/// Places that are shown of each of both, where the most time went.
const HOTTEST: usize = 5;

/// Takes each event of a stream.
pub type Sink<'a> = &'a mut dyn FnMut(&Event);

/// What measures.
pub struct Machine<'a> {
    /// Times a plan untraced; copies run in the working directory.
    pub time: &'a mut dyn FnMut(&Plan) -> anyhow::Result<Finished>,
    /// Runs one command under observation.
    pub trace: &'a mut dyn FnMut(&TracePlan, Sink<'_>) -> Result<trace::Observed, Failure>,
    /// All has been observed.
    pub done: &'a mut dyn FnMut(),
    /// What the machine and its user allow.
    pub here: &'a HostSeed,
}

impl std::fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("here", &self.here).finish_non_exhaustive()
    }
}

/// Runs the study. What is to be printed goes to `out`, whatever becomes of the rest.
pub fn run(
    study: &Study,
    commands: &Commands,
    args: &StudyArgs,
    outputs: &Outputs,
    machine: &mut Machine<'_>,
    out: &mut Vec<u8>,
) -> anyhow::Result<Exit> {
    let path = env::var_os("PATH").unwrap_or_default();
    check_needs(&format!("study {}", study.name), &study.needs, &path)?;
    let cpus = machine.here.cpus_allowed.clone().unwrap_or_default();
    let size = commands.size(args.quick, args.full);
    let (there, left_out) = commands.fitting(size.amount, &path, &cpus, &env::current_exe()?);
    let input_seed = commands.input.as_ref().map(|input| args.seed.unwrap_or(input.seed));
    let plan = plan(study, commands, &there, args, input_seed, machine.here)?;
    let graphs = args
        .flamegraphs
        .as_deref()
        .map(|directory| graphs(directory, drawn(commands, &there)))
        .transpose()?;

    let input = commands.input.as_ref().zip(input_seed);
    let input = input.map(|(input, seed)| (&input.file, input.generator.generate(seed, size.amount)));
    let made = input.iter().map(|(file, made)| (file.as_str(), made.text.as_str()));
    let files: Vec<(&str, &str)> = study.files.iter().copied().chain(made).collect();
    let dir = WorkDir::make(&study.name, commands.place, &files)?;
    let entered = dir.enter()?;
    let Finished { mut record, failure } = (machine.time)(&plan)?;
    record.study = Some(study.name.clone());
    // Should the file fail, the report is still printed. What the traces say comes into it when they are over.
    let save = |record: &Record| -> anyhow::Result<()> {
        outputs.record.as_ref().map_or(Ok(()), |file| Ok(file.write(&store::record_bytes(record)?)?))
    };
    let saved = save(&record);
    if let (None, Some((_, input))) = (&failure, &input) {
        check_work(study, &there, &record, dir.path(), input)?;
    }
    let observed = Studied { left_out, file_system: dir.file_system(), ..Studied::default() };
    let mut tracer = Tracer { commands, plan: &plan, cpus, graphs, machine, observed, interrupted: false };
    if failure.is_none() && record.status == Status::Complete {
        tracer.trace(&there, size.traced)?;
    }
    let interrupted = tracer.interrupted || record.status == Status::Interrupted;
    let observed = tracer.observed;
    drop((entered, dir));
    (machine.done)();
    let found = Findings::of_commands(study, commands, &record, &observed);
    let printing = printed(study, &found, Measured::Record(&record), outputs);
    record.studied = Some(observed);
    let saved = saved.and_then(|()| save(&record));
    if outputs.json || !record.batches.is_empty() {
        *out = printing?;
        super::page::write(
            study,
            &found,
            Measured::Record(&record),
            &outputs.pages,
            &results::look(outputs),
        )?;
        results::kept("study", store::record_bytes(&record), outputs)?;
    }
    let saved = saved.map_or_else(|error| exit::report(Err(error)), |()| Exit::Ok);
    match failure {
        // An interrupt goes before all other ends.
        _ if interrupted => Ok(Exit::Interrupted),
        Some(failure) => Err(failure.into()),
        None => Ok(saved),
    }
}

/// What is timed: the study's plan with what the options change. Its comparisons leave to the steps of the claims what those need of the error.
fn plan(
    study: &Study,
    commands: &Commands,
    there: &[Command],
    args: &StudyArgs,
    input_seed: Option<u64>,
    here: &HostSeed,
) -> Result<Plan, Failure> {
    let size = commands.size(args.quick, args.full);
    let mut plan = commands.plan(there, size, args.seed.unwrap_or(here.seed), input_seed);
    if let Some(seconds) = args.max_time {
        (plan.rounds.max_time_s, plan.rounds.max_time_hard) = (seconds, true);
    }
    if let Some(loads) = &args.load {
        plan.loads = loads.clone();
    }
    plan.confidence = confidence(&study.claims, &plan);
    plan.drop_caches = commands.drop_caches && here.euid == 0;
    let user = here.user(args.user.as_root)?;
    user_note(&user).iter().for_each(|note| say(&format!("note: {note}")));
    plan.user = Some(user);
    plan.explain = args.why.plan()?;
    Ok(plan)
}

/// Returns the digest of a file that a command made. It reads part by part, because the file may be larger than the memory.
fn digest(file: &Path) -> io::Result<String> {
    let (mut file, mut digest, mut part) = (foreign::open(file)?, Sha256::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            bytes => digest.update(&part[..bytes]),
        }
    }
}

/// The receipt: the input says what the output must be, so that all commands doing the same wrong thing is found.
fn check_work(
    study: &Study,
    commands: &[Command],
    record: &Record,
    directory: &Path,
    input: &Generated,
) -> Result<(), Failure> {
    let expected = &input.expected_sha256;
    for (index, command) in commands.iter().enumerate() {
        let trial = record.trials.iter().find(|trial| trial.alternative == index);
        let digest = match &command.output {
            Some(file) if record.status == Status::Complete => digest(&directory.join(file))
                .map(Some)
                .map_err(|error| format!("its output cannot be read: {error}")),
            // Nobody compared what goes nowhere: some of these commands print less.
            _ if !record.plan.check_output => Ok(None),
            _ => Ok(trial.and_then(|trial| trial.stdout_sha256.clone())),
        };
        let wrong = match digest {
            Ok(Some(digest)) if digest != *expected => {
                format!("SHA-256 of its output is {digest}, {expected} was expected")
            }
            Ok(_) => continue,
            Err(why) => why,
        };
        let message = format!("{} of study {} did not do its work: {wrong}", command.name, study.name);
        let programs: Vec<&str> = study.needs.iter().map(|need| need.program.as_str()).collect();
        let install: Vec<&str> = study.needs.iter().map(|need| need.install.as_str()).collect();
        let hint = format!(
            "look at the {} that is first on the search path; {}",
            programs.join(" and the "),
            install.join("; ")
        );
        return Err(Failure::new(Exit::CommandFailed, message, hint));
    }
    Ok(())
}

/// Traces the commands, and looks who runs where if the report is to say so. Their times come from the untraced runs.
struct Tracer<'a, 'm> {
    commands: &'a Commands,
    plan: &'a Plan,
    /// CPUs that the commands may use.
    cpus: Vec<u32>,
    /// Where flame graphs go.
    graphs: Option<BTreeMap<String, OutputFile>>,
    machine: &'a mut Machine<'m>,
    observed: Studied,
    interrupted: bool,
}

impl Tracer<'_, '_> {
    fn trace(&mut self, there: &[Command], rounds: Option<TracedRounds>) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut done = 0;
        let limit_s = self.plan.rounds.max_time_s;
        let another = |done| rounds.is_some_and(|rounds| rounds.another(done, began.elapsed(), limit_s));
        while another(done) {
            for command in there {
                self.count(command)?;
                if self.interrupted {
                    return Ok(());
                }
            }
            done += 1;
        }
        if !self.may_draw() {
            return Ok(());
        }
        for command in drawn(self.commands, there) {
            self.draw(command)?;
        }
        Ok(())
    }

    /// Traces a command and counts; Ctrl-C leaves nothing of it.
    fn count(&mut self, command: &Command) -> anyhow::Result<()> {
        let mut occupancy = Occupancy::default();
        let plan = self.wanted(command);
        let Some(report) = self.once(&plan, &mut |event| occupancy.push(event))? else { return Ok(()) };
        let mut tally = Tally::of(&report, &command.process);
        if self.commands.shows_cpus() {
            let cpus = occupancy.rows();
            // Below the full level only the tree is seen, and nobody beside it.
            let seen = report.level == Level::Full && !cpus.is_empty();
            tally.strangers = seen.then(|| occupancy.strangers(&self.cpus));
            let cpus = if seen { cpus } else { Vec::new() };
            self.place(command, &report, &tally, cpus);
        }
        self.missing(command, &report);
        self.observed.tallies.push((command.name.clone(), tally));
        Ok(())
    }

    fn wanted(&self, command: &Command) -> TracePlan {
        TracePlan {
            shell: self.plan.shell.clone(),
            user: self.plan.user.clone(),
            output: command.output(),
            untraced_runs: 0,
            ..TracePlan::new(Target::Command(command.command.clone()))
        }
    }

    /// Observes a command. `None`: a signal ended it, and half a trace has half the processes, which would be taken for all.
    fn once(&mut self, plan: &TracePlan, sink: Sink<'_>) -> anyhow::Result<Option<TraceReport>> {
        if self.plan.drop_caches {
            drop_caches()?;
        }
        let observed = (self.machine.trace)(plan, sink)?;
        match observed.failure {
            Some(failure) => Err(failure.into()),
            None if observed.record.status == Status::Interrupted => {
                self.interrupted = true;
                Ok(None)
            }
            None => Ok(Some(observed.record.report.told())),
        }
    }

    /// What the trace could not see.
    fn missing(&mut self, command: &Command, report: &TraceReport) {
        // The untraced runs of the comparison stand for those of a trace.
        let overhead = [Quantity::CalibratedOverhead, Quantity::MeasuredOverhead];
        let of_traces =
            |it: &&NotMeasured| it.quantity.as_ref().is_none_or(|quantity| !overhead.contains(quantity));
        let lost = report.lost.any().then(|| {
            NotMeasured::told(format!("some of {}", command.name), "records were lost, see 'whyfaster trace'")
        });
        for missing in report.not_measured.iter().filter(of_traces).cloned().chain(lost) {
            if !self.observed.missing.contains(&missing) {
                self.observed.missing.push(missing);
            }
        }
    }

    /// Tables of who ran where show the first run, the others have their numbers.
    fn place(&mut self, command: &Command, report: &TraceReport, tally: &Tally, cpus: Vec<CpuRow>) {
        match self.observed.placed.iter_mut().find(|it| it.alternative == command.name) {
            Some(placed) => placed.runs.push(traced_run(tally, &cpus)),
            None => self.observed.placed.push(placed(&command.name, report, tally, cpus)),
        }
    }

    /// Whether stacks are wanted and can be seen. Where files are asked for, they are written and say why they are empty.
    fn may_draw(&self) -> bool {
        let full = self.observed.placed.iter().any(|it| it.report.level == Level::Full);
        self.graphs.is_some() || (self.commands.shows(Table::Stacks) && full)
    }

    /// Runs a command once more while its stacks are taken. That costs time, so such a run decides no claim.
    fn draw(&mut self, command: &Command) -> anyhow::Result<()> {
        let mut plan = self.wanted(command);
        (plan.samples_per_s, plan.blocking_stacks) = (Some(SAMPLES_PER_S), true);
        let mut flame = Flame::new(SAMPLES_PER_S);
        let report = self.once(&plan, &mut |event| flame.push(event))?;
        if report.is_none() {
            return Ok(());
        }
        let flames = flame.finish();
        let file = self.graphs.as_ref().and_then(|graphs| graphs.get(&command.name));
        let file = file.map(|file| write(&flames, file, command)).transpose()?;
        if let Some(placed) = self.observed.placed.iter_mut().find(|it| it.alternative == command.name) {
            (placed.flamegraph, placed.hottest) = (file, hottest(&flames, HOTTEST));
        }
        Ok(())
    }
}

/// The commands whose stacks are taken.
fn drawn<'a>(commands: &Commands, there: &'a [Command]) -> impl Iterator<Item = &'a Command> {
    let pair = commands.pair();
    let pair = [pair.baseline, pair.alternative].map(str::to_owned);
    there.iter().filter(move |command| pair.contains(&command.name))
}

/// The files of the flame graphs by command, in a directory that is made for them.
fn graphs<'a>(
    directory: &Path,
    commands: impl Iterator<Item = &'a Command>,
) -> Result<BTreeMap<String, OutputFile>, Failure> {
    let made = path::absolute(directory).and_then(|whole| fs::create_dir_all(&whole).map(|()| whole));
    let directory = made.map_err(|error| {
        let message = format!("--flamegraphs: {} cannot be made: {error}", directory.display());
        Failure::new(Exit::Error, message, "give a directory that you may write to")
    })?;
    let held = |command: &Command| {
        let file = OutputFile::new(directory.join(format!("{}.svg", command.name)));
        file.hold().map(|()| (command.name.clone(), file))
    };
    commands.map(held).collect()
}

fn write(flames: &Flames, file: &OutputFile, command: &Command) -> anyhow::Result<PathBuf> {
    file.write(&svg(flames, &command.command)?)?;
    Ok(file.to_path_buf())
}
