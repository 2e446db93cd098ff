//! How much of it whyfaster may use.

use whyfaster_core::fit::{bytes, grouped};
use whyfaster_core::host::HostFacts;

use super::finding::{Finding, Mark, READ_IT, grade};

/// Processes and open files that a level of 1000 copies takes: pipelines of several processes, one pipe a copy.
const MANY_PROCESSES: u64 = 5000;
const MANY_FILES: u64 = 1100;
/// Below this even a level of ten copies may not run.
const FEW_PROCESSES: u64 = 100;

pub(super) fn memory(facts: &HostFacts) -> Finding {
    let name = "memory";
    let (Some(total), Some(available)) = (facts.memory_total, facts.memory_available) else {
        return Finding::unknown(name, facts, name, READ_IT);
    };
    let limit = facts.memory_limit.as_deref().unwrap_or("of all");
    let value = format!("{} available of {} (by {limit})", bytes(available), bytes(total));
    let all = facts.cgroup_memory.unwrap_or(total).min(total) as f64;
    let used = 1.0 - available as f64 / all.max(1.0);
    let remedy = "levels with many copies will be left out: free memory, or raise the limit of the cgroup";
    Finding::graded(grade(used, 0.9, 0.98), name, value, remedy)
}

pub(super) fn processes(facts: &HostFacts) -> Finding {
    let name = "processes";
    let (Some(left), Some(limit)) = (facts.pids_available, &facts.pids_limit) else {
        return Finding::unknown(name, facts, "limit of processes on the machine", READ_IT);
    };
    let mark = match left {
        left if left < FEW_PROCESSES => Mark::Problem,
        left if left < MANY_PROCESSES => Mark::Note,
        _ => Mark::Ok,
    };
    let value = format!("{} more may be created (by {limit})", grouped(left));
    let remedy = format!("1000 copies of a pipeline may take {}: raise {limit}", grouped(MANY_PROCESSES));
    Finding::graded(mark, name, value, &remedy)
}

pub(super) fn files(facts: &HostFacts) -> Finding {
    let name = "open files";
    let Some(limit) = facts.files_limit else {
        return Finding::unknown(name, facts, "limit of open files", READ_IT);
    };
    let mark = if limit < MANY_FILES { Mark::Note } else { Mark::Ok };
    let remedy = "with --output pipe every copy takes one: raise the hard limit (ulimit -Hn, LimitNOFILE, limits.conf)";
    Finding::graded(mark, name, format!("{} for a process (by ulimit -Hn)", grouped(limit)), remedy)
}

pub(super) fn privilege(facts: &HostFacts) -> Finding {
    let name = "privileges";
    let (Some(level), Some(words)) = (facts.privilege_level, &facts.privilege) else {
        return Finding::unknown(name, facts, "privilege", READ_IT);
    };
    let remedy =
        "compare needs no more; to see causes in the kernel too, do what the line \"trace: full\" says";
    Finding::graded(if level < 2 { Mark::Note } else { Mark::Ok }, name, words, remedy)
}
