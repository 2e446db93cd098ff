//! Samples of the clock, counted by place: no stack is streamed, and nothing gets its name before the run is over. Naming reads the
//! symbols of whole files, on CPUs that the run wants. Waits for locks are counted beside them, by how long they last: as often as the clock would
//! have found them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use whyfaster_core::trace::command::CommandName;
use whyfaster_core::trace::event::{Pid, Tid};
use whyfaster_core::trace::report::{Code, Sampled, SampledRow, WorkKind};
use whyfaster_core::trace::stacks::{Gathering, Stacks};

use super::images::{Images, Place};
use super::perf_map::PerfMaps;
use super::programs::types;
use super::symbols::{Frames, Symbols, calling};
use super::unwind::Unwinder;

/// What is counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The number of the command that its calls are counted under.
    group: u32,
    /// `None`: it was in the kernel for a call.
    kind: Option<WorkKind>,
    /// Innermost first.
    frames: Vec<Place>,
}

/// A sample of a program that may be starting up still: what comes tells.
#[derive(Debug)]
struct Early {
    task: Tid,
    at: u64,
    /// CPU time since its exec.
    run: u64,
    /// As what it counts if its program had started up.
    otherwise: Option<WorkKind>,
    key: Key,
}

/// What was counted of one run.
#[derive(Debug)]
pub(crate) struct Profile {
    counted: HashMap<Key, u64>,
    early: Vec<Early>,
    /// Nanoseconds of waits for locks.
    waited: HashMap<Key, u64>,
    /// When tasks that wait for a lock began to.
    waiting: HashMap<Tid, u64>,
    /// Waits that are over and not counted yet: by their task and beginning, how long they lasted.
    over: HashMap<(Tid, u64), u64>,
    /// Waits that are not over, and where.
    open: HashMap<(Tid, u64), Key>,
    /// Start-ups that are over: when that was told, and how much CPU time they took, by task.
    started: HashMap<Tid, Vec<(u64, u64)>>,
    /// Of this run alone: another one may have other files by the same names.
    unwinder: Unwinder,
    /// The user of each process. Only this user and root may have made its perf map.
    users: HashMap<Pid, u32>,
    began: SystemTime,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            counted: HashMap::new(),
            early: Vec::new(),
            waited: HashMap::new(),
            waiting: HashMap::new(),
            over: HashMap::new(),
            open: HashMap::new(),
            started: HashMap::new(),
            unwinder: Unwinder::default(),
            users: HashMap::new(),
            began: SystemTime::now(),
        }
    }
}

impl Profile {
    /// Counts a sample.
    pub(crate) fn take(&mut self, r: &types::stack_record, frames: &[u8], images: &mut Images) {
        let stack = Frames::of(r, frames);
        // In the kernel, and for no call: a page fault, but for what interrupts take.
        let otherwise = match () {
            () if stack.kernel.is_empty() => Some(WorkKind::User),
            () if r.in_call == 0 => Some(WorkKind::PageFaults),
            () => None,
        };
        if r.group == 0 || stack.user.is_empty() {
            return;
        }
        let frames = self.places(r, &stack, images);
        let key = |kind| Key { group: r.group, kind, frames };
        if r.starting != 0 {
            let (task, at, run) = (r.head.task, r.head.at, r.run);
            self.early.push(Early { task, at, run, otherwise, key: key(Some(WorkKind::Startup)) });
        } else {
            *self.counted.entry(key(otherwise)).or_default() += 1;
        }
    }

    /// Where a task is in user code, innermost first: by the tables of its files, and where they say no caller by its frame pointers.
    fn places(&mut self, r: &types::stack_record, stack: &Frames<'_>, images: &mut Images) -> Vec<Place> {
        self.users.insert(r.process, r.user);
        let unwound = match stack.memory {
            [] => Vec::new(),
            memory => self.unwinder.places(r, memory, images),
        };
        if unwound.iter().skip(1).any(|place| matches!(place, Place::File(..))) {
            return unwound;
        }
        calling(&stack.user).map(|address| images.place(r.process, r.head.at, address)).collect()
    }

    /// A task begins to wait for a lock: its stack comes to [`Self::waits`].
    pub(crate) fn blocks(&mut self, task: Tid, at: u64) {
        self.waiting.insert(task, at);
    }

    /// A task is woken.
    pub(crate) fn woken(&mut self, task: Tid, at: u64) {
        let Some(began) = self.waiting.remove(&task) else { return };
        let ns = at.saturating_sub(began);
        match self.open.remove(&(task, began)) {
            Some(key) => *self.waited.entry(key).or_default() += ns,
            None => drop(self.over.insert((task, began), ns)),
        }
    }

    /// Counts a wait for a lock, as soon as it is over.
    pub(crate) fn waits(&mut self, r: &types::stack_record, frames: &[u8], images: &mut Images) {
        let stack = Frames::of(r, frames);
        if r.group == 0 || stack.user.is_empty() {
            return;
        }
        let frames = self.places(r, &stack, images);
        let key = Key { group: r.group, kind: Some(WorkKind::Lock), frames };
        let (wait, waiting) = ((r.head.task, r.head.at), self.waiting.get(&r.head.task));
        match self.over.remove(&wait) {
            Some(ns) => *self.waited.entry(key).or_default() += ns,
            // Who never waits again was not seen to be woken.
            None if waiting == Some(&r.head.at) => drop(self.open.insert(wait, key)),
            None => {}
        }
    }

    /// The start-up of a program is over.
    pub(crate) fn started(&mut self, task: Tid, at: u64, run: u64) {
        self.started.entry(task).or_default().push((at, run));
    }

    /// What was counted, with names, by the commands that `command` knows by their numbers: by function, and by stack.
    pub(crate) fn finish(
        mut self,
        per_s: u32,
        symbols: &mut Symbols,
        command: &dyn Fn(u32) -> Option<CommandName>,
    ) -> (Sampled, Stacks) {
        self.settle();
        let mut maps = PerfMaps::since(self.began, self.users);
        let mut rows: BTreeMap<(CommandName, WorkKind, Code), u64> = BTreeMap::new();
        let mut stacks = Gathering::default();
        let ticks = |ns: u64| (ns as f64 * 1e-9 * f64::from(per_s)).round() as u64;
        for (key, amount) in self.counted.into_iter().chain(self.waited) {
            let Some(command) = command(key.group) else { continue };
            let waits = key.kind == Some(WorkKind::Lock);
            let frames = if waits { asking(&key.frames) } else { &key.frames };
            let named = named(frames, symbols, &mut maps);
            if let Some(kind) = key.kind {
                *rows.entry((command.clone(), kind, code(frames, &named))).or_default() += amount;
            }
            let samples = if waits { ticks(amount) } else { amount };
            stacks.take(command, key.kind, named.into_iter().rev(), samples);
        }
        let row = |((command, kind, code), amount)| {
            let samples = if kind == WorkKind::Lock { ticks(amount) } else { amount };
            SampledRow { command, kind, code, samples }
        };
        let mut functions: Vec<SampledRow> = rows.into_iter().map(row).filter(|it| it.samples > 0).collect();
        functions.sort_by_key(|row| Reverse(row.samples));
        (Sampled { per_s, functions }, stacks.finish(usize::MAX))
    }

    /// A sample belongs to a start-up if it came before that had taken its CPU time. One whose end was never told is none.
    fn settle(&mut self) {
        for Early { task, at, run, otherwise, mut key } in self.early.drain(..) {
            let ends = self.started.get(&task).into_iter().flatten();
            let of_startup = ends.filter(|(told, _)| *told >= at).min().is_some_and(|(_, took)| run <= *took);
            if !of_startup {
                key.kind = otherwise;
            }
            *self.counted.entry(key).or_default() += 1;
        }
    }
}

/// The frames from the function on by which a program asked the library for a lock: what that does to wait says nothing.
fn asking(frames: &[Place]) -> &[Place] {
    let file = |place: &Place| match place {
        Place::File(file, _) => Some(file.clone()),
        Place::Memory(..) => None,
    };
    let library = frames.first().and_then(file);
    let within = frames.iter().take_while(|place| library.is_some() && file(place) == library).count();
    &frames[within.saturating_sub(1)..]
}

/// The functions of a stack.
fn named(frames: &[Place], symbols: &mut Symbols, maps: &mut PerfMaps) -> Vec<Code> {
    let named = |place: &Place| match place {
        Place::Memory(process, address) => maps.find(*process, *address).unwrap_or_default(),
        Place::File(file, _) => Code {
            symbol: symbols.symbol(place),
            file: Some(file.path.display().to_string()),
            called_from: None,
        },
    };
    frames.iter().map(named).collect()
}

/// The function of a stack, and what called it. Where an interpreter says what its code is, that is the function: the innermost one
/// that it named.
fn code(frames: &[Place], all: &[Code]) -> Code {
    let of_script = |code: &Code, place: &Place| matches!(place, Place::Memory(..)) && code.symbol.is_some();
    let at = frames.iter().zip(all).position(|(place, code)| of_script(code, place)).unwrap_or(0);
    let Some(it) = all.get(at).cloned() else { return Code::default() };
    let called_from = caller(&it, &all[at + 1..]);
    Code { called_from, ..it }
}

/// What called a function: by its name, or else by its file. Who asked the C library says more than how that is built.
fn caller(it: &Code, before: &[Code]) -> Option<String> {
    let before = without_start(before);
    let asked = |code: &&Code| !is_c_library(&code.file) && code.file.is_some();
    // A walk by frame pointers may end in what is no caller; code without a name is no help within one file.
    let other = |code: &&Code| {
        (&code.symbol, &code.file) != (&it.symbol, &it.file)
            && (code.symbol.is_some() || code.file != it.file)
    };
    let known = |code: &&Code| code.file.is_some() && other(code);
    let outside = is_c_library(&it.file).then(|| before.iter().position(|code| asked(&code))).flatten();
    let at = outside.or_else(|| before.iter().position(|code| known(&code)))?;
    let mut of_file = before[at..].iter().take_while(|code| code.file == before[at].file);
    of_file.find_map(|code| code.symbol.clone()).or_else(|| before[at].file.clone())
}

/// The callers up to the function that a program or a thread begins with. The C library calls that, and whoever reads this knows.
fn without_start(before: &[Code]) -> &[Code] {
    // The very first instructions of a program are its own, and call the C library.
    let entry =
        |code: &Code| code.symbol.as_deref().is_none_or(|it| it == "_start") && !is_c_library(&code.file);
    let called = before.split_last().filter(|(first, _)| entry(first)).map_or(before, |(_, called)| called);
    let within = called.iter().rev().take_while(|code| is_c_library(&code.file)).count();
    let (inner, start) = called.split_at(called.len() - within);
    if start.is_empty() {
        return before;
    }
    let starts = |code: &Code| code.symbol.as_deref().is_none_or(|it| STARTS.contains(&it));
    if start.iter().all(starts) { inner } else { before }
}

/// Functions of the C library by which programs and threads begin.
const STARTS: [&str; 4] = ["__libc_start_main", "__libc_start_call_main", "clone", "__clone"];

/// Whether a file is the C library, as glibc, musl and both before they were one file name it.
fn is_c_library(file: &Option<String>) -> bool {
    let name = file.as_deref().and_then(|file| file.rsplit('/').next()).unwrap_or_default();
    ["libc.", "libc-", "libm.", "libm-", "ld-musl-"].iter().any(|it| name.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(symbol: &str, file: &str) -> Code {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Code { symbol: some(symbol), file: some(file), called_from: None }
    }

    #[test]
    fn who_asked_a_library_is_said_by_name_or_by_file() {
        const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";
        let said = |frames: &[(&str, &str)]| {
            let all: Vec<Code> = frames.iter().map(|(symbol, file)| code(symbol, file)).collect();
            caller(&all[0], &all[1..])
        };
        let named = |name: &str| Some(name.to_owned());
        let start = ("__libc_start_main", LIBC);
        assert_eq!(
            said(&[("", LIBC), ("getdelim", LIBC), ("lines", "/p"), ("main", "/p"), start]),
            named("lines")
        );
        assert_eq!(said(&[("__strcoll_l", LIBC), ("", "/usr/bin/sort"), start]), named("/usr/bin/sort"));
        // What the C library calls back is called by what was asked for.
        assert_eq!(
            said(&[("compare", "/p"), ("", LIBC), ("", LIBC), ("qsort_r", LIBC), ("main", "/p")]),
            named("qsort_r")
        );
        assert_eq!(
            said(&[("aes", "/libcrypto.so.3"), ("", "/libcrypto.so.3"), ("", "/usr/bin/openssl"), start]),
            named("/usr/bin/openssl")
        );
        assert_eq!(said(&[("", "/usr/bin/sort"), ("", LIBC), start]), None);
        // The unwinder reaches the program's entry too, named or stripped.
        for entry in ["_start", ""] {
            assert_eq!(said(&[("", "/usr/bin/mawk"), ("", LIBC), start, (entry, "/usr/bin/mawk")]), None);
        }
        assert_eq!(said(&[("fib", "/p"), ("fib", "/p"), ("main", "/p")]), named("main"));
        assert_eq!(said(&[("spin", "/p"), ("", "")]), None);
        assert_eq!(said(&[("", LIBC), ("getdelim", LIBC), ("", "")]), named("getdelim"));
    }
}
