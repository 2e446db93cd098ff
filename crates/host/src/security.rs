//! What guards this machine against faults of its CPU and against its own processes: both are paid at every system call.

use std::collections::BTreeMap;
use std::fs;

use super::root::Root;

/// The state of every known CPU fault (kernel: Documentation/admin-guide/hw-vuln). `None` where the kernel does not tell.
pub fn mitigations(root: &Root) -> Option<BTreeMap<String, String>> {
    let directory = "/sys/devices/system/cpu/vulnerabilities";
    let entries = fs::read_dir(root.path(directory)).ok()?;
    let faults = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let state = root.word(format!("{directory}/{name}")).ok()?;
        Some((name, state))
    });
    Some(faults.collect())
}

/// The seccomp mode of this process, which its children inherit (kernel: `task_seccomp` in fs/proc/array.c).
pub fn seccomp(root: &Root) -> Option<String> {
    let status = root.text("/proc/self/status").ok()?;
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    match value("Seccomp:")? {
        "0" => Some("none".to_owned()),
        "1" => Some("strict".to_owned()),
        "2" => Some(match value("Seccomp_filters:") {
            Some(filters) => format!("filter ({filters})"),
            None => "filter".to_owned(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::root::Process;

    #[test]
    fn faults_and_filters_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let faults = directory.path().join("sys/devices/system/cpu/vulnerabilities");
        fs::create_dir_all(&faults).unwrap();
        fs::write(faults.join("meltdown"), "Mitigation: PTI\n").unwrap();
        fs::write(faults.join("mds"), "Not affected\n").unwrap();
        let status = directory.path().join("proc/self/status");
        fs::create_dir_all(status.parent().unwrap()).unwrap();
        fs::write(&status, "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t3\n").unwrap();
        let root = Root::fake(directory.path(), Process::ask());
        assert_eq!(mitigations(&root).unwrap()["meltdown"], "Mitigation: PTI");
        assert_eq!(seccomp(&root).as_deref(), Some("filter (3)"));
        fs::write(&status, "Seccomp:\t0\n").unwrap();
        assert_eq!(seccomp(&root).as_deref(), Some("none"));
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_known() {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::fake(directory.path(), Process::ask());
        assert_eq!((mitigations(&root), seccomp(&root)), (None, None));
    }
}
