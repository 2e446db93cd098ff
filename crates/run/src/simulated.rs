//! A machine on which nothing runs. It computes the result of a run from the time that one copy of the command takes alone. Equal copies share the
//! CPUs equally. Only runs move its clock.

use std::cell::{Cell, RefCell};
use std::io;
use std::path::Path;

use whyfaster_core::bounds::{Alone, capacity_on};
use whyfaster_core::host::HostFacts;
use whyfaster_core::plan::{Alternative, Plan, Shell};
use whyfaster_core::run::{Rehearsed, Run};
use whyfaster_core::sample::{Arm, Copies, Io, Orphans};
use whyfaster_core::trace::report::Level;
use whyfaster_core::trace::setting::{Price, Setting};
use whyfaster_core::trace::stored::Stored;
use whyfaster_trace::{Missing, Support};
use whyfaster_words::exit::Failure;

use super::client::NoOutcome;
use super::hooks::Hook;
use super::machine::{Launch, Machine, Streams};
use super::protocol::{Account, Arrivals, Ended, Needs, Outcome, Purpose, Request};
use super::resolve::Command;
use super::trace::around::Around;
use super::trace::observer::{Observer, Take};

/// Nanoseconds of a launch beside its copies. Without them a sum of hundredths of a second may come out below the whole number.
const LAUNCH_NS: u64 = 1;

/// Seconds of one copy in a rehearsal. No block of rounds is then longer than a verdict needs, and no command is so quick that it runs more
/// often for that.
const REHEARSED_S: f64 = 5.0;

/// The behaviour of one copy of a command.
#[derive(Clone, Debug)]
pub(crate) struct Behaviour {
    /// Its span and its work where it runs alone.
    pub(crate) alone: Alone,
    /// Its standard output.
    pub(crate) stdout: Vec<u8>,
    /// Its standard error.
    pub(crate) stderr: Vec<u8>,
    /// Its exit status, or the negative number of the signal that ends it.
    pub(crate) status: i32,
    /// Its peak memory.
    pub(crate) memory_bytes: u64,
    /// Its reads and writes.
    pub(crate) io: Option<Io>,
    /// The stream that an observer gets of it.
    pub(crate) observed: Option<Stored>,
}

impl Behaviour {
    /// Takes so much alone, prints nothing and ends well.
    pub(crate) fn taking(span_s: f64, work_s: f64) -> Self {
        let alone = Alone { span_s, work_s };
        Self {
            alone,
            stdout: Vec::new(),
            stderr: Vec::new(),
            status: 0,
            memory_bytes: 0,
            io: None,
            observed: None,
        }
    }
}

/// The times of one copy beside others.
#[derive(Clone, Copy, Debug)]
struct Taken {
    /// Its alternative.
    index: usize,
    start_s: f64,
    wall_s: f64,
    work_s: f64,
}

/// A simulated machine.
pub(crate) struct Simulated<'a> {
    plan: &'a Plan,
    facts: HostFacts,
    /// One for each alternative.
    behaviours: Vec<Behaviour>,
    /// Seconds that the shell takes before each command and hook.
    shell_s: f64,
    /// Seconds of a hook with this command line.
    pub(crate) hook_s: fn(&str) -> f64,
    /// The factor by which a run is slower than usual, by the alternative and the seconds since the start.
    pub(crate) pace: Box<dyn Fn(usize, f64) -> f64 + 'a>,
    clock_ns: Cell<u64>,
    done: RefCell<Vec<Rehearsed>>,
}

impl<'a> Simulated<'a> {
    /// A machine with these facts, on which the alternatives of a plan behave so.
    pub(crate) fn new(plan: &'a Plan, facts: HostFacts, behaviours: Vec<Behaviour>) -> Self {
        Self {
            plan,
            facts,
            behaviours,
            shell_s: 0.0,
            hook_s: |_| 0.0,
            pace: Box::new(|_, _| 1.0),
            clock_ns: Cell::new(0),
            done: RefCell::default(),
        }
    }

    /// A machine for the list of what a plan runs: all commands are alike.
    pub(crate) fn rehearsing(plan: &'a Plan, facts: HostFacts) -> Self {
        let alike = Behaviour::taking(REHEARSED_S, REHEARSED_S);
        Self::new(plan, facts, vec![alike; plan.alternatives.len()])
    }

    /// A machine on which `sleep 1.5` takes exactly 1.5 seconds, and on which no other command runs.
    pub(crate) fn sleeping(plan: &'a Plan, facts: HostFacts) -> Result<Self, Failure> {
        let behaviour = |it: &Alternative| {
            let span_s = slept(&it.command).ok_or_else(|| {
                Failure::usage(
                    "--debug-mode knows no command but sleep",
                    "Write 'sleep 1.5', or leave --debug-mode out.",
                )
            })?;
            Ok(Behaviour::taking(span_s, 0.0))
        };
        let behaviours = plan.alternatives.iter().map(behaviour).collect::<Result<_, Failure>>()?;
        let shell_s = match &plan.shell {
            Shell::None => 0.0,
            Shell::Command(words) => slept(&words.join(" ")).unwrap_or(0.0),
        };
        let hook_s = |line: &str| slept(line).unwrap_or(0.0);
        Ok(Self { shell_s, hook_s, ..Self::new(plan, facts, behaviours) })
    }

    /// All runs and hooks so far, in their order.
    pub(crate) fn done(&self) -> Vec<Rehearsed> {
        self.done.borrow().clone()
    }

    fn index(&self, arm: Arm) -> usize {
        match arm {
            Arm::Alternative(index) => index,
            Arm::HiddenCopy => self.plan.baseline,
        }
    }

    fn pass(&self, seconds: f64) {
        self.clock_ns.set(self.clock_ns.get() + (seconds * 1e9).round() as u64);
    }

    /// Notes the runs of a launch. Of a duet the baseline stands first.
    fn note(&self, launch: &Launch, arrivals: Arrivals) {
        let load = match arrivals {
            Arrivals::Together { copies } => copies,
            Arrivals::Duet => 1,
            Arrivals::Workers { workers, .. } => workers,
            Arrivals::Rate { .. } => 0,
        };
        let baseline = Arm::Alternative(self.plan.baseline);
        let mut arms: Vec<Arm> =
            [launch.arm].into_iter().chain(launch.beside.map(Arm::Alternative)).collect();
        arms.sort_by_key(|arm| *arm != baseline);
        let run = |arm| Rehearsed::Run { arm, run: launch.run, load };
        self.done.borrow_mut().extend(arms.into_iter().map(run));
    }

    /// The times of each copy of a launch.
    fn copies(&self, launch: &Launch, arrivals: Arrivals) -> Vec<Taken> {
        let index = self.index(launch.arm);
        let alone = self.alone(index);
        let capacity = capacity_on(self.plan.cpus.as_deref(), &self.facts);
        let copy = |start_s, wall_s| Taken { index, start_s, wall_s, work_s: alone.work_s };
        let together_s = |load: u32| alone.makespan_bound_s(f64::from(load), capacity);
        match arrivals {
            Arrivals::Together { copies } => vec![copy(0.0, together_s(copies)); copies as usize],
            Arrivals::Duet => {
                let other = launch.beside.map(|index| (index, self.alone(index)));
                // Each has half of one CPU until the longer one ends.
                let both = [(index, alone)].into_iter().chain(other).map(|(index, alone)| Taken {
                    index,
                    start_s: 0.0,
                    wall_s: alone.makespan_bound_s(2.0, 1.0),
                    work_s: alone.work_s,
                });
                both.collect()
            }
            Arrivals::Workers { workers, duration_s } => {
                let wall_s = together_s(workers).max(1e-6);
                let turns = (duration_s / wall_s).ceil().max(1.0) as u32;
                let turn = |turn| vec![copy(f64::from(turn) * wall_s, wall_s); workers as usize];
                (0..turns).flat_map(turn).collect()
            }
            Arrivals::Rate { rate_per_s, duration_s, .. } => {
                let starts = (rate_per_s * duration_s).max(1.0) as u32;
                // Each copy waits for the work of those before it if the CPUs cannot keep up.
                let nth = |number: u32| {
                    let start_s = f64::from(number) / rate_per_s;
                    let worked_s = alone.work_bound_s(f64::from(number + 1), capacity);
                    copy(start_s, alone.span_s.max(worked_s - start_s))
                };
                (0..starts).map(nth).collect()
            }
        }
    }

    /// The times of a copy that begins now and runs alone.
    fn alone(&self, index: usize) -> Alone {
        let Alone { span_s, work_s } = self.behaviours[index].alone;
        let pace = (self.pace)(index, self.now_s());
        Alone { span_s: span_s * pace, work_s: work_s * pace }
    }
}

impl Machine for Simulated<'_> {
    fn started(&self) -> String {
        "1970-01-01T00:00:00Z".to_owned()
    }

    fn now_s(&self) -> f64 {
        self.clock_ns.get() as f64 / 1e9
    }

    fn facts(&self) -> HostFacts {
        self.facts.clone()
    }

    fn interrupts(&self) -> u32 {
        0
    }

    fn interrupted_soon(&self) -> bool {
        false
    }

    fn resolve(&self, alternative: &Alternative) -> Result<Command, Failure> {
        Ok(Command { program: alternative.command.clone(), argv: vec![alternative.command.clone()] })
    }

    fn hook(&self, hook: Hook, index: usize, run: Option<Run>) -> Result<bool, Failure> {
        let line = hook.of(&self.plan.alternatives[index]).unwrap_or_default().to_owned();
        self.pass(self.shell_s + (self.hook_s)(&line));
        self.done.borrow_mut().push(Rehearsed::Hook { name: hook.name(), line, alternative: index, run });
        Ok(true)
    }

    fn launch(
        &self,
        launch: &Launch,
        request: Request,
        streams: Option<Streams<'_>>,
    ) -> Result<Outcome, NoOutcome> {
        self.note(launch, request.arrivals);
        self.pass(self.shell_s);
        let released_ns = self.clock_ns.get();
        let behaviour = &self.behaviours[self.index(launch.arm)];
        if let Some((stdout, stderr)) = streams {
            stdout.take(&behaviour.stdout)?;
            stderr.take(&behaviour.stderr)?;
        }
        let (mut copies, mut makespan_s) = (Copies::default(), 0.0_f64);
        for Taken { index, start_s, wall_s, work_s } in self.copies(launch, request.arrivals) {
            let late = request.timeout_s.is_some_and(|timeout_s| wall_s > timeout_s);
            let cut_s = request.timeout_s.filter(|_| late).unwrap_or(wall_s);
            let (wall_s, work_s) = (cut_s, if late { work_s * cut_s / wall_s } else { work_s });
            makespan_s = makespan_s.max(start_s + wall_s);
            copies.start_s.push(start_s);
            copies.wall_s.push(wall_s);
            copies.user_s.push(work_s);
            copies.system_s.push(0.0);
            copies.max_rss_bytes.push(self.behaviours[index].memory_bytes);
            copies.voluntary_switches.push(0);
            copies.involuntary_switches.push(0);
            copies.status.push(if late { -libc::SIGKILL } else { self.behaviours[index].status });
            copies.timed_out.push(late);
        }
        self.pass(makespan_s);
        self.clock_ns.set(self.clock_ns.get() + LAUNCH_NS);
        let memory_bytes = behaviour.memory_bytes;
        let needs = Needs { processes: 1, memory_bytes, private_bytes: memory_bytes };
        let tasks = copies.len() as u64;
        Ok(Outcome {
            ended: Ended::Normally,
            released_ns,
            makespan_s,
            copies,
            orphans: Orphans::default(),
            left: Vec::new(),
            daemons: Vec::new(),
            machine_busy_s: None,
            steal_s: None,
            io: behaviour.io,
            needs: (request.purpose == Purpose::Trial).then_some(needs),
            account: (request.purpose == Purpose::Account)
                .then_some(Ok(Account { tasks, ..Account::default() })),
        })
    }

    fn drop_caches(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn drop_file(&self, _: &Path) -> Result<(), Failure> {
        Ok(())
    }

    fn support(&self) -> Support {
        if self.behaviours.iter().all(|it| it.observed.is_some()) {
            return Support::default();
        }
        let missing = Missing {
            what: "a stream of each command".to_owned(),
            why: "this machine is simulated".to_owned(),
            remedy: "measure on a real one".to_owned(),
            command: None,
        };
        Support { missing: vec![missing], ..Support::default() }
    }

    fn setting(&self, level: Level) -> Setting {
        let stored = self.behaviours.iter().find_map(|it| it.observed.as_ref());
        stored.map_or_else(|| Setting::of(level), |stored| stored.setting.clone())
    }

    fn around(&self) -> Around {
        Around::default()
    }

    fn observer(&self, _: Level) -> Result<Observer, Failure> {
        Ok(Observer::Replayed(Box::default()))
    }

    fn observe(
        &self,
        launch: &Launch,
        request: Request,
        observer: &mut Observer,
        _: Option<f64>,
        take: Take<'_>,
    ) -> Result<Option<Outcome>, NoOutcome> {
        let outcome = self.launch(launch, request, None)?;
        if let Some(stored) = &self.behaviours[self.index(launch.arm)].observed {
            stored.each(&mut |event| take(event.clone())).map_err(io::Error::other)?;
            *observer = Observer::Replayed(Box::new(stored.counts.clone()));
        }
        Ok(Some(outcome))
    }

    fn prices(&self, _: &[u32], _: f64) -> Result<Vec<Price>, String> {
        Ok(Vec::new())
    }

    fn fault_price(&self, _: u64, _: Option<u64>) -> Option<Price> {
        None
    }
}

/// The seconds that a command sleeps, if it does nothing else.
fn slept(command: &str) -> Option<f64> {
    let seconds = command.trim().strip_prefix("sleep ")?.trim().parse::<f64>().ok()?;
    (seconds.is_finite() && seconds > 0.0).then_some(seconds)
}
