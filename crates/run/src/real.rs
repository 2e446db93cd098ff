//! The machine that this program runs on.

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io};

use rustix::fs::{Advice, fadvise};
use whyfaster_core::host::HostFacts;
use whyfaster_core::plan::{Alternative, Output, Plan};
use whyfaster_core::run::Run;
use whyfaster_core::trace::report::Level;
use whyfaster_core::trace::setting::{Price, Setting};
use whyfaster_host as host;
use whyfaster_trace::{Support, foreign};
use whyfaster_words::exit::{Exit, Failure};

use super::client::{Launcher, NoOutcome};
use super::faults;
use super::hooks::{Hook, Hooks};
use super::interrupts::Interrupts;
use super::machine::{Launch, Machine, Streams};
use super::protocol::{Outcome, Request, RunAs};
use super::resolve::{self, Command};
use super::trace::around::{self, Around};
use super::trace::follow::{Follow, Turn};
use super::trace::observer::{Observer, Take};
use super::why::prices;

/// This machine, for the length of one measurement.
#[derive(Debug)]
pub(crate) struct Real<'a> {
    plan: &'a Plan,
    interrupts: &'a Interrupts,
    started: String,
    clock: Instant,
    hooks: Hooks<'a>,
    launcher: RefCell<Launcher>,
}

impl<'a> Real<'a> {
    /// Starts the clock and the launcher.
    pub(crate) fn start(plan: &'a Plan, interrupts: &'a Interrupts) -> Result<Self, Failure> {
        let (started, clock) = (jiff::Timestamp::now().to_string(), Instant::now());
        let show = plan.alternatives.iter().any(|it| it.output == Output::Inherit);
        let run_as = RunAs::of(plan.user.as_ref());
        let hooks = Hooks { shell: &plan.shell, interrupts, show, run_as };
        Ok(Self { plan, interrupts, started, clock, hooks, launcher: RefCell::new(Launcher::start()?) })
    }
}

impl Machine for Real<'_> {
    fn started(&self) -> String {
        self.started.clone()
    }

    fn now_s(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    fn facts(&self) -> HostFacts {
        facts()
    }

    fn interrupts(&self) -> u32 {
        self.interrupts.count()
    }

    fn interrupted_soon(&self) -> bool {
        self.interrupts.soon()
    }

    fn resolve(&self, alternative: &Alternative) -> Result<Command, Failure> {
        resolve::command(alternative, &self.plan.shell, resolve::WITHOUT_N)
    }

    fn hook(&self, hook: Hook, index: usize, run: Option<Run>) -> Result<bool, Failure> {
        let mut launcher = self.launcher.borrow_mut();
        let ended = self.hooks.run(hook, &self.plan.alternatives[index], run, &launcher);
        launcher.spare_what_is_left();
        ended
    }

    fn launch(
        &self,
        _: &Launch,
        request: Request,
        streams: Option<Streams<'_>>,
    ) -> Result<Outcome, NoOutcome> {
        let mut launcher = self.launcher.borrow_mut();
        match streams {
            Some((stdout, stderr)) => launcher.run_into(request, self.interrupts, stdout, stderr),
            None => launcher.run(request, self.interrupts),
        }
    }

    fn drop_caches(&self) -> Result<(), Failure> {
        drop_caches()
    }

    /// Only clean pages go (posix_fadvise(2), POSIX_FADV_DONTNEED), so the file is written out first.
    fn drop_file(&self, path: &Path) -> Result<(), Failure> {
        let drop = || -> io::Result<()> {
            let file = foreign::open(path)?;
            file.sync_data()?;
            Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
        };
        drop().map_err(|error| {
            let message = format!("cannot drop '{}' from the page cache: {error}", path.display());
            Failure::new(Exit::Error, message, "may it be read?")
        })
    }

    fn support(&self) -> Support {
        whyfaster_trace::support()
    }

    fn setting(&self, level: Level) -> Setting {
        around::of_command(&host::Root::real(), level)
    }

    fn around(&self) -> Around {
        Around::begin()
    }

    fn observer(&self, level: Level) -> Result<Observer, Failure> {
        Observer::attached(level, self.launcher.borrow().pid())
    }

    fn observe(
        &self,
        _: &Launch,
        request: Request,
        observer: &mut Observer,
        until_s: Option<f64>,
        take: Take<'_>,
    ) -> Result<Option<Outcome>, NoOutcome> {
        let over = || until_s.is_some_and(|until_s| self.now_s() > until_s);
        let mut turn = |_| if self.interrupted() || over() { Turn::Stop } else { Turn::GoOn(Duration::MAX) };
        let mut launcher = self.launcher.borrow_mut();
        let mut follow = Follow { launcher: &mut launcher, observer, interrupts: self.interrupts };
        let outcome = follow.run(request, None, &mut turn, take)?;
        Ok(outcome.map(|outcome| *outcome))
    }

    fn prices(&self, cpus: &[u32], left_s: f64) -> Result<Vec<Price>, String> {
        prices::measured(cpus, self.plan.seed, self.plan.user.as_ref(), self.interrupts, left_s)
    }

    fn fault_price(&self, bytes: u64, available: Option<u64>) -> Option<Price> {
        faults::price(bytes, available)
    }
}

/// This machine as it is at this moment.
pub(crate) fn facts() -> HostFacts {
    host::facts(&host::Root::real())
}

/// Drops the page cache, dentries and inodes; written pages first, because dirty ones cannot be dropped:
/// Documentation/admin-guide/sysctl/vm.rst, drop_caches.
pub fn drop_caches() -> Result<(), Failure> {
    rustix::fs::sync();
    fs::write("/proc/sys/vm/drop_caches", "3").map_err(|error| {
        Failure::unfit(
            format!("cannot drop caches: /proc/sys/vm/drop_caches: {error}"),
            "run as root, or leave out --drop-caches",
        )
    })
}
