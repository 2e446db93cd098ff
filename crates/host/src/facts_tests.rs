//! Facts of fake machines, whole, broken and absent, and of the real one.

use std::fs;

use whyfaster_core::host::{CPU_QUOTA, HostFacts, moved};
use whyfaster_core::warning::Warning;
use whyfaster_words::Tell;

use super::facts::facts;
use super::fixture::Machine;
use super::root::Root;

fn missing(facts: &HostFacts) -> Vec<&str> {
    facts.missing.iter().map(|missing| missing.what.as_str()).collect()
}

#[test]
fn two_cpus_with_groups_of_version_1() {
    let facts = facts(&Machine::hybrid().root());
    assert_eq!(missing(&facts), ["governor"], "{:?}", facts.missing);
    assert_eq!((facts.host_name.as_deref(), facts.machine_id.is_some()), (Some("fake"), true));
    assert_eq!(facts.kernel.as_deref(), Some("6.1.0"));
    assert_eq!(facts.cpu_model.as_deref(), Some("Fake CPU @ 3GHz"));
    assert_eq!(facts.microcode.as_deref(), Some("0x2a"));
    assert_eq!(facts.hypervisor.as_deref(), Some("of unknown make"));
    assert_eq!((facts.cpus_online, facts.cpus_allowed), (Some(2), Some(vec![0, 1])));
    assert_eq!(facts.clock_khz, Some(vec![2_000_000; 2]));
    assert_eq!((facts.cgroup_cpus, facts.cgroup_throttled), (None, Some(0)));
    assert_eq!(facts.load_average, Some([0.82, 0.35, 0.18]));
    assert_eq!(facts.runnable, Some(2));
    assert_eq!(facts.cpu_pressure, Some(1.82));
    assert_eq!(facts.cpu_steal_s, Some(4.5));
    assert_eq!(facts.steal, Some(450.0 / 182_310.0));
    assert_eq!(facts.huge_pages.as_deref(), Some("madvise"));
    assert_eq!(facts.autogroup, Some(true));
    assert_eq!((facts.memory_total, facts.cgroup_memory), (Some(8 << 30), None));
    assert_eq!(facts.memory_available, Some(4 << 30));
    // Root, so that ulimit -u does not bind; the pids group is the top one, without a limit.
    assert_eq!(facts.pids_available, Some(32_768 - 300 - 91));
    assert_eq!(facts.pids_limit.as_deref(), Some("kernel.pid_max"));
    assert_eq!(facts.files_limit, Some(4096));
    assert_eq!(facts.privilege_level, Some(2));
}

/// arm64 has numbers for a name, and no register that tells of a hypervisor.
#[test]
fn an_arm64_machine_tells_what_it_is_by_its_firmware() {
    let mut machine = Machine::hybrid();
    machine.process.machine = "aarch64".into();
    machine.file("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
    let read = |machine: &Machine| facts(&machine.root());
    let facts = read(&machine);
    assert_eq!(facts.cpu_model.as_deref(), Some("implementer 0x41, part 0xd0c"));
    assert!(facts.hypervisor.is_none() && missing(&facts).contains(&"hypervisor"), "{:?}", facts.missing);
    let dmi = |vendor: &str, product: &str| {
        machine.file("/sys/class/dmi/id/sys_vendor", vendor).file("/sys/class/dmi/id/product_name", product);
        read(&machine).hypervisor
    };
    assert_eq!(dmi("Amazon EC2\n", "c7g.large\n").as_deref(), Some("Amazon EC2 c7g.large"));
    assert_eq!(dmi("Amazon EC2\n", "c7g.metal\n"), None);
    assert_eq!(dmi("Ampere\n", "Mt. Jade\n"), None);
    machine.file("/proc/device-tree/hypervisor/compatible", "xen,xen-4.17\0xen,xen\0");
    assert_eq!(read(&machine).hypervisor.as_deref(), Some("xen,xen-4.17"));
}

/// Where a CPU is offline, those behind it keep their cores.
#[test]
fn an_offline_cpu_hides_no_core() {
    let machine = Machine::bare();
    assert_eq!(crate::cores(&machine.root()), [0; 0]);
    machine.file("/sys/devices/system/cpu/possible", "0-3\n");
    for (cpu, siblings) in [(0, "0,2"), (2, "0,2"), (3, "1,3")] {
        machine.file(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"), siblings);
    }
    assert_eq!(crate::cores(&machine.root()), [0, 1, 0, 1]);
}

/// Autogroups act where no group on the way has CPU shares: task_wants_autogroup() in kernel/sched/autogroup.c.
#[test]
fn sessions_are_scheduling_groups_in_the_top_group_only() {
    let read = |machine: &Machine| {
        let facts = facts(&machine.root());
        (facts.autogroup, missing(&facts).contains(&"autogroup"))
    };
    let remove =
        |machine: &Machine, file: &str| std::fs::remove_file(machine.place(file)).expect("it is there");
    let machine = Machine::hybrid();
    remove(&machine, "/sys/fs/cgroup/cpu/release_agent");
    assert_eq!(read(&machine), (Some(false), false), "version 1, below the top");
    let machine = Machine::unified();
    assert_eq!(read(&machine), (Some(false), false), "shares of its own");
    for group in ["/user.slice", "/user.slice/a b", "/user.slice/a b/run"] {
        remove(&machine, &format!("/sys/fs/cgroup{group}/cpu.weight"));
    }
    assert_eq!(read(&machine), (Some(true), false), "no group has shares");
    machine.file("/sys/fs/cgroup/cgroup.type", "domain\n");
    assert_eq!(read(&machine), (None, true), "a container, and what is above it may have shares");
    machine.file("/proc/sys/kernel/sched_autogroup_enabled", "0\n");
    assert_eq!(read(&machine), (Some(false), false), "off");
}

#[test]
fn thirty_two_cpus_with_groups_of_version_2() {
    let facts = facts(&Machine::unified().root());
    assert_eq!(missing(&facts), [""; 0], "{:?}", facts.missing);
    assert_eq!(facts.cpus_online, Some(32));
    assert_eq!(facts.clock_khz.as_ref().map(|clocks| (clocks.len(), clocks[31])), Some((32, 1_200_031)));
    assert_eq!(facts.governor.as_deref(), Some("powersave"));
    assert_eq!(facts.cgroup_cpus, Some(8.0), "the least of all ancestors");
    assert_eq!(facts.cgroup_throttled, Some(9), "the sum of all ancestors");
    assert_eq!(facts.cgroup_memory, Some(2 << 30));
    // 2 GiB less 1 GiB used, of which 500 MiB are cache.
    assert_eq!(facts.memory_available, Some((1 << 30) + (500 << 20)));
    assert_eq!(facts.memory_limit.as_deref(), Some("cgroup memory.max of /user.slice/a b"));
    assert_eq!(facts.pids_available, Some(500));
    assert_eq!(facts.pids_limit.as_deref(), Some("cgroup pids.max of /user.slice/a b"));
    assert_eq!(facts.privilege_level, Some(0));
}

#[test]
fn the_process_limit_of_a_user_counts_threads_of_that_user() {
    let mut machine = Machine::unified();
    machine.process.max_processes = Some(56);
    let limited = facts(&machine.root());
    assert_eq!((limited.pids_available, limited.pids_limit.as_deref()), (Some(50), Some("ulimit -u")));
    machine.file("/proc/self/status", "CapEff:\t0000000001000000\n"); // CAP_SYS_RESOURCE
    assert_eq!(facts(&machine.root()).pids_available, Some(500));
}

#[test]
fn a_version_1_quota_and_limit() {
    let machine = Machine::hybrid();
    machine.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
    machine.file("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "104857600\n");
    let facts = facts(&machine.root());
    assert_eq!(facts.cgroup_cpus, Some(1.5));
    assert_eq!(facts.memory_available, Some(104_857_600 - 4_000_000));
    assert_eq!(facts.memory_limit.as_deref(), Some("cgroup memory.limit_in_bytes of /jobs"));
}

#[test]
fn a_container_that_sees_only_its_own_groups() {
    let machine = Machine::unified();
    // Without a cgroup namespace: the path is the host's, and the mount shows the container's part of the tree.
    machine.file("/proc/self/cgroup", "0::/docker/abc\n");
    machine.file("/proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    machine.file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_eq!(facts(&machine.root()).cgroup_cpus, Some(0.5));
    // A group outside of the namespace or of the mount has limits that cannot be seen: unknown, not "none".
    for group in ["0::/../other\n", "0::/docker/abcd\n", "0::/docker\n"] {
        machine.file("/proc/self/cgroup", group);
        let facts = facts(&machine.root());
        assert_eq!(facts.cgroup_cpus, None);
        assert!(missing(&facts).contains(&CPU_QUOTA), "{group}: {:?}", facts.missing);
    }
}

#[test]
fn without_proc_and_sys_every_fact_has_its_reason() {
    let facts = facts(&Machine::bare().root());
    let known = HostFacts {
        host_name: Some("fake".into()),
        kernel: Some("6.1.0".into()),
        machine: Some("x86_64".into()),
        cpus_allowed: Some(vec![0, 1]),
        own_cpu_s: Some(1.5),
        files_limit: Some(4096),
        missing: facts.missing.clone(),
        ..HostFacts::default()
    };
    assert_eq!(facts, known, "all else is not measured, and nothing is 0");
    assert_eq!(facts.missing.len(), 21, "{:#?}", facts.missing);
    for missing in &facts.missing {
        assert!(missing.why.contains("no such file"), "{missing:?}");
        let named = ["/proc/", "/sys/", "/etc/machine-id"].iter().any(|path| missing.why.contains(path));
        assert!(named, "{missing:?}");
    }
}

#[test]
fn affinity_falls_back_to_the_status_file() {
    let mut machine = Machine::hybrid();
    machine.process.cpus = Err("sched_getaffinity: not permitted".into());
    assert_eq!(facts(&machine.root()).cpus_allowed, Some(vec![0, 1]));
    machine.file("/proc/self/status", "CapEff:\t0\n");
    let facts = facts(&machine.root());
    let why = facts.missing.iter().find(|missing| missing.what == "CPUs allowed").expect("noted");
    assert_eq!(why.why, "sched_getaffinity: not permitted");
}

/// The fields as JSON, so that a test can go over all of them.
fn fields(facts: &HostFacts) -> serde_json::Map<String, serde_json::Value> {
    match serde_json::to_value(facts).expect("facts are JSON") {
        serde_json::Value::Object(mut map) => {
            map.remove("missing");
            map
        }
        other => panic!("{other}"),
    }
}

/// A broken file may take facts away, and then says so with its path; another fact may take over. It never makes up a fact.
#[test]
fn garbage_in_any_file_is_named_and_never_becomes_a_fact() {
    for machine in [Machine::hybrid(), Machine::unified()] {
        let whole = facts(&machine.root());
        let files: Vec<String> =
            machine.files().into_iter().filter(|file| !file.ends_with("cgroup.procs")).collect();
        assert!(files.len() > 20);
        for file in files {
            let good = fs::read(machine.place(&file)).expect("read");
            for garbage in [
                &b""[..],
                b"\n\n\n",
                b"garbage\n",
                b"\xff\xfe\x00\x01",
                b"-1 -1 -1\n-1",
                b"99999999999999999999999",
            ] {
                fs::write(machine.place(&file), garbage).expect("write");
                let broken = facts(&machine.root());
                let shown = String::from_utf8_lossy(garbage);
                check(&whole, &broken, &file, &shown);
            }
            fs::write(machine.place(&file), good).expect("write");
        }
    }
}

fn check(whole: &HostFacts, broken: &HostFacts, file: &str, garbage: &str) {
    // One process among many that ends or cannot be read is left out of a count.
    let counted = file.ends_with("/status") && file != "/proc/self/status";
    // A word may be any word (governor, clock source), and seconds since boot any number.
    let number = file == "/proc/uptime" && garbage.starts_with('9');
    let free = number || file.ends_with("scaling_governor") || file.ends_with("current_clocksource");
    let same = fields(whole) == fields(broken);
    let named = broken.missing.iter().any(|missing| {
        let inside = missing.why.contains(file);
        inside && !whole.missing.contains(missing)
    });
    assert!(same || named || counted || free, "{file} with {garbage:?}: {:#?}", broken.missing);
}

#[test]
fn any_file_may_be_absent() {
    for machine in [Machine::hybrid(), Machine::unified()] {
        let whole = fields(&facts(&machine.root()));
        for file in machine.files() {
            let good = fs::read(machine.place(&file)).expect("read");
            fs::remove_file(machine.place(&file)).expect("remove");
            let without = fields(&facts(&machine.root()));
            for (name, value) in &without {
                let zero = value.as_f64() == Some(0.0) && whole[name].as_f64() != Some(0.0);
                assert!(!zero, "{name} became 0 without {file}");
            }
            fs::write(machine.place(&file), good).expect("write");
        }
    }
}

#[test]
fn the_real_machine_has_sane_facts() {
    let first = facts(&Root::real());
    let second = facts(&Root::real());
    assert!(first.kernel.as_deref().is_some_and(|kernel| !kernel.is_empty()));
    let allowed = first.cpus_allowed.as_ref().expect("the system call works everywhere");
    assert!(!allowed.is_empty() && allowed.is_sorted());
    if let (Some(total), Some(available)) = (first.memory_total, first.memory_available) {
        assert!(available <= total && total > 1 << 20);
    }
    if let (Some(before), Some(after)) = (first.cpu_busy_s, second.cpu_busy_s) {
        assert!(after >= before && before > 0.0);
    }
    if let Some(steal) = first.steal {
        assert!((0.0..=1.0).contains(&steal));
    }
    if let Some(quota) = first.cgroup_cpus {
        assert!(quota > 0.0);
    }
    assert_eq!(first.pids_available.is_some(), first.pids_limit.is_some());
    assert!(second.own_cpu_s >= first.own_cpu_s);
    // Whatever happened in between, it is told with a remedy.
    let warnings: Vec<_> = moved(&first, &second).into_iter().map(Warning::from).collect();
    assert!(warnings.told().iter().all(|warning| !warning.remedy.is_empty()));
}
