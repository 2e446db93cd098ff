//! Findings in words: a sentence with its numbers, a remedy, a page. For people who have never heard of work and span.

use super::cause::Cause;
use super::evidence;
use super::facts::{Moved, Side};
use super::report::{Account, Evidence};
use super::words::{amount, count, often, plural, quoted, time, upper};
use crate::trace::report::{PathKind, SharerKind};

/// What a sentence needs.
pub(super) struct About<'a> {
    pub cause: Cause,
    pub seconds: f64,
    pub slow: &'a Side,
    pub fast: &'a Side,
    pub accounts: (&'a Account, &'a Account),
}

impl About<'_> {
    /// The finding in one sentence.
    pub(super) fn sentence(&self) -> String {
        upper(&self.text())
    }

    fn text(&self) -> String {
        let (slow, cost) = (&self.slow.label, time(self.seconds));
        match self.cause {
            Cause::Processes => self.processes(),
            Cause::PathSearch => format!(
                "{slow} looks {} into directories of PATH that do not have the program, and {} {}; that costs it {cost}.",
                often(self.slow.misses()),
                self.fast.label,
                fewer(self.slow.misses(), self.fast.misses(), often),
            ),
            Cause::Startup => {
                format!("{slow} takes {cost} longer to load and start its programs{}.", self.mostly())
            }
            Cause::SmallIo => self.small_io(),
            Cause::PipeCopy => self.pipe_copy(),
            Cause::Overlap => self.overlap(),
            Cause::Compute => {
                format!("{slow} computes {cost} longer in its programs' own code{}.", self.mostly())
            }
            Cause::PageFaults => format!(
                "{slow} touches {} new pages of memory, and {} {}; that costs it {cost}.",
                count(self.slow.faults),
                self.fast.label,
                fewer(self.slow.faults, self.fast.faults, count),
            ),
            Cause::Disk => format!("{slow} waits {cost} longer for the disk{}.", self.mostly()),
            Cause::Lock => format!("{slow} waits {cost} longer for locks{}.", self.held_by()),
            Cause::Sleep => format!("{slow} sleeps {cost} longer, with nothing to do{}.", self.by()),
            Cause::CpuContention => format!("{slow} waits {cost} longer for a CPU{}.", self.taken_by()),
            Cause::Misplacement => self.misplacement(),
            Cause::Share => self.share(),
            Cause::Network => format!("{slow} waits {cost} longer for the network{}.", self.by()),
            Cause::Unexplained => format!(
                "{cost} that {slow} takes longer are not explained by any cause that is known{}.",
                self.largest_row()
            ),
        }
    }

    fn processes(&self) -> String {
        let (slow, fast) = (self.slow, self.fast);
        let (name, cost) = (&slow.label, time(self.seconds));
        if !slow.forks_more_than(fast) && !slow.begins_more_than(fast) {
            let many = if slow.forks.round() == fast.forks.round() { "as many" } else { "about as many" };
            return format!("{name} takes {cost} longer to make and end {many} processes{}.", self.mostly());
        }
        let (more, less, what) = if slow.forks_more_than(fast) {
            (slow.forks, fast.forks, ("process", "processes"))
        } else {
            (slow.execs, fast.execs, ("program", "programs"))
        };
        format!(
            "{name} starts {}, and {} {}; that costs it {cost}.",
            plural(more, what.0, what.1),
            fast.label,
            fewer(more, less, count),
        )
    }

    fn small_io(&self) -> String {
        let (slow, fast) = (self.slow, self.fast);
        let all = [
            (slow.file, fast.file, "reads and writes"),
            (slow.pipe, fast.pipe, "reads from pipes"),
            (slow.pipe_writes, fast.pipe_writes, "writes to pipes"),
        ];
        // Where several are as many, the first: a reader may take in one call what many wrote, or the other way round.
        let more = |it: &(Moved, Moved, &str)| it.0.calls - it.1.calls;
        let (here, there, what) =
            all.into_iter().reduce(|a, b| if more(&b) > more(&a) { b } else { a }).unwrap_or(all[0]);
        let other = if there.calls > 0.0 {
            let calls = fewer(here.calls, there.calls, count);
            format!("{} in {calls} of {}", fast.label, amount(there.piece()))
        } else {
            format!("{} none", fast.label)
        };
        format!(
            "{} moves its data in {} {what} of {} each, and {other}; that costs it {}.",
            slow.label,
            count(here.calls),
            amount(here.piece()),
            time(self.seconds),
        )
    }

    fn pipe_copy(&self) -> String {
        let (slow, fast) = (self.slow, self.fast);
        let (name, cost) = (&slow.label, time(self.seconds));
        if slow.pipe.bytes <= fast.pipe.bytes * 1.05 {
            return format!("{name} takes {cost} longer to copy its data through pipes.");
        }
        let other = fewer(slow.pipe.bytes, fast.pipe.bytes, amount);
        format!(
            "{name} copies {} through pipes from one program to the next, and {} {other}; that costs it {cost}.",
            amount(slow.pipe.bytes),
            fast.label,
        )
    }

    fn overlap(&self) -> String {
        let (slow, fast) = (self.slow, self.fast);
        let pace = match &fast.bottleneck {
            Some(stage) => format!("; of its stages {} sets the pace", quoted(stage)),
            None => String::new(),
        };
        let [here, there] = [slow, fast].map(|side| (side.parallelism() * 10.0).round() / 10.0);
        let busy = if here < there {
            format!(" and keeps {there:.1} CPUs busy on average, {} only {here:.1}", slow.label)
        } else {
            // The slower one may have had something else to do beside.
            String::new()
        };
        let saves = time(self.seconds);
        format!("{} does several things at the same time{busy}; that saves it {saves}{pace}.", fast.label)
    }

    fn misplacement(&self) -> String {
        let rows = || self.accounts.0.critical_path.iter().filter(|row| row.kind == PathKind::CpuWait);
        let avoidable: f64 = rows().map(|row| row.avoidable_s).sum();
        let forbidden: f64 = rows().map(|row| row.but_for_affinity_s).sum();
        let pinned: f64 = rows().map(|row| row.by_pinning_s).sum();
        let of = |row: &&crate::trace::report::PathRow| row.avoidable_s + row.but_for_affinity_s;
        if self.slow.affinities > 0.0 && avoidable + forbidden < self.seconds / 2.0 {
            return format!(
                "{} keeps itself to {}, where its parts take turns, while {} uses {}; that costs it {}.",
                self.slow.label,
                plural(self.slow.cpus, "CPU", "CPUs"),
                self.fast.label,
                plural(self.fast.cpus, "CPU", "CPUs"),
                time(self.seconds)
            );
        }
        let with = rows().max_by(|a, b| of(a).total_cmp(&of(b))).and_then(|row| row.what.as_deref());
        let with = with.map(|what| format!(" that {} had", quoted(what))).unwrap_or_default();
        let idle = if forbidden + pinned > avoidable - pinned {
            "while another one stood idle on which it is not allowed to run"
        } else {
            "while another one stood idle"
        };
        format!("{} waits {} longer for a CPU{with}, {idle}.", self.slow.label, time(self.seconds))
    }

    fn share(&self) -> String {
        let rows =
            self.accounts.0.critical_path.iter().filter(|row| row.holder == Some(SharerKind::Throttled));
        let throttled: f64 = rows.map(|row| row.seconds).sum();
        let why = if throttled >= self.seconds / 2.0 {
            "because the CPU time that its group may use was used up"
        } else {
            "because it runs with a lower priority beside others"
        };
        format!("{} is given less of the CPUs, {why}; that costs it {}.", self.slow.label, time(self.seconds))
    }

    fn command(&self) -> Option<String> {
        evidence::command(self.cause, (self.slow, self.fast), self.accounts)
    }

    /// ", most of it in 'awk'".
    fn mostly(&self) -> String {
        self.command().map(|it| format!(", most of it in {}", quoted(&it))).unwrap_or_default()
    }

    /// " (in 'sleep')", where the alternative's name does not say it.
    fn by(&self) -> String {
        let told = |it: &String| self.slow.label.contains(it.as_str());
        self.command().filter(|it| !told(it)).map(|it| format!(" (in {})", quoted(&it))).unwrap_or_default()
    }

    fn held_by(&self) -> String {
        let rows = self.accounts.0.critical_path.iter().filter(|row| row.kind == PathKind::Lock);
        let most = rows.max_by(|a, b| a.seconds.total_cmp(&b.seconds)).and_then(|row| row.what.as_deref());
        most.map(|it| format!(" that {} held", quoted(it))).unwrap_or_default()
    }

    fn taken_by(&self) -> String {
        let names: Vec<String> = self.slow.sharers.iter().take(2).map(|(name, _)| quoted(name)).collect();
        if names.is_empty() {
            String::new()
        } else {
            format!(" that others had taken: {}", names.join(" and "))
        }
    }

    fn largest_row(&self) -> String {
        let of = evidence::evidence(Cause::Unexplained, self.slow, self.fast, self.accounts, 0.0);
        let large = |it: &&Evidence| it.here - it.there >= self.seconds / 4.0;
        // What no cause has comes before what some cause may have a part of already.
        let of_none = evidence::of_no_cause(self.accounts);
        let most = of_none.iter().find(large).or_else(|| of.iter().find(large));
        most.map(|it| format!("; the row that differs most is {} ({})", it.what, time(it.here - it.there)))
            .unwrap_or_default()
    }
}

/// The smaller number beside the larger one: "only 3", "none".
fn fewer(more: f64, less: f64, words: fn(f64) -> String) -> String {
    match (less > 0.0, less < more) {
        (false, _) if words(0.0) == "never" => "never".to_owned(),
        (false, _) => "none".to_owned(),
        (true, true) => format!("only {}", words(less)),
        (true, false) => words(less),
    }
}

/// What could be done.
pub(super) fn remedy(cause: Cause) -> &'static str {
    match cause {
        Cause::Processes => {
            "Do more in one process: a builtin instead of a program, xargs with many arguments, one awk for several tools."
        }
        Cause::PathSearch => {
            "Call programs by their full path, or put the directory that has them first in PATH."
        }
        Cause::Startup => {
            "Start the program less often and give it more to do each time, or take one that loads less."
        }
        Cause::SmallIo => {
            "Read and write in larger pieces: a larger block size, full instead of line buffering, a program that reads lines in blocks."
        }
        Cause::PipeCopy => {
            "Leave out stages that only pass data on (cat FILE | X is X < FILE), or cut the data down in the first stage."
        }
        Cause::Overlap => {
            "Run independent parts at the same time: a pipeline instead of a file in between, & and wait, xargs -P. It pays only while CPUs are free."
        }
        Cause::Compute => {
            "The program itself computes more: a simpler pattern, a better algorithm, another tool; a profile of its code says where."
        }
        Cause::PageFaults => {
            "Use less memory or use it again: smaller buffers, streaming instead of reading everything, huge pages."
        }
        Cause::Disk => {
            "Keep the data in memory (read it before), read less of it, or write without waiting for the disk where that is safe."
        }
        Cause::Lock => {
            "Hold the lock for a shorter time, give every worker a lock of its own, or start fewer workers."
        }
        Cause::Sleep => {
            "Wait for the event itself instead of sleeping: wait, inotifywait, a pipe, or a shorter interval."
        }
        Cause::CpuContention => {
            "Measure on a quiet machine, or give the command CPUs of its own (--cpus, a cpuset)."
        }
        Cause::Misplacement => {
            "Let it run on more CPUs (taskset, cpuset), or keep its stages and what shares their CPU apart."
        }
        Cause::Share => "Remove nice, or raise the quota of its cgroup; compare both with the same priority.",
        Cause::Network => "Ask less often: fewer and larger requests, several at the same time, a cache.",
        Cause::Unexplained => "See the accounts of both alternatives: whyfaster show --json has every row.",
    }
}

/// How a cause is called in the document and in the names of its page.
pub(super) fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::Processes => "processes",
        Cause::PathSearch => "path_search",
        Cause::Startup => "startup",
        Cause::SmallIo => "small_io",
        Cause::PipeCopy => "pipe_copy",
        Cause::Overlap => "overlap",
        Cause::Compute => "compute",
        Cause::PageFaults => "page_faults",
        Cause::Disk => "disk",
        Cause::Lock => "lock",
        Cause::Sleep => "sleep",
        Cause::CpuContention => "cpu_contention",
        Cause::Misplacement => "misplacement",
        Cause::Share => "share",
        Cause::Network => "network",
        Cause::Unexplained => "unexplained",
    }
}

/// The page of the documentation.
pub(super) fn page(cause: Cause) -> String {
    format!("docs/src/causes/{}.md", name(cause))
}
