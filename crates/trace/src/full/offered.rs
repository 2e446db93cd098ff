//! What not every kernel offers to the programs, and what they do not see without it.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Enum, Typedef};

use super::programs::OpenWhyfasterSkel;
use crate::obstacles::{Missing, missing};
use crate::wanted::Wanted;

/// Tracepoints that are of use only together.
struct Offer {
    tracepoints: &'static [&'static str],
    /// What is not seen without them.
    left_out: &'static str,
    /// Whether this trace uses them.
    used: fn(&Wanted) -> bool,
    /// Says whether the programs on them are loaded.
    load: fn(&mut OpenWhyfasterSkel<'_>, bool),
}

const OFFERS: [Offer; 7] = [
    Offer {
        tracepoints: &["sched_migrate_task"],
        left_out: "moves of tasks from one CPU to another",
        used: |wanted| wanted.scheduling,
        load: |open, there| open.progs.task_migrates.set_autoload(there),
    },
    Offer {
        tracepoints: &["task_rename"],
        left_out: "names that tasks give themselves",
        used: |_| true,
        load: |open, there| open.progs.task_renamed.set_autoload(there),
    },
    Offer {
        tracepoints: &["softirq_entry", "softirq_exit"],
        left_out: "wake-ups by soft interrupts, which are counted as wake-ups by the task that was interrupted",
        used: |wanted| wanted.scheduling,
        load: |open, there| {
            open.progs.softirq_begins.set_autoload(there);
            open.progs.softirq_ends.set_autoload(there);
        },
    },
    Offer {
        tracepoints: &["irq_handler_entry", "irq_handler_exit"],
        left_out: "wake-ups by devices, which are counted as wake-ups by the task that was interrupted",
        used: |wanted| wanted.scheduling,
        load: |open, there| {
            open.progs.hardirq_begins.set_autoload(there);
            open.progs.hardirq_ends.set_autoload(there);
        },
    },
    Offer {
        tracepoints: &["hrtimer_expire_entry", "hrtimer_expire_exit"],
        left_out: "wake-ups by timers, which are counted as wake-ups by the task that was interrupted",
        used: |wanted| wanted.scheduling,
        load: |open, there| {
            open.progs.timer_begins.set_autoload(there);
            open.progs.timer_ends.set_autoload(there);
        },
    },
    Offer {
        tracepoints: &["workqueue_execute_start", "workqueue_execute_end"],
        left_out: "functions that kernel workers execute",
        used: |wanted| wanted.scheduling,
        load: |open, there| {
            open.progs.work_begins.set_autoload(there);
            open.progs.work_ends.set_autoload(there);
        },
    },
    Offer {
        tracepoints: &["signal_generate"],
        left_out: "the moment at which Ctrl-C reached the command",
        used: |_| true,
        load: |open, there| open.progs.signal_sent.set_autoload(there),
    },
];

/// The running kernel's types; `None`: unreadable, and loading the programs will say so.
pub(crate) fn types() -> Option<Btf<'static>> {
    Btf::from_vmlinux().ok()
}

/// The first of these tracepoints that this kernel lacks.
fn lacking(types: Option<&Btf<'_>>, offer: &Offer) -> Option<&'static str> {
    let there = |name: &str, types: &Btf<'_>| {
        types.type_by_name::<Typedef<'_>>(&format!("btf_trace_{name}")).is_some()
    };
    offer.tracepoints.iter().copied().find(|name| types.is_some_and(|types| !there(name, types)))
}

/// Has the programs loaded that this trace uses and that this kernel has tracepoints for.
pub(super) fn choose(open: &mut OpenWhyfasterSkel<'_>, types: Option<&Btf<'_>>, wanted: &Wanted) {
    for offer in &OFFERS {
        (offer.load)(open, (offer.used)(wanted) && lacking(types, offer).is_none());
    }
}

/// What such a trace does not see because this kernel lacks a tracepoint or a helper.
pub(crate) fn left_out(types: Option<&Btf<'_>>, wanted: &Wanted) -> Vec<Missing> {
    let mut left_out = Vec::new();
    for offer in OFFERS.iter().filter(|offer| (offer.used)(wanted)) {
        if let Some(name) = lacking(types, offer) {
            let why = format!("this kernel has no tracepoint {name}");
            left_out.push(missing(offer.left_out, why, "another kernel may have it"));
        }
    }
    if types.is_some_and(|types| !has_task_registers(types)) {
        let why = "this kernel does not tell programs the registers of a task (bpf_task_pt_regs, Linux 5.15)";
        left_out.push(missing("calls that were in progress when --follow began", why, "Linux 5.15 or newer"));
    }
    left_out
}

/// Whether programs may ask for the registers of another task. The kernel's own list of helpers tells.
fn has_task_registers(types: &Btf<'_>) -> bool {
    let helpers = types.type_by_name::<Enum<'_>>("bpf_func_id");
    helpers.is_none_or(|helpers| {
        helpers.iter().any(|helper| helper.name.is_some_and(|name| name == "BPF_FUNC_task_pt_regs"))
    })
}
