//! Reading a stream, of which nothing is believed: every number is checked before it is used, and nothing is allocated
//! that the bytes themselves do not pay for.

use rustc_hash::FxHashMap;

use super::super::event::{Block, CallNumber, Context, Event, Skipped, Totals, What};
use super::format::{
    BITSET, CONTEXTS, FILES, FLAG, LATEST, LEFT, LONGEST, MOST, MOST_CPUS, NOT_OURS, TASKS, kind,
};

/// The stream cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kept scheduling records are damaged at byte {at}: {why}")]
pub struct Damaged {
    /// Where.
    pub at: usize,
    /// What is wrong there.
    pub why: &'static str,
}

impl Damaged {
    pub(super) fn at(at: usize, why: &'static str) -> Self {
        Self { at, why }
    }
}

/// Events of a stream. After an error there are no more.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    first: Option<u64>,
    last: u64,
    running: Vec<u32>,
    spent: FxHashMap<u32, u64>,
    strings: Vec<&'a str>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            first: None,
            last: 0,
            running: Vec::new(),
            spent: FxHashMap::default(),
            strings: Vec::new(),
        }
    }

    fn event(&mut self) -> Result<Event, Damaged> {
        let head = self.byte()?;
        let since = unzigzag(self.number()?);
        let at = self.last.wrapping_add_signed(since);
        let first = *self.first.get_or_insert(at);
        if at > LATEST || at > first.saturating_add(LONGEST) {
            return self.damaged("a time is out of range");
        }
        self.last = at;
        let cpu = self.cpu()?;
        let what = self.what(head, cpu)?;
        Ok(Event { at, cpu, what })
    }

    /// What is told of a program behind its beginning.
    fn behind_exec(&mut self, script: bool) -> Result<What, Damaged> {
        let task = self.small()?;
        Ok(match script {
            true => What::Script { task, script: self.string()?, interpreter: self.string()? },
            false => What::Pipes { task, input: self.number()?, output: self.number()? },
        })
    }

    fn what(&mut self, head: u8, cpu: u16) -> Result<What, Damaged> {
        let flag = |at: usize| head & FLAG[at] != 0;
        Ok(match head & 0x0f {
            kind::SWITCH => self.switch(cpu, flag(0), flag(1))?,
            kind::WAKE => What::Wake { wakee: self.small()?, waker: self.small()?, context: self.context()? },
            kind::QUEUED => What::Queued { task: self.small()?, on: self.cpu()? },
            kind::MIGRATE => What::Migrate { task: self.small()?, from: self.cpu()?, to: self.cpu()? },
            kind::FORK => What::Fork {
                parent: self.small()?,
                child: self.small()?,
                process: self.small()?,
                allowed: self.words()?,
            },
            kind::EXEC if flag(2) => What::LivesOn { task: self.small()?, so_far: self.totals(flag(1))? },
            kind::EXEC => What::Exec {
                task: self.small()?,
                former: self.small()?,
                name: self.string()?,
                path: if flag(0) { Some(self.string()?) } else { None },
                so_far: self.totals(flag(1))?,
            },
            kind::WAITS if flag(1) => What::Stop,
            kind::WAITS if flag(0) => What::Below { task: self.small()?, parent: self.small()? },
            kind::WAITS => {
                What::Waits { task: self.small()?, left: *self.one_of(&LEFT)?, block: self.block()? }
            }
            kind::PIPES => self.behind_exec(flag(0))?,
            kind::EXEC_FAILED => What::ExecFailed {
                task: self.small()?,
                errno: self.signed()?,
                path: if flag(0) { Some(self.string()?) } else { None },
            },
            kind::ALLOWED => What::Allowed { task: self.small()?, cpus: self.words()? },
            kind::END if flag(2) => What::Skipped(Skipped {
                task: self.small()?,
                process: self.small()?,
                why: *self.one_of(&NOT_OURS)?,
                name: self.string()?,
                totals: if flag(0) { Some(self.totals(flag(1))?) } else { None },
            }),
            kind::END => What::End {
                task: self.small()?,
                process: self.small()?,
                status: if flag(0) { Some(self.signed()?) } else { None },
                totals: self.totals(flag(1))?,
            },
            kind::NAME => {
                let (task, process) = (self.small()?, self.small()?);
                let kind = *self.one_of(&TASKS)?;
                What::Name { task, process, kind, name: self.string()? }
            }
            kind::WORK => What::Work { task: self.small()?, function: self.string()? },
            kind::SPENT => self.spent(cpu, flag(0))?,
            kind::STARTED => {
                What::Started { task: self.small()?, run_ns: self.bounded()?, call_run_ns: self.bounded()? }
            }
            kind::LOST => What::Lost { records: self.bounded()? },
            _ => return self.damaged("there is no such kind of event"),
        })
    }

    fn spent(&mut self, cpu: u16, follows: bool) -> Result<What, Damaged> {
        let running = self.running.get(usize::from(cpu)).copied();
        let task = match running.filter(|_| follows) {
            Some(task) => task,
            None if follows => return self.damaged("a task is not said"),
            None => self.small()?,
        };
        let more = unzigzag(self.number()?);
        let before = self.spent.entry(task).or_default();
        let call_run_ns = before.wrapping_add_signed(more);
        *before = call_run_ns;
        if call_run_ns > MOST {
            return self.damaged("a number is out of range");
        }
        Ok(What::Spent { task, call_run_ns })
    }

    fn switch(&mut self, cpu: u16, follows: bool, blocked: bool) -> Result<What, Damaged> {
        let at = usize::from(cpu);
        if at >= self.running.len() {
            self.running.resize(at + 1, 0);
        }
        let prev = if follows { self.running[at] } else { self.small()? };
        let next = self.small()?;
        self.running[at] = next;
        let left = *self.one_of(&LEFT)?;
        let block = if blocked { Some(self.block()?) } else { None };
        Ok(What::Switch { prev, next, left, block })
    }

    fn block(&mut self) -> Result<Block, Damaged> {
        let flags = self.byte()?;
        let set = |at: usize| flags & FLAG[at] != 0;
        let call = CallNumber { number: self.small()?, compat: set(1) };
        let file = *self.one_of(&FILES)?;
        Ok(Block {
            call: set(0).then_some(call),
            fault: set(2),
            io: set(3),
            file,
            inode: self.number()?,
            bitset: flags & BITSET != 0,
        })
    }

    fn context(&mut self) -> Result<Context, Damaged> {
        let number = self.number()?;
        match usize::try_from(number).ok().and_then(|at| CONTEXTS.get(at)) {
            Some(context) => Ok(context.clone()),
            None if number == CONTEXTS.len() as u64 => Ok(Context::Work(self.string()?)),
            None if number == CONTEXTS.len() as u64 + 1 => Ok(Context::Sent),
            None => self.damaged("there is no such context"),
        }
    }

    fn totals(&mut self, unseen: bool) -> Result<Totals, Damaged> {
        let run_ns = self.bounded()?;
        let mut part = || self.bounded().map(|number| number.checked_sub(1));
        Ok(Totals {
            run_ns,
            delay_ns: part()?,
            call_run_ns: part()?,
            calls_entered: part()?,
            calls_returned: part()?,
            faults: part()?,
            voluntary: part()?,
            involuntary: part()?,
            migrations: part()?,
            stolen_ns: part()?.map(unzigzag),
            unseen_ns: if unseen { self.bounded()? } else { 0 },
        })
    }

    fn words(&mut self) -> Result<Vec<u64>, Damaged> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > MOST_CPUS / 64 {
            return self.damaged("a set of CPUs is too large");
        }
        (0..count).map(|_| self.number()).collect()
    }

    fn string(&mut self) -> Result<String, Damaged> {
        let number = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if let Some(string) = self.strings.get(number) {
            return Ok((*string).to_owned());
        }
        if number != self.strings.len() {
            return self.damaged("a string is used before it is given");
        }
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let end = self.at.checked_add(length);
        let bytes: Option<&'a [u8]> = end.and_then(|end| self.bytes.get(self.at..end));
        let Some(string) = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            return self.damaged("a string is cut off or no UTF-8");
        };
        self.at += length;
        self.strings.push(string);
        Ok(string.to_owned())
    }

    fn one_of<T>(&mut self, all: &'static [T]) -> Result<&'static T, Damaged> {
        let number = self.number()?;
        match usize::try_from(number).ok().and_then(|at| all.get(at)) {
            Some(one) => Ok(one),
            None => self.damaged("there is no such state or kind"),
        }
    }

    fn cpu(&mut self) -> Result<u16, Damaged> {
        match u16::try_from(self.number()?) {
            Ok(cpu) if usize::from(cpu) < MOST_CPUS => Ok(cpu),
            _ => self.damaged("there is no such CPU"),
        }
    }

    fn small(&mut self) -> Result<u32, Damaged> {
        match u32::try_from(self.number()?) {
            Ok(number) => Ok(number),
            Err(_) => self.damaged("a number is out of range"),
        }
    }

    fn signed(&mut self) -> Result<i32, Damaged> {
        match i32::try_from(unzigzag(self.number()?)) {
            Ok(number) => Ok(number),
            Err(_) => self.damaged("a number is out of range"),
        }
    }

    fn bounded(&mut self) -> Result<u64, Damaged> {
        match self.number()? {
            number if number <= MOST => Ok(number),
            _ => self.damaged("a number is out of range"),
        }
    }

    fn number(&mut self) -> Result<u64, Damaged> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        self.damaged("a number is too long")
    }

    fn byte(&mut self) -> Result<u8, Damaged> {
        let Some(byte) = self.bytes.get(self.at) else { return self.damaged("it is cut off") };
        self.at += 1;
        Ok(*byte)
    }

    fn damaged<T>(&self, why: &'static str) -> Result<T, Damaged> {
        Err(Damaged::at(self.at, why))
    }
}

impl Iterator for Decoder<'_> {
    type Item = Result<Event, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let event = self.event();
        if event.is_err() {
            self.bytes = &[];
        }
        Some(event)
    }
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
