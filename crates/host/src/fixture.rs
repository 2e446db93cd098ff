//! Machines made of files in a temporary directory, for tests.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::root::{Process, Root};

/// A fake machine. Its files are gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Machine {
    dir: TempDir,
    /// What its kernel answers.
    pub(crate) process: Process,
}

impl Machine {
    /// A machine without any file: no `/proc`, no `/sys`.
    pub(crate) fn bare() -> Self {
        let process = Process {
            node: "fake".into(),
            release: "6.1.0".into(),
            machine: "x86_64".into(),
            cpus: Ok(vec![0, 1]),
            uid: 0,
            max_processes: Some(1000),
            max_files: Some(4096),
            cpu_s: 1.5,
            hypervisor: None,
        };
        Self { dir: tempfile::tempdir().expect("a temporary directory"), process }
    }

    pub(crate) fn root(&self) -> Root {
        Root::fake(self.dir.path(), self.process.clone())
    }

    /// Writes a file of the machine.
    pub(crate) fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.place(path);
        fs::create_dir_all(path.parent().expect("not the root")).expect("create the directories");
        fs::write(path, text).expect("write");
        self
    }

    /// A tool of that machine.
    pub(crate) fn tool(&self, name: &str, script: &str) {
        let path = format!("/usr/bin/{name}");
        self.file(&path, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.place(&path), fs::Permissions::from_mode(0o755)).expect("allow to run it");
    }

    pub(crate) fn place(&self, path: &str) -> PathBuf {
        self.dir.path().join(path.trim_start_matches('/'))
    }

    /// Every file, as absolute paths of the machine.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(self.dir.path(), self.dir.path(), &mut found);
        found.sort();
        found
    }

    fn cpus(&self, count: u32, mhz: &str) -> &Self {
        let block = |cpu| {
            format!(
                "processor\t: {cpu}\nmodel name\t: Fake CPU @ 3GHz\nmicrocode\t: 0x2a\ncpu MHz\t\t: {mhz}\n\
                 flags\t\t: fpu tsc hypervisor\n\n"
            )
        };
        self.file("/proc/cpuinfo", &(0..count).map(block).collect::<String>());
        self.file("/sys/devices/system/cpu/online", &format!("0-{}\n", count - 1));
        self.file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
    }

    fn kernel(&self) -> &Self {
        self.file("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
        self.file("/proc/stat", "cpu  18000 100 3000 160000 700 0 60 450 0 0\ncpu0 1 2 3\n");
        self.file("/proc/loadavg", "0.82 0.35 0.18 3/91 8332\n").file("/proc/uptime", "1000.25 1900.00\n");
        self.file("/proc/pressure/cpu", "some avg10=1.82 avg60=0.95 avg300=0.62 total=7220557\n");
        self.file("/proc/meminfo", "MemTotal:       8388608 kB\nMemFree: 1 kB\nMemAvailable:   4194304 kB\n");
        self.file("/proc/sys/kernel/pid_max", "32768\n").file("/proc/sys/kernel/threads-max", "192730\n");
        self.file("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
        self.file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        self.file("/proc/self/status", "Name:\tx\nCapEff:\t000001fffeffffff\nCpus_allowed_list:\t0-1\n");
        fs::create_dir_all(self.place("/proc/self/ns")).expect("create");
        symlink("user:[4026531837]", self.place("/proc/self/ns/user")).expect("link");
        self
    }

    /// 2 CPUs, controllers of version 1 beside an empty version 2 tree, root, a virtual machine without cpufreq.
    pub(crate) fn hybrid() -> Self {
        let machine = Self::bare();
        machine.cpus(2, "2000.000").kernel();
        machine.file("/proc/self/cgroup", "8:pids:/\n4:memory:/jobs/one\n2:cpuacct:/\n1:cpu:/\n0::/\n");
        let mut mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n".to_owned();
        for (id, name) in [(32, "cpu"), (33, "cpuacct"), (35, "memory"), (39, "pids")] {
            mounts +=
                &format!("{id} 31 0:{id} / /sys/fs/cgroup/{name} rw shared:4 - cgroup cgroup rw,{name}\n");
        }
        mounts += "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        machine.file("/proc/self/mountinfo", &mounts);
        machine.file("/sys/fs/cgroup/pids/cgroup.procs", "").file("/sys/fs/cgroup/unified/cgroup.procs", "");
        machine.file("/sys/fs/cgroup/cpu/release_agent", "\n");
        machine.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        machine.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        machine.file("/sys/fs/cgroup/cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
        for group in ["", "/jobs", "/jobs/one"] {
            let file = |name: &str| format!("/sys/fs/cgroup/memory{group}/{name}");
            machine.file(&file("memory.limit_in_bytes"), "9223372036854771712\n");
            machine.file(&file("memory.usage_in_bytes"), "7000000\n");
            machine.file(
                &file("memory.stat"),
                "cache 1\ntotal_active_file 2000000\ntotal_inactive_file 1000000\n",
            );
        }
        machine
    }

    /// 32 CPUs, version 2, a user's session three groups deep, no privileges, cpufreq.
    pub(crate) fn unified() -> Self {
        let mut machine = Self::bare();
        machine.process.uid = 1000;
        machine.process.cpus = Ok((0..32).collect());
        machine.cpus(32, "1000.000").kernel();
        machine.file(
            "/proc/self/status",
            "Name:\tx\nUid:\t1000\t1000\t1000\t1000\nThreads:\t1\nCapEff:\t0000000000000000\n",
        );
        for (pid, uid, threads) in [(10, 1000, 4), (11, 1000, 2), (12, 0, 50)] {
            let status = format!("Name:\tx\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nThreads:\t{threads}\n");
            machine.file(&format!("/proc/{pid}/status"), &status);
        }
        for cpu in 0..32 {
            let file = |name: &str| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}");
            machine.file(&file("scaling_governor"), "powersave\n");
            machine.file(&file("scaling_cur_freq"), &format!("{}\n", 1_200_000 + cpu));
        }
        machine.file("/proc/self/cgroup", "0::/user.slice/a b/run\n");
        machine.file(
            "/proc/self/mountinfo",
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
        );
        // The top group has no limit files.
        machine.file("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n");
        let groups = [
            ("/user.slice", "1600000 100000", "max", "3221225472", "33000"),
            ("/user.slice/a b", "800000 100000", "2147483648", "max", "600"),
            ("/user.slice/a b/run", "max 100000", "max", "max", "max"),
        ];
        for (group, cpu, max, high, pids) in groups {
            let file = |name: &str| format!("/sys/fs/cgroup{group}/{name}");
            machine.file(&file("cgroup.type"), "domain\n").file(&file("cpu.weight"), "100\n");
            machine.file(&file("cpu.max"), &format!("{cpu}\n"));
            machine.file(&file("cpu.stat"), "usage_usec 5\nnr_periods 9\nnr_throttled 3\nthrottled_usec 7\n");
            machine
                .file(&file("memory.max"), &format!("{max}\n"))
                .file(&file("memory.high"), &format!("{high}\n"));
            machine.file(&file("memory.current"), "1073741824\n");
            machine.file(&file("memory.stat"), "anon 1\nactive_file 104857600\ninactive_file 419430400\n");
            machine.file(&file("pids.max"), &format!("{pids}\n")).file(&file("pids.current"), "100\n");
        }
        machine
    }
}

fn collect(top: &Path, dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).expect("read a directory") {
        let path = entry.expect("read an entry").path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(top, &path, found);
        } else {
            let inside = path.strip_prefix(top).expect("below the top");
            found.push(format!("/{}", inside.display()));
        }
    }
}
