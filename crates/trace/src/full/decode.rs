//! Records of the programs to events.

use std::collections::HashMap;

use whyfaster_core::trace::counts::{CpuLost, Lost};
use whyfaster_core::trace::event::{
    Block, Call, CallNumber, Context, Event, FileKind, Left, NotOurs, Pid, Skipped, Softirq, TaskKind, Tid,
    What,
};

use super::found::Found;
use super::inbox::Inbox;
use super::profile::Profile;
use super::programs::types::{self, file_kind, record_kind};
use super::programs::{Plain, name};
use super::symbols::Symbols;
use super::totals::{amount, totals};
use crate::caller::Caller;

/// In the number of a call: it is of the 32-bit table. As in the header.
const COMPAT: u32 = 0x8000_0000;

/// Flags of a record. As in the header.
const FLAG_SPENT: u8 = 1;
const FLAG_HOLE: u8 = 2;

/// What is known from the records so far, and the events that are waiting to be handed on.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// Where the events go.
    pub(crate) inbox: Inbox,
    /// Names of addresses.
    pub(crate) symbols: Symbols,
    /// Stacks whose frames are not named yet.
    stacks: Vec<(types::stack_record, Vec<u8>)>,
    /// Where samples are counted; `None`: they are streamed.
    pub(crate) profile: Option<Profile>,
    /// Processes of which the last task has ended since this was last asked for.
    pub(crate) ended: Vec<Pid>,
    /// Switches of the tree's tasks that have ended.
    pub(crate) switches: u64,
    /// Lost records that no event has told yet.
    pub(crate) lost_untold: u64,
    /// Records that could not be understood, as counters for which there was no room: the kernel's side and this one do not
    /// fit together.
    pub(crate) lost: Lost,
    /// What each kernel worker executes.
    working: HashMap<Tid, u64>,
    /// Names of functions that workers execute.
    functions: HashMap<u64, String>,
    /// Tasks alive in each process.
    tasks: HashMap<Pid, u64>,
    /// Paths of execs whose call has not been seen to end yet.
    executed: HashMap<Tid, String>,
}

impl Decoder {
    /// What this caller may be shown.
    pub(crate) fn of(caller: &Caller) -> Self {
        let mut decoder = Self::default();
        decoder.symbols.hides_kernel = caller.restricted;
        decoder
    }

    /// Another trace begins: what was counted of the last one is no part of it.
    pub(crate) fn begin_anew(&mut self) {
        self.ended.clear();
        self.tasks.clear();
        self.executed.clear();
        self.symbols.begin_anew();
        (self.switches, self.lost_untold) = (0, 0);
        (self.lost, self.inbox.late) = (Lost::default(), Lost::default());
    }

    /// Takes one record as the kernel sent it.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if self.try_take(bytes).is_none() {
            self.foreign(bytes);
        }
    }

    fn foreign(&mut self, bytes: &[u8]) {
        self.lost.count(&CpuLost { cpu: cpu_of(bytes), map: 1, ..CpuLost::default() });
    }

    /// Takes the record of a task that was there before, and tells who made it and where it waits. All that are taken up
    /// together begin at the same moment: none of them was made by what another one did since.
    pub(crate) fn take_up(&mut self, it: &Found<'_>) {
        self.take(it.record);
        let Some(head) = types::record::read(it.record) else { return };
        self.push(&head, What::Below { task: head.task, parent: it.found.above });
        if let Some((left, block)) = super::found::waits(it.found.process_here, it.found.task_here) {
            self.push(&head, What::Waits { task: head.task, left, block });
        }
    }

    /// Names the frames of the stacks up to `until`, or counts them: it is known what was mapped until then.
    pub(crate) fn name_stacks(&mut self, until: u64) {
        let known = |(record, _): &mut (types::stack_record, Vec<u8>)| record.head.at <= until;
        let stacks: Vec<_> = self.stacks.extract_if(.., known).collect();
        for (record, frames) in stacks {
            if let Some(profile) = self.profile.as_mut() {
                match record.head.detail {
                    0 => profile.take(&record, &frames, &mut self.symbols.images),
                    _ => profile.waits(&record, &frames, &mut self.symbols.images),
                }
                continue;
            }
            let stack = self.symbols.stack(&record, &frames);
            self.push(&record.head, What::Stack(stack));
        }
        self.symbols.images.forget_ended();
    }

    fn try_take(&mut self, bytes: &[u8]) -> Option<()> {
        let head = types::record::read(bytes)?;
        if head.flags & FLAG_HOLE != 0 {
            // Before this record there were others for which there was no room.
            let records = std::mem::take(&mut self.lost_untold);
            self.push(&head, What::Lost { records });
        }
        if head.flags & FLAG_SPENT != 0 {
            self.spent(&head, bytes)?;
        }
        match head.kind {
            record_kind::RECORD_SWITCH => self.push(&head, switch(&head, None)?),
            record_kind::RECORD_BLOCKED => {
                let block = block(&types::blocked_record::read(bytes)?);
                self.push(&head, switch(&head, Some(block))?);
            }
            record_kind::RECORD_WAKE => {
                let context = self.context(&head)?;
                self.profile.iter_mut().for_each(|profile| profile.woken(head.task, head.at));
                self.push(&head, What::Wake { wakee: head.task, waker: head.other, context });
            }
            record_kind::RECORD_QUEUED => {
                self.push(&head, What::Queued { task: head.task, on: low(head.other) });
            }
            record_kind::RECORD_MIGRATE => {
                let (from, to) = (low(head.other >> 16), low(head.other));
                self.push(&head, What::Migrate { task: head.task, from, to });
            }
            record_kind::RECORD_WORK | record_kind::RECORD_WORK_END | record_kind::RECORD_FUNCTION => {
                self.work(&head, bytes)?;
            }
            record_kind::RECORD_CALL => self.call(&head, bytes)?,
            record_kind::RECORD_STACK => {
                let r = types::stack_record::read(bytes)?;
                if head.detail != 0 {
                    self.profile.iter_mut().for_each(|profile| profile.blocks(head.task, head.at));
                }
                self.stacks.push((r, rest::<types::stack_record>(bytes).to_vec()));
            }
            _ => self.process(&head, bytes)?,
        }
        Some(())
    }

    /// Records of forks, execs and ends.
    fn process(&mut self, head: &types::record, bytes: &[u8]) -> Option<()> {
        match head.kind {
            record_kind::RECORD_FORK => self.fork(head, bytes)?,
            record_kind::RECORD_EXEC => self.exec(head, bytes)?,
            record_kind::RECORD_STARTED => {
                let r = types::started_record::read(bytes)?;
                self.profile.iter_mut().for_each(|profile| profile.started(head.task, head.at, r.run));
                let what = What::Started { task: head.task, run_ns: r.run, call_run_ns: amount(r.call_run) };
                self.push(head, what);
            }
            record_kind::RECORD_LIVES_ON => {
                let r = types::lives_on_record::read(bytes)?;
                self.push(head, What::LivesOn { task: head.task, so_far: totals(&r.so_far) });
            }
            record_kind::RECORD_EXEC_FAILED => {
                let r = types::failed_record::read(bytes)?;
                let path = path(rest::<types::failed_record>(bytes), r.path_bytes);
                self.push(head, What::ExecFailed { task: head.task, path, errno: head.other.cast_signed() });
            }
            record_kind::RECORD_ALLOWED => {
                let r = types::allowed_record::read(bytes)?;
                let cpus = words(rest::<types::allowed_record>(bytes), r.words);
                self.push(head, What::Allowed { task: head.task, cpus });
            }
            record_kind::RECORD_NAME => {
                let r = types::name_record::read(bytes)?;
                let kind = task_kind(head.detail)?;
                self.push(
                    head,
                    What::Name { task: head.task, process: r.process, name: name(&r.name), kind },
                );
            }
            record_kind::RECORD_END => self.end(head, bytes)?,
            record_kind::RECORD_SKIPPED => self.skipped(head, bytes)?,
            _ => return None,
        }
        Some(())
    }

    /// What a switch, a wake-up or a fork says of whoever left, woke or forked.
    fn spent(&mut self, head: &types::record, bytes: &[u8]) -> Option<()> {
        let call_run_ns = amount(types::spent_record::read(bytes)?.spent);
        let left = matches!(head.kind, record_kind::RECORD_SWITCH | record_kind::RECORD_BLOCKED);
        let task = if left { head.task } else { head.other };
        self.push(head, What::Spent { task, call_run_ns });
        Some(())
    }

    fn push(&mut self, head: &types::record, what: What) {
        self.inbox.push(Event { at: head.at, cpu: head.cpu, what });
    }

    fn fork(&mut self, head: &types::record, bytes: &[u8]) -> Option<()> {
        let r = types::fork_record::read(bytes)?;
        let allowed = words(rest::<types::fork_record>(bytes), u64::from(r.words));
        *self.tasks.entry(r.process).or_default() += 1;
        self.push(head, What::Fork { parent: head.other, child: head.task, process: r.process, allowed });
        let name = name(&r.name);
        self.push(head, What::Name { task: head.task, process: r.process, name, kind: TaskKind::Tree });
        self.pipes(head, &r.pipes);
        Some(())
    }

    fn exec(&mut self, head: &types::record, bytes: &[u8]) -> Option<()> {
        let r = types::exec_record::read(bytes)?;
        let path = path(rest::<types::exec_record>(bytes), r.path_bytes);
        if let Some(path) = &path {
            self.executed.insert(head.task, path.clone());
        }
        let (former, so_far) = (head.other, totals(&r.so_far));
        let interpreter = name(&r.interpreter);
        let script = (!interpreter.is_empty()).then(|| What::Script {
            task: head.task,
            script: path.clone().unwrap_or_else(|| name(&r.name)),
            interpreter,
        });
        self.push(head, What::Exec { task: head.task, former, name: name(&r.name), path, so_far });
        script.into_iter().for_each(|script| self.push(head, script));
        self.pipes(head, &r.pipes);
        Some(())
    }

    fn pipes(&mut self, head: &types::record, pipes: &types::pipes) {
        let types::pipes { input, output } = *pipes;
        if input != 0 || output != 0 {
            self.push(head, What::Pipes { task: head.task, input, output });
        }
    }

    fn end(&mut self, head: &types::record, bytes: &[u8]) -> Option<()> {
        let r = types::end_record::read(bytes)?;
        self.gone(head.task, r.process, &r.totals);
        let status = (r.alive == 0).then(|| match r.exit_code & 0x7f {
            0 => (r.exit_code >> 8 & 0xff).cast_signed(),
            signal => -signal.cast_signed(),
        });
        let totals = totals(&r.totals);
        self.push(head, What::End { task: head.task, process: r.process, status, totals });
        Some(())
    }

    fn skipped(&mut self, head: &types::record, bytes: &[u8]) -> Option<()> {
        let r = types::skipped_record::read(bytes)?;
        let told = head.other != 0;
        if told {
            self.gone(head.task, r.process, &r.totals);
        }
        let (task, process, name, why) = (head.task, r.process, name(&r.name), not_ours(head.detail)?);
        let totals = told.then(|| totals(&r.totals));
        self.push(head, What::Skipped(Skipped { task, process, name: name.clone(), why, totals }));
        self.push(head, What::Name { task, process, name, kind: TaskKind::Other });
        Some(())
    }

    /// A task is not in the tree any more.
    fn gone(&mut self, task: Tid, process: Pid, totals: &types::totals) {
        self.executed.remove(&task);
        if let Some(alive) = self.tasks.get_mut(&process) {
            // Who calibrated may end late, and is no part of the tree.
            let switches = totals.voluntary.saturating_add(totals.involuntary);
            self.switches = self.switches.saturating_add(switches);
            *alive -= 1;
            if *alive == 0 {
                self.tasks.remove(&process);
                self.ended.push(process);
            }
        }
    }

    fn work(&mut self, head: &types::record, bytes: &[u8]) -> Option<()> {
        match head.kind {
            record_kind::RECORD_FUNCTION => {
                let r = types::function_record::read(bytes)?;
                // The kernel prints the address of what has no name.
                let told = Some(name(&r.name)).filter(|name| !name.is_empty() && !name.starts_with("0x"));
                let told = told.unwrap_or_else(|| self.symbols.unnamed(r.function));
                self.functions.insert(r.function, told);
            }
            record_kind::RECORD_WORK => {
                let r = types::work_record::read(bytes)?;
                self.working.insert(head.task, r.function);
                let function = self.function(r.function);
                self.push(head, What::Work { task: head.task, function });
            }
            _ => {
                self.working.remove(&head.task);
            }
        }
        Some(())
    }

    fn function(&self, address: u64) -> String {
        self.functions.get(&address).cloned().unwrap_or_else(|| self.symbols.unnamed(address))
    }

    fn context(&self, head: &types::record) -> Option<Context> {
        Some(match types::context(u32::from(head.detail)) {
            types::context::CONTEXT_TASK => match self.working.get(&head.other) {
                Some(function) => Context::Work(self.function(*function)),
                None => Context::Task,
            },
            types::context::CONTEXT_SOFTIRQ_BLOCK => Context::Softirq(Softirq::Block),
            types::context::CONTEXT_SOFTIRQ_NET => Context::Softirq(Softirq::Net),
            types::context::CONTEXT_SOFTIRQ_TIMER => Context::Softirq(Softirq::Timer),
            types::context::CONTEXT_SOFTIRQ_OTHER => Context::Softirq(Softirq::Other),
            types::context::CONTEXT_HARDIRQ => Context::Hardirq,
            types::context::CONTEXT_TIMER => Context::Timer,
            types::context::CONTEXT_SENT => Context::Sent,
            _ => return None,
        })
    }

    fn call(&mut self, head: &types::record, bytes: &[u8]) -> Option<()> {
        let r = types::call_record::read(bytes)?;
        let call = call_number(r.call);
        let exec =
            !call.compat && [libc::SYS_execve, libc::SYS_execveat].contains(&libc::c_long::from(call.number));
        // After an exec the old program's memory is gone: the path came with the record of the exec.
        let path = match exec && r.returned != 0 && r.result >= 0 {
            true => self.executed.remove(&head.task),
            false => path(rest::<types::call_record>(bytes), r.path_bytes),
        };
        let what = What::Call(Call {
            task: head.task,
            call,
            began: r.began,
            args: r.args,
            result: (r.returned != 0).then_some(r.result),
            path,
            run_ns: r.run,
            runnable_ns: r.runnable,
        });
        self.push(head, what);
        Some(())
    }
}

/// The CPU of a record.
pub(crate) fn cpu_of(bytes: &[u8]) -> u16 {
    types::record::read(bytes).map_or(0, |head| head.cpu)
}

fn not_ours(why: u8) -> Option<NotOurs> {
    Some(match types::not_ours(u32::from(why)) {
        types::not_ours::OF_OTHER_USER => NotOurs::OtherUser,
        types::not_ours::MORE_CAPABLE => NotOurs::Capabilities,
        types::not_ours::NOT_DUMPABLE => NotOurs::NotDumpable,
        types::not_ours::OF_OTHER_NAMESPACE => NotOurs::UserNamespace,
        _ => return None,
    })
}

/// What follows the fixed part of a record.
fn rest<T>(bytes: &[u8]) -> &[u8] {
    bytes.get(size_of::<T>()..).unwrap_or_default()
}

fn low(number: u32) -> u16 {
    u16::try_from(number & 0xffff).expect("sixteen bits")
}

fn words(bytes: &[u8], count: u64) -> Vec<u64> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    bytes
        .chunks_exact(8)
        .take(count)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("chunks of eight bytes")))
        .collect()
}

fn path(bytes: &[u8], length: u64) -> Option<String> {
    let length = usize::try_from(length).ok().filter(|n| *n > 0)?;
    Some(String::from_utf8_lossy(bytes.get(..length)?).into_owned())
}

fn switch(head: &types::record, block: Option<Block>) -> Option<What> {
    let left = match types::left(u32::from(head.detail)) {
        types::left::LEFT_RUNNABLE => Left::Runnable,
        types::left::LEFT_SLEEPING => Left::Sleeping,
        types::left::LEFT_UNINTERRUPTIBLE => Left::Uninterruptible,
        types::left::LEFT_STOPPED => Left::Stopped,
        types::left::LEFT_DEAD => Left::Dead,
        types::left::LEFT_THROTTLED => Left::Throttled,
        _ => return None,
    };
    Some(What::Switch { prev: head.task, next: head.other, left, block })
}

fn block(r: &types::blocked_record) -> Block {
    Block {
        call: (r.in_call != 0).then(|| call_number(r.call)),
        fault: r.fault != 0,
        io: r.io != 0,
        file: kind_of_file(u32::from(r.file)),
        inode: r.inode,
        bitset: r.bitset != 0,
    }
}

/// What the programs say that a descriptor is.
pub(crate) fn kind_of_file(kind: u32) -> FileKind {
    match file_kind(kind) {
        file_kind::FILE_PIPE => FileKind::Pipe,
        file_kind::FILE_FILE => FileKind::File,
        file_kind::FILE_BLOCK => FileKind::BlockDevice,
        file_kind::FILE_TERMINAL => FileKind::Terminal,
        file_kind::FILE_CHAR => FileKind::CharDevice,
        file_kind::FILE_UNIX => FileKind::UnixSocket,
        file_kind::FILE_SOCKET => FileKind::Socket,
        file_kind::FILE_OTHER => FileKind::Other,
        _ => FileKind::None,
    }
}

/// The number that both sides use.
pub(crate) fn call_number(call: u32) -> CallNumber {
    CallNumber { number: call & !COMPAT, compat: call & COMPAT != 0 }
}

fn task_kind(detail: u8) -> Option<TaskKind> {
    Some(match types::kind(u32::from(detail)) {
        types::kind::KIND_TREE => TaskKind::Tree,
        types::kind::KIND_TOOL => TaskKind::Tool,
        types::kind::KIND_KERNEL => TaskKind::Kernel,
        types::kind::KIND_OTHER => TaskKind::Other,
        _ => return None,
    })
}

#[cfg(test)]
#[path = "decode_fuzz.rs"]
mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_cannot_be_read_counts_as_lost() {
        let mut decoder = Decoder::default();
        for bytes in [&b""[..], b"short", &[0xff; 256]] {
            decoder.take(bytes);
        }
        assert_eq!(decoder.lost.map, 3);
    }
}
