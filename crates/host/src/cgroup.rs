//! The control groups that we are in, version 1, 2 or both, and the limits that they and all their ancestors set.

use std::path::PathBuf;

use super::root::{Root, Unreadable};

/// The groups of this process, with the places where their files are.
#[derive(Debug)]
pub(super) struct Cgroups {
    /// From `/proc/self/cgroup`: controllers and path. Version 2 is the line without controllers.
    groups: Vec<(Vec<String>, String)>,
    mounts: Vec<Mount>,
}

#[derive(Debug)]
struct Mount {
    /// The group that stands at the mount point: not `/` in a container that was given a part of the tree.
    root: String,
    point: String,
    /// Controllers of a version 1 mount; `None` for version 2.
    controllers: Option<Vec<String>>,
}

/// A group and its ancestors as far as they can be seen, the own group first.
#[derive(Debug)]
pub(super) struct Chain {
    /// Whether these are groups of version 2.
    pub(super) v2: bool,
    dirs: Vec<Dir>,
}

/// One group: its name and its directory.
#[derive(Debug)]
pub(super) struct Dir {
    /// Path of the group in its hierarchy as seen from here, e.g. `/user.slice`.
    pub(super) name: String,
    path: PathBuf,
}

impl Dir {
    /// A file of the group.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// What a limit leaves, and which one it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) left: u64,
    pub(super) limit: String,
}

impl Cgroups {
    pub(super) fn read(root: &Root) -> Result<Self, Unreadable> {
        let path = "/proc/self/cgroup";
        let text = root.text(path)?;
        let mut groups = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
                return Err(Unreadable::line(path, index + 1, &text, "number:controllers:path"));
            };
            let controllers =
                controllers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            groups.push((controllers, group.to_owned()));
        }
        let mountinfo = root.text("/proc/self/mountinfo")?;
        Ok(Self { groups, mounts: mountinfo.lines().filter_map(mount).collect() })
    }

    /// The groups whose files a controller has: version 1 where it is mounted as such, else version 2.
    pub(super) fn chain(&self, root: &Root, controller: &str) -> Result<Chain, Unreadable> {
        let has = |names: &[String]| names.iter().any(|name| name == controller);
        let v1 = self.groups.iter().find(|(controllers, _)| has(controllers));
        let v2 = self.groups.iter().find(|(controllers, _)| controllers.is_empty());
        let Some((controllers, group)) = v1.or(v2) else {
            return Err(Unreadable::Other(format!("/proc/self/cgroup names no group for {controller}")));
        };
        let is_v2 = controllers.is_empty();
        let fits = |mount: &&Mount| match &mount.controllers {
            Some(names) => !is_v2 && has(names),
            None => is_v2,
        };
        let visible =
            self.mounts.iter().filter(fits).find_map(|mount| Some((mount, below(&mount.root, group)?)));
        let Some((mount, below)) = visible else {
            let reason = format!("no mount in /proc/self/mountinfo shows the {controller} group {group}");
            return Err(Unreadable::Other(reason));
        };
        let dirs = dirs(&mount.point, below);
        match dirs.first() {
            Some(own) if !root.has_dir(&own.path) => {
                Err(Unreadable::Other(format!("{}: no such directory", own.path.display())))
            }
            _ => Ok(Chain { v2: is_v2, dirs }),
        }
    }
}

/// One line of mountinfo (proc_pid_mountinfo(5)), if it is of a cgroup file system.
fn mount(line: &str) -> Option<Mount> {
    let (mounted, rest) = line.split_once(" - ")?;
    let mut mounted = mounted.split(' ').skip(3);
    let (root, point) = (unescape(mounted.next()?), unescape(mounted.next()?));
    let mut rest = rest.split(' ');
    let kind = rest.next()?;
    let options = rest.nth(1)?;
    let controllers = match kind {
        "cgroup" => Some(options.split(',').map(str::to_owned).collect()),
        "cgroup2" => None,
        _ => return None,
    };
    Some(Mount { root, point, controllers })
}

/// Blank, tab, newline and backslash stand as `\040` and so on in mountinfo.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// The part of `group` below the group that is mounted; `None` if the mount does not show it.
fn below<'a>(mounted: &str, group: &'a str) -> Option<&'a str> {
    let rest = group.strip_prefix(mounted.trim_end_matches('/'))?;
    // A group outside of our cgroup namespace is written with `..`: its directory is not there to be read.
    let outside = rest.split('/').any(|part| part == "..");
    (!outside && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
}

/// The directory of the group and those above it, up to the mount point.
fn dirs(point: &str, below: &str) -> Vec<Dir> {
    let mut parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty()).collect();
    let mut dirs = Vec::with_capacity(parts.len() + 1);
    loop {
        let name = format!("/{}", parts.join("/"));
        dirs.push(Dir { path: PathBuf::from(format!("{}{}", point.trim_end_matches('/'), name)), name });
        if parts.pop().is_none() {
            return dirs;
        }
    }
}

impl Chain {
    /// Whether the top group of the machine holds us, as far as CPU shares go: autogroups act there alone (kernel/sched/autogroup.c,
    /// `task_wants_autogroup`).
    pub(super) fn shares_at_top(&self, root: &Root) -> Result<bool, Unreadable> {
        let has = |dir: &Dir, name: &str| root.path(dir.file(name)).exists();
        let (Some(own), Some(top)) = (self.dirs.first(), self.dirs.last()) else { return Ok(false) };
        if !self.v2 {
            // Only the top group has this file (kernel/cgroup/cgroup-v1.c).
            return Ok(has(own, "release_agent"));
        }
        // A group has the file where it has shares of its own; every one but the top group of the machine has a type (cgroups(7)).
        if self.dirs.iter().any(|dir| has(dir, "cpu.weight")) {
            return Ok(false);
        }
        if has(top, "cgroup.type") {
            return Err(Unreadable::Other(
                "the groups above those of this container cannot be seen".to_owned(),
            ));
        }
        Ok(true)
    }

    /// The CPUs that the least quota pays for, if any group has a quota.
    pub(super) fn quota(&self, root: &Root) -> Result<Option<f64>, Unreadable> {
        let mut least: Option<f64> = None;
        for dir in &self.dirs {
            let cpus = if self.v2 { quota_v2(root, dir)? } else { quota_v1(root, dir)? };
            least = match (least, cpus) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        Ok(least)
    }

    /// How often these groups were throttled. The count of a group is of its own quota only, so that those of the ancestors
    /// are added (kernel/sched/core.c: `cpu_cfs_stat_show`, `cpu_extra_stat_show`). A group that has no quota file has no count either.
    pub(super) fn throttled(&self, root: &Root) -> Result<u64, Unreadable> {
        self.of_quotas(root, "nr_throttled")
    }

    /// For how long they were throttled, nanoseconds over all CPUs.
    pub(super) fn throttled_ns(&self, root: &Root) -> Result<u64, Unreadable> {
        // Version 1 counts nanoseconds, version 2 microseconds.
        let (key, scale) = if self.v2 { ("throttled_usec", 1000) } else { ("throttled_time", 1) };
        Ok(self.of_quotas(root, key)?.saturating_mul(scale))
    }

    fn of_quotas(&self, root: &Root, key: &str) -> Result<u64, Unreadable> {
        let quota_file = if self.v2 { "cpu.max" } else { "cpu.cfs_quota_us" };
        let mut sum = None;
        for dir in self.dirs.iter().filter(|dir| root.path(dir.file(quota_file)).exists()) {
            let lacks = || Unreadable::Other(format!("{} has no {key}", dir.file("cpu.stat").display()));
            let value = stat_value(root, dir, "cpu.stat", key)?.ok_or_else(lacks)?;
            sum = Some(sum.unwrap_or(0_u64).saturating_add(value));
        }
        sum.ok_or_else(|| Unreadable::Other(format!("no group of this process has a file {quota_file}")))
    }

    /// The tightest limit of processes: what it leaves.
    pub(super) fn pids(&self, root: &Root) -> Result<Option<Room>, Unreadable> {
        let mut rooms = Vec::new();
        for dir in &self.dirs {
            if let Some(max) = limit(root, dir, "pids.max")? {
                let left = max.saturating_sub(root.number(dir.file("pids.current"))?);
                rooms.push(Room { left, limit: format!("cgroup pids.max of {}", dir.name) });
            }
        }
        Ok(rooms.into_iter().min_by_key(|room| room.left))
    }

    /// The least memory limit, and the room that the tightest one leaves. They may be of different groups.
    pub(super) fn memory(&self, root: &Root) -> Result<(Option<u64>, Option<Room>), Unreadable> {
        let mut least: Option<u64> = None;
        let mut rooms = Vec::new();
        // memory.high does not end processes but slows them down by reclaim, which is no less a limit for a measurement.
        let (limits, usage): (&[&str], _) = if self.v2 {
            (&["memory.max", "memory.high"], "memory.current")
        } else {
            (&["memory.limit_in_bytes"], "memory.usage_in_bytes")
        };
        for dir in &self.dirs {
            for name in limits {
                let Some(max) = limit(root, dir, name)? else { continue };
                least = Some(least.map_or(max, |least| least.min(max)));
                let used = root.number(dir.file(usage))?.saturating_sub(self.cache(root, dir)?);
                let limit = format!("cgroup {name} of {}", dir.name);
                rooms.push(Room { left: max.saturating_sub(used), limit });
            }
        }
        Ok((least, rooms.into_iter().min_by_key(|room| room.left)))
    }

    /// Page cache of the group and those below it, which the kernel drops before it refuses memory.
    fn cache(&self, root: &Root, dir: &Dir) -> Result<u64, Unreadable> {
        let keys = if self.v2 {
            ["active_file", "inactive_file"]
        } else {
            ["total_active_file", "total_inactive_file"]
        };
        let mut sum = 0_u64;
        for key in keys {
            let lacks = || Unreadable::Other(format!("{} has no {key}", dir.file("memory.stat").display()));
            sum = sum.saturating_add(stat_value(root, dir, "memory.stat", key)?.ok_or_else(lacks)?);
        }
        Ok(sum)
    }
}

/// A limit file: a number, `max`, or absent (the top group of version 2, or a controller that is not enabled).
fn limit(root: &Root, dir: &Dir, name: &str) -> Result<Option<u64>, Unreadable> {
    let path = dir.file(name);
    match root.optional(&path)?.as_deref().map(str::trim) {
        None | Some("max") => Ok(None),
        Some(text) => {
            text.parse().map(Some).map_err(|_| Unreadable::line(&path, 1, text, "a number or \"max\""))
        }
    }
}

/// `cpu.max`: quota or `max`, and period, both in microseconds.
fn quota_v2(root: &Root, dir: &Dir) -> Result<Option<f64>, Unreadable> {
    let path = dir.file("cpu.max");
    let Some(text) = root.optional(&path)? else { return Ok(None) };
    let wrong = || Unreadable::line(&path, 1, &text, "a quota or \"max\", and a period");
    let (quota, period) = text.trim().split_once(' ').ok_or_else(wrong)?;
    if quota == "max" {
        return Ok(None);
    }
    match (quota.parse::<f64>(), period.parse::<f64>()) {
        (Ok(quota), Ok(period)) if quota > 0.0 && period > 0.0 => Ok(Some(quota / period)),
        _ => Err(wrong()),
    }
}

/// `cpu.cfs_quota_us`, where -1 is no quota, over `cpu.cfs_period_us`.
fn quota_v1(root: &Root, dir: &Dir) -> Result<Option<f64>, Unreadable> {
    let path = dir.file("cpu.cfs_quota_us");
    let Some(text) = root.optional(&path)? else { return Ok(None) };
    let quota: i64 =
        text.trim().parse().map_err(|_| Unreadable::line(&path, 1, &text, "microseconds or -1"))?;
    if quota < 0 {
        return Ok(None);
    }
    match root.number(dir.file("cpu.cfs_period_us"))? {
        0 => Err(Unreadable::line(dir.file("cpu.cfs_period_us"), 1, "0", "a period above 0")),
        period => Ok(Some(quota as f64 / period as f64)),
    }
}

/// One value of a file of `key value` lines; `None` where the file or the key is absent.
fn stat_value(root: &Root, dir: &Dir, name: &str, key: &str) -> Result<Option<u64>, Unreadable> {
    let path = dir.file(name);
    let Some(text) = root.optional(&path)? else { return Ok(None) };
    for (index, line) in text.lines().enumerate() {
        if let Some(value) = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(' ')) {
            let value = value.trim().parse();
            return value
                .map(Some)
                .map_err(|_| Unreadable::line(&path, index + 1, &text, "a key and a number"));
        }
    }
    Ok(None)
}
