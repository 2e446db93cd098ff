//! All facts at one moment.

use std::fmt::Display;

use whyfaster_core::host::{CPU_QUOTA, HYPERVISOR, HostFacts};
use whyfaster_core::missing::NotMeasured;

use super::cgroup::{Cgroups, Room};
use super::counters::MachineCounters;
use super::cpu::{self, CpuInfo};
use super::identity;
use super::privilege::Privilege;
use super::root::{Process, Root, Unreadable};
use super::{limits, load, memory};

/// Reads the facts. Nothing here fails: what could not be read is in `missing` with the reason.
pub fn facts(root: &Root) -> HostFacts {
    let process = root.process();
    let mut collector = Collector { root, facts: HostFacts::default() };
    collector.identity();
    collector.cpus(&process);
    let groups = Cgroups::read(root);
    collector.settings(&groups);
    collector.time(&process);
    collector.quota(&groups);
    collector.memory(&groups);
    collector.processes(&process, &groups);
    let mut facts = collector.facts;
    facts.host_name = Some(process.node);
    facts.kernel = Some(process.release);
    facts.machine = Some(process.machine);
    facts
}

/// How often, and for how many nanoseconds over all CPUs, the quotas of this process's groups were used up.
pub fn throttling(root: &Root) -> Option<(u64, u64)> {
    let chain = Cgroups::read(root).and_then(|groups| groups.chain(root, "cpu")).ok()?;
    Some((chain.throttled(root).ok()?, chain.throttled_ns(root).ok()?))
}

struct Collector<'a> {
    root: &'a Root,
    facts: HostFacts,
}

impl Collector<'_> {
    /// The value, or its reason noted.
    fn take<T, E: Display>(&mut self, what: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.miss(what, error)).ok()
    }

    fn miss(&mut self, what: &str, why: impl Display) {
        self.facts.missing.push(NotMeasured::told(what, why.to_string()));
    }

    fn cpus(&mut self, process: &Process) {
        let info = CpuInfo::read(self.root);
        self.facts.cpu_model = self.take("CPU model", of(&info, CpuInfo::model));
        self.facts.microcode = self.take("microcode", of(&info, CpuInfo::microcode));
        let hypervisor = cpu::hypervisor(self.root, process, info.as_ref().ok());
        self.facts.hypervisor = self.take(HYPERVISOR, hypervisor).flatten();
        self.facts.cpus_online = self.take("CPUs online", cpu::online(self.root));
        self.facts.cpus_allowed = self.take("CPUs allowed", cpu::allowed(self.root, process.cpus.clone()));
        let cpus = self.facts.cpus_allowed.clone().unwrap_or_default();
        let governor = cpu::governor(self.root, cpus.first().copied().unwrap_or(0));
        self.facts.governor = self.take("governor", governor);
        self.facts.clock_khz = self.take("CPU clock", cpu::clocks(self.root, &cpus, &info));
        self.facts.clocksource = self.take("clock source", cpu::clocksource(self.root));
    }

    fn identity(&mut self) {
        self.facts.machine_id = self.take("machine id", identity::machine_id(self.root));
    }

    fn settings(&mut self, groups: &Result<Cgroups, Unreadable>) {
        let at_top = of(groups, |groups| groups.chain(self.root, "cpu")?.shares_at_top(self.root));
        self.facts.autogroup = self.take("autogroup", load::autogroup(self.root, at_top));
        self.facts.huge_pages = self.take("huge pages", memory::huge_pages(self.root));
        let privilege = Privilege::read(self.root);
        self.facts.privilege_level = privilege.as_ref().ok().map(|privilege| privilege.level());
        self.facts.privilege = self.take("privilege", of(&privilege, |privilege| Ok(privilege.words())));
    }

    fn time(&mut self, process: &Process) {
        if let Some(load) = self.take("load", load::load(self.root)) {
            self.facts.load_average = Some(load.average);
            self.facts.runnable = Some(load.runnable);
        }
        self.facts.uptime_s = self.take("time since boot", load::uptime(self.root));
        self.facts.own_cpu_s = Some(process.cpu_s);
        if let Some((percent, seconds)) = self.take("CPU pressure", load::cpu_pressure(self.root)) {
            self.facts.cpu_pressure = Some(percent);
            self.facts.cpu_pressure_s = Some(seconds);
        }
        let counters = self.take("CPU time and steal", MachineCounters::open(self.root));
        if let Some(now) = counters.and_then(|counters| counters.read()) {
            self.facts.cpu_busy_s = Some(now.busy_s);
            self.facts.cpu_idle_s = Some(now.idle_s);
            self.facts.cpu_steal_s = Some(now.steal_s);
            let total = now.busy_s + now.idle_s + now.steal_s;
            self.facts.steal = (total > 0.0).then_some(now.steal_s / total);
        }
    }

    fn quota(&mut self, groups: &Result<Cgroups, Unreadable>) {
        let chain = of(groups, |groups| groups.chain(self.root, "cpu"));
        let quota = of(&chain, |chain| chain.quota(self.root));
        self.facts.cgroup_cpus = self.take(CPU_QUOTA, quota).flatten();
        let throttled = of(&chain, |chain| chain.throttled(self.root));
        self.facts.cgroup_throttled = self.take("cgroup throttling", throttled);
    }

    fn memory(&mut self, groups: &Result<Cgroups, Unreadable>) {
        let machine = self.take("memory", memory::memory(self.root));
        let of_group = of(groups, |groups| groups.chain(self.root, "memory")?.memory(self.root));
        let (limit, group) = self.take("cgroup memory limit", of_group).unwrap_or_default();
        let total = machine.as_ref().map(|(total, _)| *total);
        self.facts.memory_total = total;
        // Version 1 has no word for "no limit", only a number larger than any machine.
        self.facts.cgroup_memory = limit.filter(|limit| *limit < total.unwrap_or(1 << 60));
        if let Some((_, machine)) = machine {
            let tightest = least([Some(machine), group]);
            self.facts.memory_available = tightest.as_ref().map(|room| room.left);
            self.facts.memory_limit = tightest.map(|room| room.limit);
        }
    }

    fn processes(&mut self, process: &Process, groups: &Result<Cgroups, Unreadable>) {
        let mut rooms = Vec::new();
        match load::load(self.root) {
            Ok(load) => {
                for room in limits::machine(self.root, load.tasks) {
                    rooms.push(self.take("limit of processes on the machine", room));
                }
            }
            Err(error) => self.miss("limit of processes on the machine", error),
        }
        let of_group = of(groups, |groups| groups.chain(self.root, "pids")?.pids(self.root));
        rooms.push(self.take("cgroup limit of processes", of_group).flatten());
        let of_user =
            Privilege::read(self.root).and_then(|privilege| limits::user(self.root, process, privilege));
        rooms.push(self.take("ulimit of processes", of_user).flatten());
        self.facts.files_limit = self.take("limit of open files", limits::files(self.root, process));
        let tightest = least(rooms);
        self.facts.pids_available = tightest.as_ref().map(|room| room.left);
        self.facts.pids_limit = tightest.map(|room| room.limit);
    }
}

fn least(rooms: impl IntoIterator<Item = Option<Room>>) -> Option<Room> {
    rooms.into_iter().flatten().min_by_key(|room| room.left)
}

/// A fact out of something that could be read itself, or the reason why that could not be read.
fn of<T, U>(
    whole: &Result<T, Unreadable>,
    part: impl FnOnce(&T) -> Result<U, Unreadable>,
) -> Result<U, Unreadable> {
    match whole {
        Ok(whole) => part(whole),
        Err(error) => Err(Unreadable::Other(error.to_string())),
    }
}
