//! Control groups that tests make, of either version.

use std::fs;
use std::path::{Path, PathBuf};

use super::needs::{Missing, Need};

/// A control group; gone when dropped, if it is empty then.
pub(crate) struct Group(pub(crate) PathBuf);

impl Group {
    /// Makes one below the root of the controller, with these settings: (file, value) of version 1, of version 2.
    pub(crate) fn make(controller: &str, old: &[(&str, &str)], new: &[(&str, &str)]) -> Need<Self> {
        let made = Self::try_make(controller, old, new);
        made.ok_or_else(|| Missing::Machine(format!("{controller} controller that can be written")))
    }

    fn try_make(controller: &str, old: &[(&str, &str)], new: &[(&str, &str)]) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/mounts").ok()?;
        let (dir, settings) = mounts.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            match *fields.get(2)? {
                "cgroup" if fields[3].split(',').any(|option| option == controller) => Some((fields[1], old)),
                "cgroup2" if controls(fields[1], controller) => Some((fields[1], new)),
                _ => None,
            }
        })?;
        let thread = std::thread::current();
        let test = thread.name().unwrap_or("test").replace("::", "-");
        let group = Self(Path::new(dir).join(format!("whyfaster-{}-{test}", std::process::id())));
        fs::create_dir(&group.0).ok()?;
        for (file, value) in settings {
            fs::write(group.0.join(file), value).ok()?;
        }
        Some(group)
    }

    /// Where a process joins it.
    pub(crate) fn procs(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

fn controls(root: &str, controller: &str) -> bool {
    fs::read_to_string(format!("{root}/cgroup.subtree_control"))
        .is_ok_and(|text| text.split_whitespace().any(|it| it == controller))
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
