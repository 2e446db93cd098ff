//! Every system call, as ptrace stops show them: two stops a call, so everything is slower, and the times hold that.

use std::collections::HashMap;

use whyfaster_core::trace::counts::{CallCell, CallGroup};
use whyfaster_core::trace::event::{Call, CallNumber, FileKind, Tid};

use super::stop::CallStop;
use super::{memory, proc};
use crate::full::tables;
use crate::wanted::Wanted;

/// Calls that a program begins another with.
const EXECS: [u32; 2] = [libc::SYS_execve as u32, libc::SYS_execveat as u32];

/// A call under way.
#[derive(Clone, Debug)]
struct Open {
    /// Who made it: an exec ends in another program.
    by: CallGroup,
    call: CallNumber,
    /// What its descriptor is, if it moves data.
    file: Option<FileKind>,
    began: u64,
    args: [u64; 6],
    path: Option<String>,
}

/// What a stop at a call means for the rest of the tracer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    /// Nothing to hand on.
    Nothing,
    /// A call ended.
    Ended(Call),
}

/// Counts calls, and hands them on one by one if asked to.
#[derive(Debug)]
pub(super) struct Calls {
    times: bool,
    each: bool,
    open: HashMap<Tid, Open>,
    cells: HashMap<(CallGroup, CallNumber, FileKind), CallCell>,
    /// Calls that each task entered, and that returned.
    made: HashMap<Tid, (u64, u64)>,
    /// Paths that could not be read.
    pub(super) unread: u64,
}

impl Calls {
    pub(super) fn new(wanted: &Wanted) -> Self {
        Self {
            times: wanted.call_times,
            each: wanted.each_call,
            open: HashMap::new(),
            cells: HashMap::new(),
            made: HashMap::new(),
            unread: 0,
        }
    }

    /// A task is stopped at a call. `began` is false until the command's own first exec: what comes before is ours.
    pub(super) fn stop(
        &mut self,
        task: Tid,
        by: &CallGroup,
        stop: CallStop,
        at: u64,
        began: &mut bool,
    ) -> Seen {
        match stop {
            CallStop::Entry { compat, number, args } => {
                let call = CallNumber { number, compat };
                let exec = is_exec(call);
                *began |= exec;
                if !*began {
                    return Seen::Nothing;
                }
                let place = tables::path_argument(call).filter(|_| exec || self.each);
                let path = place.and_then(|place| memory::string(task as i32, args[place]));
                self.unread += u64::from(place.is_some_and(|place| args[place] != 0) && path.is_none());
                self.made.entry(task).or_default().0 += 1;
                let file = tables::moves_bytes(call).then(|| proc::file_kind(task as i32, args[0]));
                self.cell(by, call, file).entered += 1;
                self.open.insert(task, Open { by: by.clone(), call, file, began: at, args, path });
                Seen::Nothing
            }
            CallStop::Exit { result } => match self.open.remove(&task) {
                Some(open) if is_exec(open.call) && result == 0 => {
                    self.begin_program(&open, by);
                    self.ended(task, Open { by: by.clone(), ..open }, result, at)
                }
                Some(open) => self.ended(task, open, result, at),
                // The first stop of a new task is the end of a call that its parent made.
                None => Seen::Nothing,
            },
        }
    }

    /// An exec that works counts for the program that it begins, as at the full level.
    fn begin_program(&mut self, open: &Open, by: &CallGroup) {
        self.cell(by, open.call, None).entered += 1;
        let former = (open.by.clone(), open.call, FileKind::None);
        if let Some(cell) = self.cells.get_mut(&former) {
            cell.entered -= 1;
            if cell.entered == 0 {
                self.cells.remove(&former);
            }
        }
    }

    fn ended(&mut self, task: Tid, open: Open, result: i64, at: u64) -> Seen {
        let took = at.saturating_sub(open.began);
        let times = self.times;
        self.made.entry(task).or_default().1 += 1;
        let cell = self.cell(&open.by, open.call, open.file);
        if let Some(bytes) = &mut cell.bytes {
            *bytes += u64::try_from(result).unwrap_or(0);
        }
        if let Some(errno) = errno(result) {
            match cell.errors.iter_mut().find(|(number, _)| *number == errno) {
                Some((_, count)) => *count += 1,
                None => cell.errors.push((errno, 1)),
            }
        }
        if times {
            *cell.total_ns.get_or_insert(0) += took;
            cell.max_ns = Some(cell.max_ns.unwrap_or(0).max(took));
            let place = took.max(1).ilog2() as usize;
            if cell.histogram.len() <= place {
                cell.histogram.resize(place + 1, 0);
            }
            cell.histogram[place] += 1;
        }
        Seen::Ended(Call {
            task,
            call: open.call,
            began: open.began,
            args: open.args,
            result: Some(result),
            path: open.path,
            run_ns: 0,
            runnable_ns: 0,
        })
    }

    /// A thread that was not the first one began another program, and has the number of the first one now.
    pub(super) fn renumbered(&mut self, former: Tid, task: Tid) {
        if let Some(open) = self.open.remove(&former) {
            self.open.insert(task, open);
        }
        if let Some(made) = self.made.remove(&former) {
            self.made.insert(task, made);
        }
    }

    /// A task ended: what it was in did not return. Returns how many calls it entered and how many returned.
    pub(super) fn gone(&mut self, task: Tid) -> ((u64, u64), Option<Call>) {
        let open = self.open.remove(&task);
        if let Some(open) = &open {
            self.cell(&open.by, open.call, open.file).not_returned += 1;
        }
        let last = open.map(|open| Call {
            task,
            call: open.call,
            began: open.began,
            args: open.args,
            result: None,
            path: open.path,
            run_ns: 0,
            runnable_ns: 0,
        });
        (self.made.remove(&task).unwrap_or_default(), last)
    }

    /// Everything counted.
    pub(super) fn cells(self) -> Vec<CallCell> {
        let mut cells: Vec<CallCell> = self.cells.into_values().collect();
        cells.sort_by(|a, b| (&a.by, a.call, a.file).cmp(&(&b.by, b.call, b.file)));
        cells
    }

    /// `file`: what the descriptor is, of a call that moves data.
    fn cell(&mut self, by: &CallGroup, call: CallNumber, file: Option<FileKind>) -> &mut CallCell {
        let timed = self.times.then_some(0);
        let (kind, bytes) = (file.unwrap_or_default(), file.map(|_| 0));
        self.cells.entry((by.clone(), call, kind)).or_insert_with(|| CallCell {
            by: by.clone(),
            call,
            file: kind,
            path: None,
            entered: 0,
            not_returned: 0,
            begun_before: 0,
            going_on: 0,
            errors: Vec::new(),
            total_ns: timed,
            max_ns: timed,
            runnable_ns: None,
            blocked_ns: None,
            failed_ns: None,
            bytes,
            histogram: Vec::new(),
        })
    }
}

/// The error number of a result: the last page of addresses stands for errors (`IS_ERR_VALUE`, include/linux/err.h). The
/// kernel's own numbers for calls that are to be begun again are among them, as strace shows them.
pub(super) fn errno(result: i64) -> Option<i32> {
    (-4095..0).contains(&result).then_some(-result as i32)
}

/// Whether a call begins another program.
pub(super) fn is_exec(call: CallNumber) -> bool {
    !call.compat && EXECS.contains(&call.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str) -> CallGroup {
        CallGroup { name: name.to_owned(), forked: false, subshell: false, process: None }
    }

    fn entry(number: u32) -> CallStop {
        CallStop::Entry { compat: false, number, args: [0; 6] }
    }

    #[test]
    fn calls_before_the_first_exec_are_not_the_commands() {
        let (mut calls, by, mut began) = (Calls::new(&Wanted::default()), group("x"), false);
        calls.stop(1, &by, entry(202), 10, &mut began);
        calls.stop(1, &by, CallStop::Exit { result: 0 }, 20, &mut began);
        calls.stop(1, &by, entry(EXECS[0]), 30, &mut began);
        calls.stop(1, &by, CallStop::Exit { result: -2 }, 40, &mut began);
        calls.stop(1, &by, entry(231), 50, &mut began);
        assert_eq!(calls.gone(1).0, (2, 1));
        let cells = calls.cells();
        assert_eq!(cells.len(), 2);
        assert_eq!(
            (cells[0].entered, cells[0].errors.as_slice(), cells[0].total_ns),
            (1, &[(2, 1)][..], Some(10))
        );
        assert_eq!((cells[1].entered, cells[1].not_returned, cells[1].total_ns), (1, 1, Some(0)));
    }

    #[test]
    fn an_exec_that_works_is_the_new_programs() {
        let (mut calls, mut began) = (Calls::new(&Wanted::default()), false);
        for (by, result) in [("exe", -2), ("exe", 0), ("ls", 0)] {
            calls.stop(1, &group(by), entry(EXECS[0]), 10, &mut began);
            calls.stop(
                1,
                &group(if result == 0 { "ls" } else { by }),
                CallStop::Exit { result },
                20,
                &mut began,
            );
        }
        let counted: Vec<(String, u64, usize)> =
            calls.cells().into_iter().map(|cell| (cell.by.name, cell.entered, cell.errors.len())).collect();
        assert_eq!(counted, [("exe".to_owned(), 1, 1), ("ls".to_owned(), 2, 0)]);
    }

    #[test]
    fn only_the_last_page_is_an_error() {
        assert_eq!(
            (errno(-1), errno(-4095), errno(-4096), errno(0), errno(5)),
            (Some(1), Some(4095), None, None, None)
        );
    }
}
