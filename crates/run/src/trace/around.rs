//! What is known beside the stream: throttling and steal over the time of the trace, and how the CPUs belong together.

use whyfaster_core::trace::plan::{Target, TracePlan};
use whyfaster_core::trace::report::Level;
use whyfaster_core::trace::setting::{Facts, Scheduling, Setting, Throttled};
use whyfaster_host as host;
use whyfaster_host::Root;

/// What moves beside a trace.
#[derive(Debug, Default)]
pub(crate) struct Around {
    throttled: Option<(u64, u64)>,
    steal_s: Option<f64>,
}

impl Around {
    pub(crate) fn begin() -> Self {
        let root = Root::real();
        let steal_s = host::MachineCounters::open(&root)
            .ok()
            .and_then(|counters| counters.read())
            .map(|now| now.steal_s);
        Self { throttled: host::throttling(&root), steal_s }
    }

    /// Notes what moved since.
    pub(crate) fn end(self, facts: &mut Facts) {
        self.until(Self::begin(), facts);
    }

    /// Notes what moved between these two readings.
    pub(crate) fn until(self, now: Self, facts: &mut Facts) {
        facts.throttled = self.throttled.zip(now.throttled).map(|(before, after)| Throttled {
            times: after.0.saturating_sub(before.0),
            ns: after.1.saturating_sub(before.1),
        });
        facts.steal_ns =
            self.steal_s.zip(now.steal_s).map(|(before, after)| ((after - before).max(0.0) * 1e9) as u64);
    }
}

/// How the stream is to be read.
pub(crate) fn setting(root: &Root, plan: &TracePlan, level: Level, switches: bool) -> Setting {
    let command = of_command(root, level);
    let scheduling = if switches { Scheduling::SwitchesOnly } else { command.scheduling };
    let running = !matches!(plan.target, Target::Command(_));
    // What runs already may have begun with another set than ours.
    let open = if running { Vec::new() } else { command.open };
    Setting { scheduling, running, open, ..command }
}

/// How the stream of a command that we start is to be read.
pub(crate) fn of_command(root: &Root, level: Level) -> Setting {
    Setting { cores: host::cores(root), open: open(root), ..Setting::of(level) }
}

/// The CPUs that we may use, as a bit set; empty: not known. A command that we start may use them all, unless it is pinned.
fn open(root: &Root) -> Vec<u64> {
    let mut set = Vec::new();
    for cpu in root.process().cpus.unwrap_or_default() {
        let word = cpu as usize / 64;
        set.resize(set.len().max(word + 1), 0_u64);
        set[word] |= 1 << (cpu % 64);
    }
    set
}

/// `CLOCK_MONOTONIC`, nanoseconds.
pub(crate) fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
