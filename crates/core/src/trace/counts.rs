//! What a tracer counts in the kernel instead of streaming it, and what it lost.

use serde::{Deserialize, Serialize};

use super::command::CommandName;
use super::event::{CallNumber, FileKind, Pid};
use super::report::Sampled;
use super::stacks::Stacks;

/// What was counted over one trace, beside the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// System calls by who made them, which, and on what kind of file.
    pub calls: Vec<CallCell>,
    /// Processes that came and went, as the kernel's programs counted them; they miss none when the ring is full.
    #[serde(default)]
    pub lives: Lives,
    /// Samples of the clock, if they were to be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// The whole stacks of these samples, and of those within calls. Not in a file by run: a record adds them up by alternative.
    #[serde(skip)]
    pub stacks: Stacks,
    /// What did not arrive.
    pub lost: Lost,
    /// What the observing itself took.
    pub own: OwnCost,
}

/// Processes that came and went; `None` is what this level does not count apart from the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Lives {
    /// Processes made, the first one not among them.
    pub forks: Option<u64>,
    /// Threads made.
    pub threads: Option<u64>,
    /// Programs begun.
    pub execs: Option<u64>,
    /// Execs that failed.
    pub failed_execs: Option<u64>,
    /// Processes that ended.
    pub exits: Option<u64>,
    /// System calls that their tasks entered.
    pub calls_entered: Option<u64>,
    /// System calls that returned to them.
    pub calls_returned: Option<u64>,
    /// Waits for a CPU that began while the quota of the task's cgroup, or of one above it, was used up.
    #[serde(default)]
    pub throttled: Option<u64>,
    /// When the last task so far ended, nanoseconds of the stream's clock.
    pub last_end_ns: Option<u64>,
}

/// All calls of one kind that one command or process made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallCell {
    /// Who made them.
    pub by: CallGroup,
    /// Which call.
    pub call: CallNumber,
    /// What the descriptor is, of calls that transfer data; else [`FileKind::None`].
    #[serde(default)]
    pub file: FileKind,
    /// The path of the file, of calls that transfer data of one on which calls took long. Absent: of all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How often it was entered.
    pub entered: u64,
    /// How often it did not return (`exit_group`, and what a signal ended).
    pub not_returned: u64,
    /// Of those entered: so many were in progress when their task was taken up. Their times count from then on.
    #[serde(default)]
    pub begun_before: u64,
    /// Of those that did not return: so many were in progress when observing ended. Their times count up to then; the
    /// others, which ended their task, have none.
    #[serde(default)]
    pub going_on: u64,
    /// Calls that failed, by error number.
    pub errors: Vec<(i32, u64)>,
    /// Wall time within it, nanoseconds; `None` when only counting.
    pub total_ns: Option<u64>,
    /// The longest of them, nanoseconds.
    pub max_ns: Option<u64>,
    /// Of the wall time: waiting for a CPU, nanoseconds.
    pub runnable_ns: Option<u64>,
    /// Of the wall time: blocked, nanoseconds.
    pub blocked_ns: Option<u64>,
    /// Wall time within the ones that failed, nanoseconds.
    #[serde(default)]
    pub failed_ns: Option<u64>,
    /// Bytes that it moved, of calls that transfer data.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// How many lasted from 2^i up to 2^(i+1) nanoseconds.
    pub histogram: Vec<u64>,
}

/// Whose calls are counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallGroup {
    /// The kernel's name of the program (`comm`).
    pub name: String,
    /// Made after a fork and before an exec, so still with the parent's program.
    pub forked: bool,
    /// Made by a child of the program that goes on without an exec.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subshell: bool,
    /// The process, when calls are counted by process.
    pub process: Option<Pid>,
}

impl CallGroup {
    /// The command that made them.
    pub fn command(&self) -> CommandName {
        match self.subshell {
            true => CommandName::subshell(&self.name),
            false => CommandName::new(&self.name, self.forked),
        }
    }
}

/// What did not arrive, by class, summed over the CPUs. All zero is a complete trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Lost {
    /// Records for which the ring had no room.
    pub ring: u64,
    /// Counters for which a map had no room; and calls of processes that seemed to be over, which count for no command.
    pub map: u64,
    /// Tasks for which no storage was to be had, so that they were not followed.
    pub storage: u64,
    /// Paths that could not be read (paged out, or too long).
    pub string: u64,
    /// Stacks that could not be taken.
    pub stack: u64,
    /// Runs of a program that the kernel skipped because it was already running on that CPU.
    pub recursion: u64,
    /// Intervals without an end, or an end without a beginning.
    pub unfinished: u64,
    /// Switches that the tracepoint did not show; the next record of the CPU mended the account.
    pub gaps: u64,
    /// Records that came after later ones had been handed on, so that they have a later time than their own.
    pub late: u64,
    /// The same on each CPU where something was lost, by its number. `recursion` is not among it: the kernel tells skipped
    /// runs by program, as a sum over the CPUs. What no CPU could be told for (at levels below the full one, say) is in the
    /// sums alone. Records of the first version have sums of five classes here, which are not read.
    #[serde(deserialize_with = "told_by_class")]
    pub by_cpu: Vec<CpuLost>,
}

/// What did not arrive on one CPU, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuLost {
    /// Number of the CPU.
    pub cpu: u16,
    /// Records for which the ring had no room.
    pub ring: u64,
    /// Counters for which a map had no room.
    pub map: u64,
    /// Tasks for which no storage was to be had.
    pub storage: u64,
    /// Paths that could not be read.
    pub string: u64,
    /// Stacks that could not be taken.
    pub stack: u64,
    /// Intervals without an end, or an end without a beginning, of tasks that were last seen on this CPU.
    pub unfinished: u64,
    /// Switches that the tracepoint did not show.
    pub gaps: u64,
    /// Records that came too late for their own time.
    pub late: u64,
}

/// What the observing itself took, on the CPUs where it happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnCost {
    /// Nanoseconds that a traced system call became dearer, calibrated just before.
    pub call_ns: Option<f64>,
    /// Nanoseconds that a switch with its wake-up became dearer, calibrated just before.
    pub switch_ns: Option<f64>,
    /// Nanoseconds that making, running and ending a process became dearer beside its calls and switches, calibrated just
    /// before.
    #[serde(default)]
    pub process_ns: Option<f64>,
    /// Nanoseconds that an exec which fails became dearer beside its call (its path is read and told), calibrated just before.
    #[serde(default)]
    pub failed_exec_ns: Option<f64>,
    /// Nanoseconds of a system call that does nothing, without observing, measured at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_call_ns: Option<f64>,
    /// Switches of tasks of the tree that were observed.
    pub switches: u64,
    /// CPU time of whyfaster itself while the command ran, nanoseconds.
    pub tool_ns: u64,
    /// Samples that the clock took of the tree; absent: 0.
    #[serde(default, skip_serializing_if = "nothing")]
    pub samples: u64,
    /// How long taking them was, nanoseconds.
    #[serde(default, skip_serializing_if = "nothing")]
    pub sampling_ns: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "so that serde can call it")]
fn nothing(number: &u64) -> bool {
    *number == 0
}

/// A CPU of a stored record: what was lost there by class or, in records of the first version, a sum.
#[derive(Deserialize)]
#[serde(untagged)]
enum Told {
    Classes(CpuLost),
    Sum(#[expect(dead_code, reason = "of which class it is cannot be told")] u64),
}

fn told_by_class<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<CpuLost>, D::Error> {
    let told = Vec::<Told>::deserialize(from)?;
    let classes = |told| match told {
        Told::Classes(classes) => Some(classes),
        Told::Sum(_) => None,
    };
    Ok(told.into_iter().filter_map(classes).collect())
}

impl Lost {
    /// What was lost on a CPU, to be added to.
    pub fn on(&mut self, cpu: u16) -> &mut CpuLost {
        let place = match self.by_cpu.binary_search_by_key(&cpu, |it| it.cpu) {
            Ok(known) => known,
            Err(new) => {
                self.by_cpu.insert(new, CpuLost { cpu, ..CpuLost::default() });
                new
            }
        };
        &mut self.by_cpu[place]
    }

    /// Counts what was lost on a CPU: there, and in the sums.
    pub fn count(&mut self, more: &CpuLost) {
        let CpuLost { cpu, ring, map, storage, string, stack, unfinished, gaps, late } = *more;
        self.ring += ring;
        self.map += map;
        self.storage += storage;
        self.string += string;
        self.stack += stack;
        self.unfinished += unfinished;
        self.gaps += gaps;
        self.late += late;
        let on = self.on(cpu);
        on.ring += ring;
        on.map += map;
        on.storage += storage;
        on.string += string;
        on.stack += stack;
        on.unfinished += unfinished;
        on.gaps += gaps;
        on.late += late;
    }

    /// Leaves out the CPUs on which nothing was lost.
    pub fn only_cpus_with_losses(&mut self) {
        self.by_cpu.retain(|it| *it != CpuLost { cpu: it.cpu, ..CpuLost::default() });
    }

    /// Records, counters or tasks that are missing, so that counts and times are wrong. A gap was mended, an unfinished interval is
    /// labelled, and a path or a stack that could not be read is a name that is missing.
    pub fn records(&self) -> u64 {
        self.ring + self.map + self.storage + self.recursion + self.late
    }

    /// Whether any are.
    pub fn any(&self) -> bool {
        self.records() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_of_a_cpu_stand_in_order_and_only_where_there_are_some() {
        let mut lost = Lost::default();
        for cpu in [3, 0, 3, 1] {
            lost.on(cpu).ring += 1;
        }
        lost.on(2).map += 0;
        lost.only_cpus_with_losses();
        let rings: Vec<(u16, u64)> = lost.by_cpu.iter().map(|it| (it.cpu, it.ring)).collect();
        assert_eq!(rings, [(0, 1), (1, 1), (3, 2)]);
    }

    #[test]
    fn sums_by_cpu_of_old_records_are_read_and_left_out() {
        let old: Lost = serde_json::from_str(r#"{"ring": 7, "by_cpu": [3, 4]}"#).expect("an old record");
        assert_eq!(old, Lost { ring: 7, ..Lost::default() });
        let mut lost = Lost { gaps: 2, ..Lost::default() };
        lost.on(1).gaps = 2;
        let again = serde_json::to_string(&lost).and_then(|text| serde_json::from_str::<Lost>(&text));
        assert_eq!(again.expect("what was written is read"), lost);
    }
}
