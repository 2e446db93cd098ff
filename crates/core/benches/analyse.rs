//! Analyses a long trace that is kept in a file: how long that takes beside merely reading the file, and how much memory.
//!
//! The trace is synthetic and looks like a busy machine: on four CPUs a shell makes short children that search, load and
//! run programs, a pipeline of three moves data, threads take a lock, others hold CPUs, and calls are told at every
//! switch. Times are CPU time of this thread, since other programs may run beside it.
//!
//! Usage: `cargo bench -p whyfaster-core --bench analyse -- [--records N] [--file FILE] [--json]`

use std::fs;
use std::process::ExitCode;

use whyfaster_core::trace::counts::Counts;
use whyfaster_core::trace::event::{
    Block, CallNumber, Context, Event, FileKind, Left, Softirq, TaskKind, Tid, Totals, What,
};
use whyfaster_core::trace::names::Abi;
use whyfaster_core::trace::stored::{Recorder, Stored};
use whyfaster_core::trace::{Facts, Setting};

const CPUS: u16 = 4;
const SHELL: Tid = 100;
/// The stages of the pipeline, and two threads of one process.
const STAGES: [Tid; 3] = [101, 102, 103];
const THREADS: [Tid; 2] = [104, 105];
/// Children of the shell have the numbers from here on, and use them again.
const CHILDREN: Tid = 1000;
const MOST_CHILDREN: Tid = 20_000;
const TASKS: usize = (CHILDREN + MOST_CHILDREN) as usize;
/// What the stored form of one trace may take.
const ROOM: usize = 1 << 30;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|it| it == name)?;
        arguments.get(at + 1).cloned()
    };
    let records = value("--records").and_then(|it| it.parse().ok()).unwrap_or(10_000_000);
    let file = value("--file").unwrap_or_else(|| {
        std::env::temp_dir()
            .join(format!("whyfaster-analyse-{}.json", std::process::id()))
            .display()
            .to_string()
    });
    match bench(records, &file) {
        Ok(found) => {
            println!("{found}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{file}: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the file, reads it, decodes it, analyses it; what that took, as JSON.
fn bench(records: u64, file: &str) -> Result<String, Box<dyn std::error::Error>> {
    let stored = Machine::new().record(records)?;
    fs::write(file, serde_json::to_string(&stored)?)?;
    drop(stored);
    let done = (|| {
        let (stored, read_s) = timed(|| Ok(serde_json::from_str::<Stored>(&fs::read_to_string(file)?)?))?;
        let bytes = fs::metadata(file)?.len();
        let (counted, decode_s) = timed(|| {
            let mut counted = 0_u64;
            stored.each(&mut |event| counted += event.at & 1)?;
            Ok(counted)
        })?;
        let before = peak_kib(true);
        let (report, analyse_s) = timed(|| Ok(stored.analyse()?))?;
        let peak = peak_kib(false);
        let sum: f64 = report.critical_path.iter().map(|row| row.seconds).sum();
        let failed: Vec<_> =
            report.checks.iter().filter(|check| !check.holds).map(|check| check.kind).collect();
        Ok(serde_json::json!({
            "records": stored.events,
            "file_bytes": bytes,
            "read_s": read_s,
            "decode_s": decode_s,
            "odd": counted,
            "analyse_s": analyse_s,
            "over_reading": analyse_s / (read_s + decode_s),
            "records_a_second": stored.events as f64 / analyse_s,
            "kib_before": before,
            "kib_peak": peak,
            "tasks": report.tasks_total,
            "wall_s": report.wall_s,
            "path_s": sum,
            "path_rows": report.critical_path.len(),
            "checks_that_fail": failed,
            "gaps": report.lost.gaps + report.lost.unfinished,
        })
        .to_string())
    })();
    fs::remove_file(file)?;
    done
}

/// What it returns, and the CPU time of this thread meanwhile, seconds.
fn timed<T>(
    work: impl FnOnce() -> Result<T, Box<dyn std::error::Error>>,
) -> Result<(T, f64), Box<dyn std::error::Error>> {
    let before = cpu_ns()?;
    let done = work()?;
    Ok((done, (cpu_ns()? - before) as f64 / 1e9))
}

fn cpu_ns() -> Result<u64, Box<dyn std::error::Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("/proc/thread-self/schedstat is empty")?.parse()?)
}

/// The most memory that the process has held, KiB. `anew`: from now on (`/proc/self/clear_refs`).
fn peak_kib(anew: bool) -> Option<u64> {
    if anew {
        fs::write("/proc/self/clear_refs", "5").ok()?;
    }
    let text = fs::read_to_string("/proc/self/status").ok()?;
    text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

/// What somebody on the machine does next.
struct Machine {
    recorder: Recorder,
    records: u64,
    at: u64,
    random: u64,
    current: [Tid; CPUS as usize],
    /// By task: CPU time in calls and in all, since when it runs, and whether it is blocked.
    spent: Vec<u64>,
    ran: Vec<u64>,
    since: [u64; CPUS as usize],
    blocked: Vec<bool>,
    children: Tid,
}

impl Machine {
    fn new() -> Self {
        Self {
            recorder: Recorder::new(ROOM),
            records: 0,
            at: 1_000_000_000,
            random: 0x9e37_79b9_7f4a_7c15,
            current: [0; CPUS as usize],
            spent: vec![0; TASKS],
            ran: vec![0; TASKS],
            since: [0; CPUS as usize],
            blocked: vec![false; TASKS],
            children: 0,
        }
    }

    fn record(mut self, records: u64) -> Result<Stored, Box<dyn std::error::Error>> {
        self.begin();
        while self.records < records {
            match self.pick(100) {
                0..50 => self.pipe(),
                50..65 => self.held(),
                65..80 => self.device(),
                80..97 => self.lock(),
                _ => self.child(),
            }
        }
        self.end();
        let setting = Setting { abi: Abi::X86_64, ..Setting::default() };
        Ok(self.recorder.finish(setting, Counts::default(), Facts::default())?)
    }

    /// xorshift: the same trace every time.
    fn pick(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % below
    }

    fn push(&mut self, cpu: u16, what: What) {
        self.records += 1;
        self.recorder.push(&Event { at: self.at, cpu, what });
    }

    fn pass(&mut self) {
        self.at += 200 + self.pick(4000);
    }

    /// A task of the tree says what it has spent in calls; then it leaves its CPU or wakes somebody.
    fn spend(&mut self, cpu: u16, task: Tid) {
        let more = self.pick(1500);
        let spent = &mut self.spent[task as usize];
        *spent += more;
        let call_run_ns = *spent;
        self.push(cpu, What::Spent { task, call_run_ns });
    }

    fn of_tree(task: Tid) -> bool {
        (SHELL..CHILDREN + MOST_CHILDREN).contains(&task)
    }

    fn switch(&mut self, cpu: u16, next: Tid, left: Left, block: Option<Block>) {
        let prev = self.current[usize::from(cpu)];
        if prev == next {
            return;
        }
        if next != 0 {
            self.fetch(cpu, next);
        }
        if Self::of_tree(prev) {
            self.spend(cpu, prev);
            self.ran[prev as usize] += self.at - self.since[usize::from(cpu)];
            self.blocked[prev as usize] = !matches!(left, Left::Runnable | Left::Dead);
        }
        let left = if prev == 0 { Left::Runnable } else { left };
        let block = block.filter(|_| Self::of_tree(prev));
        self.push(cpu, What::Switch { prev, next, left, block });
        (self.current[usize::from(cpu)], self.since[usize::from(cpu)]) = (next, self.at);
    }

    /// A task must wait on a CPU before it gets it: one that runs elsewhere leaves, and one that is blocked is woken.
    fn fetch(&mut self, cpu: u16, task: Tid) {
        if let Some(from) = (0..CPUS).find(|from| self.current[usize::from(*from)] == task) {
            self.switch(from, 0, Left::Runnable, None);
            self.push(cpu, What::Migrate { task, from, to: cpu });
        }
        if Self::of_tree(task) && self.blocked[task as usize] {
            self.wake(cpu, task, cpu, Context::Timer);
        }
    }

    fn wake(&mut self, cpu: u16, wakee: Tid, on: u16, context: Context) {
        let waker = self.current[usize::from(cpu)];
        if context == Context::Task && Self::of_tree(waker) {
            self.spend(cpu, waker);
        }
        self.blocked[wakee as usize] = false;
        self.push(cpu, What::Wake { wakee, waker, context });
        self.push(on, What::Queued { task: wakee, on });
    }

    fn begin(&mut self) {
        for (task, name) in [(900_000, "cc1"), (900_001, "kworker/2:1"), (900_002, "sshd")] {
            let kind = if name.starts_with("kworker") { TaskKind::Kernel } else { TaskKind::Other };
            self.push(0, What::Name { task, process: task, name: name.to_owned(), kind });
        }
        self.push(0, What::Fork { parent: 0, child: SHELL, process: SHELL, allowed: vec![0b1111] });
        self.switch(0, SHELL, Left::Runnable, None);
        self.exec(0, SHELL, "sh");
        for (at, stage) in STAGES.into_iter().enumerate() {
            self.push(0, What::Fork { parent: SHELL, child: stage, process: stage, allowed: vec![0b1111] });
            let cpu = 1 + at as u16 % (CPUS - 1);
            self.switch(cpu, stage, Left::Runnable, None);
            self.exec(cpu, stage, ["gen", "filter", "eat"][at]);
        }
        for thread in THREADS {
            let process = THREADS[0];
            let parent = if thread == process { SHELL } else { process };
            self.push(0, What::Fork { parent, child: thread, process, allowed: vec![0b1111] });
            self.switch(1, thread, Left::Sleeping, None);
            if thread == process {
                self.exec(1, thread, "server");
            }
        }
    }

    fn exec(&mut self, cpu: u16, task: Tid, name: &str) {
        let path = Some(format!("/usr/bin/{name}"));
        let so_far = Totals { call_run_ns: Some(self.spent[task as usize]), ..Totals::default() };
        self.push(cpu, What::Exec { task, former: task, name: name.to_owned(), path, so_far });
    }

    fn block(number: u32, file: FileKind, inode: u64) -> Option<Block> {
        let call = Some(CallNumber { number, compat: false });
        Some(Block { call, fault: false, io: file == FileKind::File, file, inode, bitset: false })
    }

    /// One stage blocks on a pipe, another wakes it.
    fn pipe(&mut self) {
        let at = self.pick(2) as usize;
        let (writer, reader) = (STAGES[at], STAGES[at + 1]);
        let (number, who, other) = if self.pick(2) == 0 { (0, reader, writer) } else { (1, writer, reader) };
        let cpu = 1 + self.pick(3) as u16;
        let beside = 1 + (cpu + 1) % 3;
        self.switch(cpu, who, Left::Runnable, None);
        self.pass();
        self.switch(cpu, 0, Left::Sleeping, Self::block(number, FileKind::Pipe, 7 + at as u64));
        self.pass();
        self.switch(beside, other, Left::Runnable, None);
        self.pass();
        if self.blocked[who as usize] {
            self.wake(beside, who, cpu, Context::Task);
        }
        self.pass();
        self.switch(cpu, who, Left::Runnable, None);
    }

    /// Somebody outside of the tree takes a CPU for a while.
    fn held(&mut self) {
        let cpu = self.pick(u64::from(CPUS)) as u16;
        let other = 900_000 + self.pick(3) as Tid;
        let had = self.current[usize::from(cpu)];
        if self.current.contains(&other) || !Self::of_tree(had) {
            return;
        }
        self.switch(cpu, other, Left::Runnable, None);
        self.pass();
        self.switch(cpu, had, Left::Sleeping, None);
        self.pass();
    }

    /// A stage reads from a disk, or sleeps.
    fn device(&mut self) {
        let cpu = 1 + self.pick(3) as u16;
        let had = self.current[usize::from(cpu)];
        if !Self::of_tree(had) {
            return;
        }
        let sleeps = self.pick(2) == 0;
        let (number, file) = if sleeps { (35, FileKind::None) } else { (0, FileKind::File) };
        let context = if sleeps { Context::Timer } else { Context::Softirq(Softirq::Block) };
        let left = if sleeps { Left::Sleeping } else { Left::Uninterruptible };
        self.switch(cpu, 0, left, Self::block(number, file, 0));
        self.pass();
        self.wake(cpu, had, cpu, context);
        self.pass();
        self.switch(cpu, had, Left::Runnable, None);
        self.pass();
    }

    fn lock(&mut self) {
        let (who, other) = if self.pick(2) == 0 { (104, 105) } else { (105, 104) };
        self.switch(1, who, Left::Runnable, None);
        self.pass();
        self.switch(1, other, Left::Sleeping, Self::block(202, FileKind::None, 0));
        self.pass();
        if self.blocked[who as usize] {
            self.wake(1, who, 1, Context::Task);
        }
        self.pass();
    }

    /// The shell makes a child, which runs a program and ends while the shell waits for it.
    fn child(&mut self) {
        let child = CHILDREN + self.children % MOST_CHILDREN;
        self.children += 1;
        (self.spent[child as usize], self.ran[child as usize], self.blocked[child as usize]) = (0, 0, false);
        self.switch(0, SHELL, Left::Runnable, None);
        self.spend(0, SHELL);
        self.push(0, What::Fork { parent: SHELL, child, process: child, allowed: vec![0b1111] });
        self.pass();
        self.switch(0, child, Left::Sleeping, Self::block(61, FileKind::None, 0));
        self.pass();
        let path = Some("/usr/local/bin/true".to_owned());
        self.push(0, What::ExecFailed { task: child, path, errno: 2 });
        self.exec(0, child, "true");
        self.pass();
        self.push(0, What::Started { task: child, run_ns: 1500, call_run_ns: 700 });
        self.pass();
        if self.blocked[SHELL as usize] {
            self.wake(0, SHELL, 0, Context::Task);
        }
        self.switch(0, SHELL, Left::Dead, None);
        self.ended(child);
        self.pass();
    }

    fn ended(&mut self, task: Tid) {
        let (call_run_ns, run_ns) = (Some(self.spent[task as usize]), self.ran[task as usize]);
        let totals = Totals { call_run_ns, run_ns, ..Totals::default() };
        self.push(0, What::End { task, process: task, status: Some(0), totals });
    }

    fn end(&mut self) {
        for task in STAGES.into_iter().chain(THREADS).chain([SHELL]) {
            self.switch(0, task, Left::Runnable, None);
            self.pass();
            self.switch(0, 0, Left::Dead, None);
            self.ended(task);
        }
    }
}
