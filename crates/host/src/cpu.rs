//! The CPUs: model, which ones, clock, governor, hypervisor.

use whyfaster_core::cpu_list;

use super::root::{Process, Root, Unreadable};

const CPUINFO: &str = "/proc/cpuinfo";
const CPUS: &str = "/sys/devices/system/cpu";

/// The core that each CPU is a hardware thread of, by the number of the CPU: the lowest CPU of that core; one that is offline has no
/// topology and is its own. Empty where it cannot be read: Documentation/ABI/stable/sysfs-devices-system-cpu, `thread_siblings_list`.
pub fn cores(root: &Root) -> Vec<u16> {
    let core = |cpu: u32| {
        let text = root.text(format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list")).ok()?;
        cpu_list::parse(&text)?.first().and_then(|first| u16::try_from(*first).ok())
    };
    let possible = root.text(format!("{CPUS}/possible")).ok().and_then(|text| cpu_list::parse(&text));
    let Some(last) = possible.and_then(|cpus| cpus.last().copied()) else { return Vec::new() };
    let known: Vec<Option<u16>> = (0..=last).map(core).collect();
    if known.iter().all(Option::is_none) {
        return Vec::new();
    }
    known.into_iter().zip(0..).map(|(core, cpu)| core.unwrap_or(cpu)).collect()
}

/// `/proc/cpuinfo`, whose lines are `key : value` with a block for every CPU.
#[derive(Debug)]
pub(super) struct CpuInfo(String);

impl CpuInfo {
    pub(super) fn read(root: &Root) -> Result<Self, Unreadable> {
        root.text(CPUINFO).map(Self)
    }

    fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let pairs = self.0.lines().filter_map(|line| line.split_once(':'));
        pairs.filter(move |(name, _)| name.trim() == key).map(|(_, value)| value.trim())
    }

    /// The name of the first CPU. Each architecture has its own key (x86; MIPS, SPARC; POWER; RISC-V; older ARM boards); arm64 has the
    /// numbers of MIDR_EL1 instead (kernel: arch/arm64/kernel/cpuinfo.c).
    pub(super) fn model(&self) -> Result<String, Unreadable> {
        let first = |key: &str| self.values(key).find(|value| !value.is_empty()).map(str::to_owned);
        let keys = ["model name", "cpu model", "cpu", "uarch", "Hardware"];
        let numbers =
            || Some(format!("implementer {}, part {}", first("CPU implementer")?, first("CPU part")?));
        keys.into_iter().find_map(first).or_else(numbers).ok_or_else(|| self.lacks("no name of the CPU"))
    }

    pub(super) fn microcode(&self) -> Result<String, Unreadable> {
        self.values("microcode").next().map(str::to_owned).ok_or_else(|| self.lacks("no microcode revision"))
    }

    /// Whether the CPU says that it is a virtual one.
    pub(super) fn is_virtual(&self) -> bool {
        self.values("flags").next().is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
    }

    /// The clock of each of these CPUs. Numbers there are of CPUs, not of lines, and offline CPUs have no block.
    fn clocks(&self, cpus: &[u32]) -> Result<Vec<u64>, Unreadable> {
        let mut clocks = Vec::new();
        let mut current = None;
        for (index, line) in self.0.lines().enumerate() {
            let Some((key, value)) = line.split_once(':') else { continue };
            match key.trim() {
                "processor" => current = value.trim().parse::<u32>().ok(),
                "cpu MHz" if current.is_some_and(|cpu| cpus.contains(&cpu)) => {
                    let mhz = value.trim().parse::<f64>().ok().filter(|mhz| *mhz > 0.0 && mhz.is_finite());
                    let mhz =
                        mhz.ok_or_else(|| Unreadable::line(CPUINFO, index + 1, &self.0, "a clock in MHz"))?;
                    clocks.push((mhz * 1000.0).round() as u64);
                }
                _ => {}
            }
        }
        if clocks.is_empty() { Err(self.lacks("no clock")) } else { Ok(clocks) }
    }

    fn lacks(&self, what: &str) -> Unreadable {
        Unreadable::Other(format!("{CPUINFO} has {what}"))
    }
}

/// Number of CPUs online.
pub(super) fn online(root: &Root) -> Result<u32, Unreadable> {
    let path = format!("{CPUS}/online");
    if let Some(text) = root.optional(&path)? {
        let cpus = cpu_list::parse(&text).filter(|cpus| !cpus.is_empty());
        return cpus
            .map(|cpus| cpus.len() as u32)
            .ok_or_else(|| Unreadable::line(&path, 1, &text, "a list of CPUs"));
    }
    match CpuInfo::read(root)?.values("processor").count() {
        0 => Err(Unreadable::Other(format!("neither {path} nor {CPUINFO} lists CPUs"))),
        count => Ok(count as u32),
    }
}

/// CPUs that we may use, if anything says which.
pub fn cpus_allowed(root: &Root) -> Option<Vec<u32>> {
    allowed(root, root.process().cpus).ok()
}

/// CPUs that we may use: by system call, else from `/proc/self/status`.
pub(super) fn allowed(root: &Root, by_call: Result<Vec<u32>, String>) -> Result<Vec<u32>, Unreadable> {
    let why = match by_call {
        Ok(cpus) => return Ok(cpus),
        Err(why) => why,
    };
    let status =
        root.text("/proc/self/status").map_err(|error| Unreadable::Other(format!("{why}; {error}")))?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.and_then(cpu_list::parse).filter(|cpus| !cpus.is_empty()).ok_or(Unreadable::Other(why))
}

/// Frequency governor of one CPU.
pub(super) fn governor(root: &Root, cpu: u32) -> Result<String, Unreadable> {
    let path = format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor");
    match root.optional(&path)? {
        Some(_) => root.word(&path),
        None => Err(Unreadable::Other(format!(
            "{path}: no such file (a virtual machine often has none: its host sets the clock)"
        ))),
    }
}

/// Current clock of each of these CPUs, kHz: from the frequency driver, else from `/proc/cpuinfo`.
pub(super) fn clocks(
    root: &Root,
    cpus: &[u32],
    info: &Result<CpuInfo, Unreadable>,
) -> Result<Vec<u64>, Unreadable> {
    let path = |cpu: &u32| format!("{CPUS}/cpu{cpu}/cpufreq/scaling_cur_freq");
    if cpus.first().is_some_and(|cpu| root.path(path(cpu)).exists()) {
        return cpus.iter().map(|cpu| root.number(path(cpu))).collect();
    }
    match info {
        Ok(info) => info.clocks(cpus),
        Err(error) => Err(Unreadable::Other(error.to_string())),
    }
}

/// Clock source of the kernel.
pub(super) fn clocksource(root: &Root) -> Result<String, Unreadable> {
    root.word("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// The hypervisor, or `None` where the CPU says that there is none, which only x86 does.
pub(super) fn hypervisor(
    root: &Root,
    process: &Process,
    info: Option<&CpuInfo>,
) -> Result<Option<String>, Unreadable> {
    let by_sys = || root.word("/sys/hypervisor/type").ok();
    let unnamed = || info.is_some_and(CpuInfo::is_virtual).then(|| "of unknown make".to_owned());
    let by_cpu = process.hypervisor.clone().filter(|name| !name.is_empty());
    let told = by_cpu.or_else(by_sys).or_else(unnamed);
    if told.is_some() || ["x86_64", "i686"].contains(&process.machine.as_str()) {
        return Ok(told);
    }
    let found = by_device_tree(root).or_else(|| by_firmware(root));
    found.map(Some).ok_or_else(|| Unreadable::Other(format!("a CPU of {} does not tell", process.machine)))
}

/// The first of the names that the hypervisor gives itself (kernel: Documentation/devicetree/bindings/arm/xen.txt, also of KVM).
fn by_device_tree(root: &Root) -> Option<String> {
    let names = root.text("/proc/device-tree/hypervisor/compatible").ok()?;
    names.split('\0').next().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Makers of virtual machines, as their firmware names the machine or whom it is from.
const VIRTUAL: [&str; 8] = [
    "QEMU",
    "KVM",
    "Amazon EC2",
    "Google Compute Engine",
    "VMware",
    "Virtual Machine",
    "Apple Virtualization",
    "Parallels",
];

fn by_firmware(root: &Root) -> Option<String> {
    let of = |name: &str| root.word(format!("/sys/class/dmi/id/{name}")).unwrap_or_default();
    let (vendor, product) = (of("sys_vendor"), of("product_name"));
    // Amazon's machines without a hypervisor carry its name as well.
    let known = VIRTUAL.iter().any(|name| vendor.contains(name) || product.contains(name));
    (known && !product.ends_with(".metal")).then(|| format!("{vendor} {product}").trim().to_owned())
}
