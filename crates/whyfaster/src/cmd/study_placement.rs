//! `whyfaster study placement`: awk on a file that the kernel decrypts, timed untraced, then traced to see who ran where.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use whyfaster_core::event::Status;
use whyfaster_core::plan::Plan;
use whyfaster_core::trace::claims::Tally;
use whyfaster_core::trace::event::Event;
use whyfaster_core::trace::occupancy::Occupancy;
use whyfaster_core::trace::plan::TracePlan;
use whyfaster_core::trace::report::{Level, TraceReport};

use super::results;
use super::study_traced::{Onlooker, Traced, TracedRounds, bears_on, completed, ended, print, timed, traced};
use crate::cli::args::StudyArgs;
use crate::cli::trace::SAMPLES_PER_S;
use crate::cli::{HostSeed, Outputs};
use crate::exit::{Exit, Failure};
use crate::render::screen::screen;
use crate::render::trace::flame::{Flame, Flames};
use crate::render::trace::hottest::hottest;
use crate::run::drop_caches;
use crate::run::interrupts::Interrupts;
use crate::store;
use crate::study::{
    self, FileSystem, Generated, Placed, PlacementFindings, SAMPLE, TracedCommand, TracedRun, WorkDir,
    check_outputs,
};

/// Traced rounds, at least and with `--quick`: one alone may have met a busy machine.
const TRACED: u32 = 3;
const TRACED_QUICK: u32 = 2;
/// And at most: that many have an interval that leaves the outermost ones out.
const TRACED_MOST: u32 = 9;
/// Traced rounds go on for this part of the time that the untraced ones may take.
const PART: f64 = 0.25;
/// Places that are shown of each of both, where the most time went.
const HOTTEST: usize = 5;

/// Runs the study.
pub(super) fn run(args: &StudyArgs, outputs: &Outputs) -> anyhow::Result<Exit> {
    let study = study::placement()?;
    bears_on(args, &study.name)?;
    let here = HostSeed::here();
    let cpus = here.cpus_allowed.clone().unwrap_or_default();
    let program = env::current_exe()?;
    let (commands, left_out) = study.fitting(&env::var_os("PATH").unwrap_or_default(), &cpus, &program)?;
    let size = study.size(args.quick);
    let mut plan = study.plan(&commands, size, args.seed.unwrap_or(here.seed), args.max_time);
    completed(&mut plan, args, &here)?;
    // What awk prints goes to files or nowhere, and some print nothing: the files are checked below.
    plan.check_output = false;
    plan.drop_caches = here.euid == 0;
    // The study works in another directory: a relative name means the one that whyfaster was started in.
    let graphs = args.flamegraphs.as_deref().map(results::absolute).transpose()?;
    let mut outputs = outputs.clone();
    outputs.record = outputs.record.as_deref().map(results::absolute).transpose()?;
    let interrupts = Interrupts::take_over()?;
    let input = study::table(args.seed.unwrap_or(study::SEED), size.amount);
    let mut dir = WorkDir::make(&study.name)?;
    let file_system = FileSystem::make(dir.path(), input.text.len() as u64);
    dir.work_in(file_system.path());
    fill(&dir, &input, &plan)?;
    let entered = dir.enter()?;
    let (record, failure) = timed(&study.name, &plan, &outputs, &interrupts)?;
    let rounds = TracedRounds {
        least: if args.quick { TRACED_QUICK } else { TRACED },
        most: TRACED_MOST,
        within: Duration::from_secs_f64((plan.rounds.max_time_s * PART).max(0.0)),
    };
    let whole = failure.is_none() && record.status == Status::Complete;
    let mut eyes = Eyes::new(&plan, graphs, cpus);
    let traced = match whole {
        true => {
            check_outputs(&commands, dir.path(), &input.expected_sha256)?;
            let mut all = traced(&commands, (size.amount, rounds), &plan, &interrupts, &mut eyes)?;
            if !all.interrupted && eyes.may_draw() {
                let both: Vec<TracedCommand> =
                    commands.iter().filter(|it| study.worth_a_look(&it.name)).cloned().collect();
                eyes.drawing = true;
                let drawn = traced(&both, (size.amount, TracedRounds::ONCE), &plan, &interrupts, &mut eyes)?;
                all.interrupted = drawn.interrupted;
            }
            all
        }
        false => Traced::default(),
    };
    drop(entered);
    let common = study.findings(&record, &traced.tallies, left_out, traced.missing);
    let found =
        PlacementFindings { common, file_system, caches_dropped: plan.drop_caches, placed: eyes.placed };
    print(&record, &found, &outputs, || {
        let look = results::look(&outputs);
        format!("{}\n{}", study.placement_text(&found, &look), screen(&record, &look))
    })?;
    ended(&record, failure, traced.interrupted)
}

/// Writes the input, for whoever the commands run as.
fn fill(dir: &WorkDir, input: &Generated, plan: &Plan) -> Result<(), Failure> {
    dir.fill([(SAMPLE, input.text.as_str())])?;
    plan.user.as_ref().map_or(Ok(()), |user| dir.give_to(user))
}

/// Looks where each command runs, and in runs of their own at the stacks of both that the question is about: taking
/// stacks costs time, and decides no claim.
struct Eyes {
    drop_caches: bool,
    /// Where flame graphs go.
    graphs: Option<PathBuf>,
    /// CPUs that the commands may use.
    cpus: Vec<u32>,
    drawing: bool,
    occupancy: Occupancy,
    flame: Option<Flame>,
    placed: Vec<Placed>,
}

impl Eyes {
    fn new(plan: &Plan, graphs: Option<PathBuf>, cpus: Vec<u32>) -> Self {
        Self {
            drop_caches: plan.drop_caches,
            graphs,
            cpus,
            drawing: false,
            occupancy: Occupancy::default(),
            flame: None,
            placed: Vec::new(),
        }
    }

    /// Whether stacks can be seen. Where files are asked for, they are written and say why they are empty.
    fn may_draw(&self) -> bool {
        self.graphs.is_some() || self.placed.iter().any(|it| it.report.level == Level::Full)
    }

    fn drawn(&mut self, flame: Flame, command: &TracedCommand) -> anyhow::Result<()> {
        let flames = flame.finish();
        let file = match &self.graphs {
            Some(directory) => Some(draw(&flames, directory, command)?),
            None => None,
        };
        if let Some(placed) = self.placed.iter_mut().find(|it| it.alternative == command.name) {
            (placed.flamegraph, placed.hottest) = (file, hottest(&flames.folded(), HOTTEST));
        }
        Ok(())
    }
}

impl Onlooker for Eyes {
    fn before(&mut self, _: &TracedCommand, plan: &mut TracePlan) -> Result<(), Failure> {
        self.occupancy = Occupancy::default();
        self.flame = None;
        if self.drawing {
            (plan.samples_per_s, plan.blocking_stacks) = (Some(SAMPLES_PER_S), true);
            self.flame = Some(Flame::new(SAMPLES_PER_S));
        }
        if self.drop_caches { drop_caches() } else { Ok(()) }
    }

    fn event(&mut self, event: &Event) {
        self.occupancy.push(event);
        if let Some(flame) = &mut self.flame {
            flame.push(event);
        }
    }

    fn after(
        &mut self,
        command: &TracedCommand,
        report: &TraceReport,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        if let Some(flame) = self.flame.take() {
            return self.drawn(flame, command);
        }
        let cpus = self.occupancy.rows();
        // Below the full level only the tree is seen, and nobody beside it.
        let seen = report.level == Level::Full && !cpus.is_empty();
        tally.strangers = seen.then(|| self.occupancy.strangers(&self.cpus));
        let run = TracedRun::of(tally, if seen { &cpus } else { &[] });
        // Tables of who ran where show the first run, the others have their numbers.
        match self.placed.iter_mut().find(|it| it.alternative == command.name) {
            Some(placed) => placed.runs.push(run),
            None => self.placed.push(Placed {
                alternative: command.name.clone(),
                wall_s: report.wall_s,
                runs: vec![run],
                cpus,
                behind: report.cpu_sharers.clone(),
                avoidable_s: report.avoidable_wait_s,
                avoidable_longest_s: report.avoidable_longest_s,
                avoidable: report.avoidable,
                report: report.clone(),
                hottest: Vec::new(),
                flamegraph: None,
            }),
        }
        Ok(())
    }
}

fn draw(flames: &Flames, directory: &Path, command: &TracedCommand) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(directory).map_err(|error| {
        let message = format!("--flamegraphs: {} cannot be made: {error}", directory.display());
        Failure::new(Exit::Error, message, "give a directory that you may write to")
    })?;
    let path = directory.join(format!("{}.svg", command.name));
    store::write_atomic(&path, &flames.svg(&command.command)?)?;
    Ok(path)
}
