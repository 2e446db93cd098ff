//! The report, put together from the accounts when the stream is over.

use std::collections::BTreeMap;

use super::analysis::Analysis;
use super::checks::{self, Compared};
use super::command::CommandName;
use super::counts::{Counts, Lost};
use super::holder::Holder;
use super::idle::{CORE, ELSEWHERE};
use super::ledger::{Avoided, seconds};
use super::overhead;
use super::path::{Accounts, tell_calls, tell_faults};
use super::report::{
    Avoidable, Level, PathRow, Processes, SharerKind, SharerRow, TraceReport, TransferRow, WorkRow,
};
use super::setting::Facts;
use super::stage_rows;
use super::{gaps, syscalls, work};
use whyfaster_stats::order::largest_first;

impl Analysis {
    pub(super) fn report(&self, counts: &Counts, facts: &Facts) -> TraceReport {
        let line = &self.line;
        let whole = line.setting.whole();
        let began = self.began.unwrap_or(self.now);
        let wall_ns = self.last_end.saturating_sub(began);
        let avoided = self.avoided(facts);
        let avoidable = whole.then_some(avoided);
        let lost = self.lost(counts);
        let longest = match avoided {
            Avoided::All => line.ledger.avoidable_longest,
            Avoided::NotThrottled => line.ledger.avoidable_longest_beside,
        };
        let (critical_path, work, transfers) = self.paths_and_work(counts, facts);
        let mut report = TraceReport {
            wall_s: seconds(wall_ns),
            level: line.setting.level,
            processes: self.processes(counts),
            tree: self.processes.rows(&line.labels),
            skipped: self.skipped.rows(),
            tasks: self.tasks.rows(&line.labels, began),
            tasks_total: self.tasks.total + self.tasks.timeless,
            commands: line.ledger.rows(&line.labels, avoidable),
            syscalls: syscalls::rows(counts, line.setting.abi),
            searches: self.searches.rows(&line.labels),
            waits: line.ledger.waits(&line.labels),
            cpu_sharers: if whole { self.sharers(facts) } else { Vec::new() },
            avoidable_wait_s: avoidable.map(|avoided| seconds(avoided.of(&line.ledger.avoidable))),
            avoidable_longest_s: whole.then(|| seconds(longest)),
            avoidable: whole.then(|| self.beside_avoidable(facts, avoided)),
            wrappers: self.wrappers.rows(),
            stages: line.stages.rows(&line.labels),
            effective_parallelism: overhead::ratio(seconds(line.ledger.all.run), seconds(wall_ns))
                .filter(|_| self.tasks.total > 0),
            checks: checks::checks(&self.compared(counts, wall_ns, &critical_path, &work)),
            critical_path,
            critical_alternatives: line.path.alternatives(&line.labels, wall_ns),
            work,
            transfers,
            files: if whole { work::files(counts, line.setting.abi) } else { Vec::new() },
            sampled: counts.sampled.clone(),
            complete: false,
            lost,
            overhead: overhead::overhead(counts, facts, seconds(wall_ns)),
            warnings: Vec::new(),
            not_measured: Vec::new(),
        };
        stage_rows::settle(&mut report.stages, &report.transfers, &report.syscalls);
        // What never began is not whole.
        report.complete = self.began.is_some() && report.adds_up();
        report.warnings = gaps::warnings(self, counts, facts, &report);
        report.not_measured = gaps::not_measured(self, counts, facts, &report);
        report
    }

    /// What the tracer lost, and what is missing in the stream. Gaps are seen from both sides: the side that sees more
    /// of them counts.
    fn lost(&self, counts: &Counts) -> Lost {
        let mut lost = counts.lost.clone();
        let flaws = &self.line.flaws;
        if flaws.gaps.all > lost.gaps {
            lost.gaps = flaws.gaps.all;
            lost.by_cpu.iter_mut().for_each(|it| it.gaps = 0);
            flaws.gaps.by_cpu.iter().for_each(|(cpu, gaps)| lost.on(*cpu).gaps = *gaps);
        }
        lost.unfinished += flaws.unfinished.all;
        flaws.unfinished.by_cpu.iter().for_each(|(cpu, count)| lost.on(*cpu).unfinished += count);
        lost.only_cpus_with_losses();
        lost
    }

    /// The critical path, what CPU time was spent on, and data moved: of a level that sees all three.
    fn paths_and_work(
        &self,
        counts: &Counts,
        facts: &Facts,
    ) -> (Vec<PathRow>, Vec<WorkRow>, Vec<TransferRow>) {
        let line = &self.line;
        if !line.setting.whole() {
            return (Vec::new(), Vec::new(), Vec::new());
        }
        let abi = line.setting.abi;
        let commands = work::commands(&work::Sources {
            ledger: &line.ledger,
            labels: &line.labels,
            startups: &line.path.startups,
            processes: &self.processes,
            counts,
            abi,
        });
        let mut path = line.path.rows(&Accounts {
            labels: &line.labels,
            commands: &commands,
            avoided: self.avoided(facts),
            holder: &|holder| self.holder(holder, facts),
        });
        let work = work::rows(&commands, &line.labels, facts);
        tell_faults(&mut path, &work);
        tell_calls(&mut path, counts, abi);
        (path, work, work::transfers(counts, abi))
    }

    /// Whether the cgroup's quota may be behind waits beside an idle CPU.
    fn avoided(&self, facts: &Facts) -> Avoided {
        if facts.quota_used_up() { Avoided::NotThrottled } else { Avoided::All }
    }

    fn beside_avoidable(&self, facts: &Facts, avoided: Avoided) -> Avoidable {
        let sums = &self.line.ledger.avoidable;
        let cores = !self.line.setting.cores.is_empty();
        let all = Avoided::All.of(sums);
        let counted = avoided.of(sums);
        // The clock of whole cores runs only while that of single CPUs does.
        let sibling_only = all.saturating_sub(sums[CORE]).min(counted);
        Avoidable {
            threshold_s: seconds(self.line.setting.avoidable_from_ns),
            waits: self.line.ledger.avoidable_waits,
            sibling_only_s: cores.then(|| seconds(sibling_only)),
            throttled_s: seconds(all - counted),
            by_pinning_s: (!self.line.setting.open.is_empty())
                .then(|| seconds(avoided.by_pinning(sums).min(counted))),
            but_for_affinity_s: (avoided == Avoided::All).then(|| seconds(sums[ELSEWHERE])),
            steal_s: facts.steal_ns.map(seconds),
        }
    }

    fn processes(&self, counts: &Counts) -> Processes {
        let level = self.line.setting.level;
        // What the kernel adds up for a parent says nothing of how many there were.
        let sees = |count: u64| (level != Level::Rusage).then_some(count);
        let failed = matches!(level, Level::Full | Level::Ptrace).then(|| self.searches.failures());
        // The kernel's programs count what a full ring does not let through.
        let (counted, kernel) = (&self.processes.counted, &counts.lives);
        Processes {
            forks: kernel.forks.or(sees(counted.forks)),
            threads: kernel.threads.or(sees(counted.threads)),
            execs: kernel.execs.or(sees(counted.execs)),
            failed_execs: kernel.failed_execs.or(failed),
            exits: kernel.exits.or(sees(counted.exits)),
            alive: self.alive_by_kernel(counts).or(sees(counted.alive)),
        }
    }

    fn compared<'a>(
        &'a self,
        counts: &'a Counts,
        wall_ns: u64,
        path: &[PathRow],
        work: &[WorkRow],
    ) -> Compared<'a> {
        let ledger = &self.line.ledger;
        Compared {
            sums: &self.sums,
            counts,
            whole: self.line.setting.whole(),
            switches: self.line.flaws.switches,
            processes: self.processes.counted,
            alive: self.alive_by_kernel(counts),
            late: counts.lost.late,
            failed_execs: self.searches.failures(),
            abi: self.line.setting.abi,
            running: self.line.setting.running,
            blocked: (ledger.all.blocked, ledger.blocked_ns()),
            path: (path.iter().map(|row| row.seconds).sum(), seconds(wall_ns)),
            work: work.iter().map(|row| row.seconds).sum(),
            run: ledger.all.run,
            waited: (ledger.all.wait, self.line.cpus.sharers.values().sum()),
        }
    }

    /// The kind and name under which a holder of a CPU is shown.
    fn holder(&self, holder: Holder, facts: &Facts) -> (SharerKind, &str) {
        match holder {
            Holder::Task(kind, label) => (kind, self.line.labels.name(label)),
            Holder::Throttled => (SharerKind::Throttled, "(CPU quota used up)"),
            Holder::LongIdle if facts.quota_used_up() => (SharerKind::Throttled, "(CPU quota used up)"),
            Holder::WakeUp | Holder::LongIdle => (SharerKind::Idle, "(idle: waking up)"),
            Holder::Unknown => (SharerKind::Unknown, "(not shown)"),
        }
    }

    /// Who held the CPU, the longest first.
    fn sharers(&self, facts: &Facts) -> Vec<SharerRow> {
        let labels = &self.line.labels;
        let mut sums: BTreeMap<(&CommandName, SharerKind, &str), u64> = BTreeMap::new();
        for ((command, holder), ns) in self.line.cpus.sharers.iter().filter(|(_, ns)| **ns > 0) {
            let (kind, name) = self.holder(*holder, facts);
            *sums.entry((labels.command(*command), kind, name)).or_default() += ns;
        }
        let row = |((command, kind, sharer), ns): ((&CommandName, SharerKind, &str), u64)| SharerRow {
            command: command.clone(),
            sharer: sharer.to_owned(),
            kind,
            seconds: seconds(ns),
        };
        let mut rows: Vec<SharerRow> = sums.into_iter().map(row).collect();
        largest_first(&mut rows, |it| it.seconds);
        rows
    }
}
