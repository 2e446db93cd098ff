//! Writing a stream.
//!
//! Every event is one byte (low half: which kind; high half: flags of the kind), the time since the event before
//! (zigzag), the CPU, and its fields. Numbers are LEB128. A string is the number of its first use; a first use has the
//! next number and is followed by length and bytes. System calls and stacks are not kept: the calls are in the counts.

use rustc_hash::FxHashMap;

use super::super::counts::Counts;
use super::super::event::{Block, Context, Event, Left, Tid, Totals, What};
use super::super::setting::{Facts, Setting};
use super::format::{BITSET, CONTEXTS, FILES, FLAG, FORMAT, LEFT, NOT_OURS, TASKS, kind};
use super::{Stored, TooLong};

/// Keeps a stream as it comes.
#[derive(Debug)]
pub struct Recorder {
    bytes: Vec<u8>,
    limit: usize,
    events: u64,
    /// Events behind those that fit.
    left_out: u64,
    last: u64,
    /// Who runs on each CPU, as far as the stream said.
    running: Vec<Tid>,
    /// What each task had last spent within system calls.
    spent: FxHashMap<Tid, u64>,
    strings: FxHashMap<Box<str>, u64>,
}

impl Recorder {
    /// Keeps at most so many bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            events: 0,
            left_out: 0,
            last: 0,
            running: Vec::new(),
            spent: FxHashMap::default(),
            strings: FxHashMap::default(),
        }
    }

    /// Keeps an event.
    pub fn push(&mut self, event: &Event) {
        if matches!(event.what, What::Call(_) | What::Stack(_)) {
            return;
        }
        let fits = self.bytes.len();
        if self.left_out == 0 {
            self.what(event);
        }
        if self.left_out > 0 || self.bytes.len() > self.limit {
            self.bytes.truncate(fits);
            self.left_out += 1;
        } else {
            self.events += 1;
        }
    }

    /// All that is needed to analyse the stream again; one that is too long is not kept at all.
    pub fn finish(self, setting: Setting, counts: Counts, facts: Facts) -> Result<Stored, TooLong> {
        let limit = self.limit;
        match self.finish_with_what_fits(setting, counts, facts) {
            (stored, 0) => Ok(stored),
            _ => Err(TooLong { limit }),
        }
    }

    /// The beginning of the stream, as much as fits, and how many events behind it were left out.
    pub fn finish_with_what_fits(self, setting: Setting, counts: Counts, facts: Facts) -> (Stored, u64) {
        let stream = data_encoding::BASE64.encode(&self.bytes);
        let stored =
            Stored { format: FORMAT.to_owned(), setting, facts, counts, events: self.events, stream };
        (stored, self.left_out)
    }

    fn what(&mut self, event: &Event) {
        let mut head = |kind: u8| self.head(kind, event);
        match &event.what {
            What::Switch { prev, next, left, block } => {
                self.switch(event, (*prev, *next), *left, block.as_ref())
            }
            What::Wake { wakee, waker, context } => {
                head(kind::WAKE);
                self.numbers(&[u64::from(*wakee), u64::from(*waker)]);
                self.context(context);
            }
            What::Queued { task, on } => {
                head(kind::QUEUED);
                self.numbers(&[u64::from(*task), u64::from(*on)]);
            }
            What::Migrate { task, from, to } => {
                head(kind::MIGRATE);
                self.numbers(&[u64::from(*task), u64::from(*from), u64::from(*to)]);
            }
            What::Spent { task, call_run_ns } => self.spent(event, *task, *call_run_ns),
            What::Below { task, parent } => {
                head(kind::WAITS | flag(0, true));
                self.numbers(&[u64::from(*task), u64::from(*parent)]);
            }
            What::Stop => head(kind::WAITS | flag(1, true)),
            What::Waits { task, left, block } => {
                head(kind::WAITS);
                self.numbers(&[u64::from(*task), place(&LEFT, left)]);
                self.block(block);
            }
            other => self.life(event, other),
        }
    }

    /// What is not scheduling.
    fn life(&mut self, event: &Event, what: &What) {
        let mut head = |kind: u8| self.head(kind, event);
        match what {
            What::Fork { parent, child, process, allowed } => {
                head(kind::FORK);
                self.numbers(&[u64::from(*parent), u64::from(*child), u64::from(*process)]);
                self.words(allowed);
            }
            What::Exec { task, former, name, path, so_far } => {
                head(kind::EXEC | flag(0, path.is_some()) | flag(1, so_far.unseen_ns > 0));
                self.numbers(&[u64::from(*task), u64::from(*former)]);
                self.string(name);
                path.iter().for_each(|path| self.string(path));
                self.totals(so_far);
            }
            What::LivesOn { task, so_far } => {
                head(kind::EXEC | flag(1, so_far.unseen_ns > 0) | flag(2, true));
                self.number(u64::from(*task));
                self.totals(so_far);
            }
            What::Pipes { .. } | What::Script { .. } => self.behind_exec(event, what),
            What::ExecFailed { task, path, errno } => {
                head(kind::EXEC_FAILED | flag(0, path.is_some()));
                self.numbers(&[u64::from(*task), zigzag(i64::from(*errno))]);
                path.iter().for_each(|path| self.string(path));
            }
            What::Allowed { task, cpus } => {
                head(kind::ALLOWED);
                self.number(u64::from(*task));
                self.words(cpus);
            }
            What::End { .. } | What::Skipped(_) => self.gone(event, what),
            What::Name { task, process, name, kind } => {
                head(kind::NAME);
                self.numbers(&[u64::from(*task), u64::from(*process), place(&TASKS, kind)]);
                self.string(name);
            }
            What::Work { task, function } => {
                head(kind::WORK);
                self.number(u64::from(*task));
                self.string(function);
            }
            What::Started { task, run_ns, call_run_ns } => {
                head(kind::STARTED);
                self.numbers(&[u64::from(*task), *run_ns, *call_run_ns]);
            }
            What::Lost { records } => {
                head(kind::LOST);
                self.number(*records);
            }
            // Scheduling is written above; calls and stacks are not kept.
            What::Spent { .. } | What::Waits { .. } | What::Below { .. } | What::Stop => {}
            What::Switch { .. } | What::Wake { .. } | What::Queued { .. } | What::Migrate { .. } => {}
            What::Call(_) | What::Stack(_) => {}
        }
    }

    /// What is told of a program behind its beginning.
    fn behind_exec(&mut self, event: &Event, what: &What) {
        match what {
            What::Pipes { task, input, output } => {
                self.head(kind::PIPES, event);
                self.numbers(&[u64::from(*task), *input, *output]);
            }
            What::Script { task, script, interpreter } => {
                self.head(kind::PIPES | flag(0, true), event);
                self.number(u64::from(*task));
                self.string(script);
                self.string(interpreter);
            }
            _ => {}
        }
    }

    /// Who is not in the tree any more.
    fn gone(&mut self, event: &Event, what: &What) {
        match what {
            What::End { task, process, status, totals } => {
                self.head(kind::END | flag(0, status.is_some()) | flag(1, totals.unseen_ns > 0), event);
                self.numbers(&[u64::from(*task), u64::from(*process)]);
                status.iter().for_each(|status| self.number(zigzag(i64::from(*status))));
                self.totals(totals);
            }
            What::Skipped(it) => {
                let (known, unseen) =
                    (it.totals.is_some(), it.totals.is_some_and(|totals| totals.unseen_ns > 0));
                self.head(kind::END | flag(0, known) | flag(1, unseen) | flag(2, true), event);
                self.numbers(&[u64::from(it.task), u64::from(it.process), place(&NOT_OURS, &it.why)]);
                self.string(&it.name);
                it.totals.iter().for_each(|totals| self.totals(totals));
            }
            _ => {}
        }
    }

    fn head(&mut self, kind: u8, event: &Event) {
        self.bytes.push(kind);
        self.number(zigzag(event.at.wrapping_sub(self.last).cast_signed()));
        self.number(u64::from(event.cpu));
        self.last = event.at;
    }

    /// What a task has spent comes before every switch: who is known by its CPU, and how much as a difference.
    fn spent(&mut self, event: &Event, task: Tid, call_run_ns: u64) {
        let follows = self.running.get(usize::from(event.cpu)) == Some(&task);
        self.head(kind::SPENT | flag(0, follows), event);
        if !follows {
            self.number(u64::from(task));
        }
        let before = self.spent.insert(task, call_run_ns).unwrap_or(0);
        self.number(zigzag(call_run_ns.wrapping_sub(before).cast_signed()));
    }

    fn switch(&mut self, event: &Event, (prev, next): (Tid, Tid), left: Left, block: Option<&Block>) {
        let cpu = usize::from(event.cpu);
        if cpu >= self.running.len() {
            self.running.resize(cpu + 1, 0);
        }
        let follows = std::mem::replace(&mut self.running[cpu], next) == prev;
        self.head(kind::SWITCH | flag(0, follows) | flag(1, block.is_some()), event);
        if !follows {
            self.number(u64::from(prev));
        }
        self.numbers(&[u64::from(next), place(&LEFT, &left)]);
        block.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &Block) {
        let call = block.call.unwrap_or(super::super::event::CallNumber { number: 0, compat: false });
        let flags = [block.call.is_some(), call.compat, block.fault, block.io];
        let bitset = if block.bitset { BITSET } else { 0 };
        self.bytes.push(flags.iter().enumerate().map(|(at, set)| flag(at, *set)).sum::<u8>() | bitset);
        self.numbers(&[u64::from(call.number), place(&FILES, &block.file), block.inode]);
    }

    fn context(&mut self, context: &Context) {
        match context {
            Context::Work(function) => {
                self.number(CONTEXTS.len() as u64);
                self.string(function);
            }
            Context::Sent => self.number(CONTEXTS.len() as u64 + 1),
            other => self.number(place(&CONTEXTS, other)),
        }
    }

    /// A number that may not be known: 0, or one more than it is.
    fn totals(&mut self, totals: &Totals) {
        self.number(totals.run_ns);
        for part in parts(totals) {
            self.number(part.map_or(0, |part| part.saturating_add(1)));
        }
        if totals.unseen_ns > 0 {
            self.number(totals.unseen_ns);
        }
    }

    fn words(&mut self, words: &[u64]) {
        self.number(words.len() as u64);
        self.numbers(words);
    }

    fn string(&mut self, string: &str) {
        let next = self.strings.len() as u64;
        if let Some(number) = self.strings.get(string) {
            return self.number(*number);
        }
        self.strings.insert(string.into(), next);
        self.numbers(&[next, string.len() as u64]);
        self.bytes.extend_from_slice(string.as_bytes());
    }

    fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|number| self.number(*number));
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }
}

/// The totals that may not be known, in the order of the stream.
fn parts(totals: &Totals) -> [Option<u64>; 9] {
    let Totals {
        run_ns: _,
        unseen_ns: _,
        delay_ns,
        call_run_ns,
        calls_entered,
        calls_returned,
        faults,
        voluntary,
        involuntary,
        migrations,
        stolen_ns,
    } = *totals;
    [
        delay_ns,
        call_run_ns,
        calls_entered,
        calls_returned,
        faults,
        voluntary,
        involuntary,
        migrations,
        stolen_ns.map(zigzag),
    ]
}

fn flag(at: usize, set: bool) -> u8 {
    if set { FLAG[at] } else { 0 }
}

fn zigzag(number: i64) -> u64 {
    (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned()
}

fn place<T: PartialEq>(all: &[T], one: &T) -> u64 {
    all.iter().position(|it| it == one).map_or(0, |at| at as u64)
}
