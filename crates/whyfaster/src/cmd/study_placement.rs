//! `whyfaster study placement`: awk on a file that the kernel decrypts, timed untraced, then traced to see who ran where.

use std::env;
use std::path::{Path, PathBuf};

use whyfaster_core::plan::Plan;
use whyfaster_core::record::Status;
use whyfaster_core::trace::event::Event;
use whyfaster_core::trace::occupancy::Occupancy;
use whyfaster_core::trace::plan::TracePlan;
use whyfaster_core::trace::report::TraceReport;

use super::results;
use super::study::absolute;
use super::study_traced::{Onlooker, Traced, bears_on, completed, ended, print, timed, traced};
use crate::cli::args::StudyArgs;
use crate::cli::trace::SAMPLES_PER_S;
use crate::cli::{HostSeed, Outputs};
use crate::exit::{Exit, Failure};
use crate::render::screen::screen;
use crate::render::trace::flame::Flame;
use crate::run::drop_caches;
use crate::run::interrupts::Interrupts;
use crate::store;
use crate::study::{
    self, FileSystem, Generated, Placed, PlacementFindings, SAMPLE, TracedCommand, WorkDir, check_outputs,
};

/// Traced runs of every command: one alone may have met a busy machine.
const TRACED_RUNS: usize = 3;

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
    let graphs = args.flamegraphs.as_deref().map(absolute).transpose()?;
    let mut outputs = outputs.clone();
    outputs.record = outputs.record.as_deref().map(absolute).transpose()?;
    let interrupts = Interrupts::take_over()?;
    let input = study::table(args.seed.unwrap_or(study::SEED), size.amount);
    let mut dir = WorkDir::make(&study.name)?;
    let file_system = FileSystem::make(dir.path(), input.text.len() as u64);
    dir.work_in(file_system.path());
    fill(&dir, &input, &plan)?;
    let entered = dir.enter()?;
    let (record, failure) = timed(&study.name, &plan, &outputs, &interrupts)?;
    let runs = if args.quick { 1 } else { TRACED_RUNS };
    let whole = failure.is_none() && record.status == Status::Complete;
    let mut eyes = Eyes::new(&plan, graphs, |name| study.worth_a_look(name));
    let traced = match whole {
        true => {
            check_outputs(&commands, dir.path(), &input.expected_sha256)?;
            traced(&commands, (size.amount, runs), &plan, &interrupts, &mut eyes)?
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

/// Looks where each command runs.
struct Eyes<'a> {
    drop_caches: bool,
    /// Where flame graphs go, and of which commands they are drawn.
    graphs: Option<PathBuf>,
    drawn: Box<dyn Fn(&str) -> bool + 'a>,
    occupancy: Occupancy,
    flame: Option<Flame>,
    placed: Vec<Placed>,
}

impl<'a> Eyes<'a> {
    fn new(plan: &Plan, graphs: Option<PathBuf>, drawn: impl Fn(&str) -> bool + 'a) -> Self {
        Self {
            drop_caches: plan.drop_caches,
            graphs,
            drawn: Box::new(drawn),
            occupancy: Occupancy::default(),
            flame: None,
            placed: Vec::new(),
        }
    }

    fn looked_at(&self, name: &str) -> bool {
        self.placed.iter().any(|it| it.alternative == name)
    }
}

impl Onlooker for Eyes<'_> {
    fn before(&mut self, command: &TracedCommand, plan: &mut TracePlan) -> Result<(), Failure> {
        self.occupancy = Occupancy::default();
        self.flame = None;
        if self.graphs.is_some() && !self.looked_at(&command.name) && (self.drawn)(&command.name) {
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

    fn after(&mut self, command: &TracedCommand, report: &TraceReport) -> anyhow::Result<()> {
        // The claims take all runs, the tables show the first.
        if self.looked_at(&command.name) {
            return Ok(());
        }
        let flamegraph = match (self.flame.take(), &self.graphs) {
            (Some(flame), Some(directory)) => Some(draw(flame, directory, command)?),
            _ => None,
        };
        self.placed.push(Placed {
            alternative: command.name.clone(),
            wall_s: report.wall_s,
            cpus: self.occupancy.rows(),
            behind: report.cpu_sharers.clone(),
            avoidable_s: report.avoidable_wait_s,
            avoidable_longest_s: report.avoidable_longest_s,
            avoidable: report.avoidable,
            report: report.clone(),
            flamegraph,
        });
        Ok(())
    }
}

fn draw(flame: Flame, directory: &Path, command: &TracedCommand) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(directory).map_err(|error| {
        let message = format!("--flamegraphs: {} cannot be made: {error}", directory.display());
        Failure::new(Exit::Error, message, "give a directory that you may write to")
    })?;
    let path = directory.join(format!("{}.svg", command.name));
    store::write_atomic(&path, &flame.finish().svg(&command.command)?)?;
    Ok(path)
}
