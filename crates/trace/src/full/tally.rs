//! What was counted in the kernel, read out.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapCore, MapFlags, libbpf_sys};
use whyfaster_core::trace::counts::{CallCell, CallGroup, CpuLost, Lost};
use whyfaster_core::trace::event::{CallNumber, FileKind, Pid};

use super::TraceError;
use super::decode::{call_number, kind_of_file};
use super::load::Loaded;
use super::programs::types::{cell, cell_key, cpu_state, error_key, file_path, forked, group_key};
use super::programs::{Plain, name};
use super::tables;

/// In the number of a call of a cell: where the kind of file begins, and its bits; and of a call with a kind, the same of the number of its
/// file. As in the header.
const FILE_SHIFT: u32 = 24;
const FILE_BITS: u32 = 0xf << FILE_SHIFT;
const NUMBER_SHIFT: u32 = 9;
const NUMBER_BITS: u32 = 0xff << NUMBER_SHIFT;

/// What is read, in error messages.
const CALLS: &str = "counts of calls";

/// Cells that were taken out of the kernel.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    cells: BTreeMap<(CallGroup, u32), Sum>,
}

#[derive(Debug, Default)]
struct Sum {
    cell: cell,
    errors: BTreeMap<i32, u64>,
}

fn unreadable(what: &'static str, e: &libbpf_rs::Error) -> TraceError {
    TraceError::Read { what, why: e.to_string() }
}

/// Key and value of a map; a value for each CPU where it has one.
type Entry = (Vec<u8>, Vec<Vec<u8>>);

/// All entries of a hash map, as bytes.
fn entries(map: &impl MapCore, what: &'static str) -> Result<Vec<Entry>, TraceError> {
    let mut all = Vec::new();
    for key in map.keys() {
        let values = read(map, &key, what)?;
        if !values.is_empty() {
            all.push((key, values));
        }
    }
    Ok(all)
}

/// What a map has under a key, for each CPU where it has one; empty: nothing.
fn read(map: &impl MapCore, key: &[u8], what: &'static str) -> Result<Vec<Vec<u8>>, TraceError> {
    let values = match map.map_type().is_percpu() {
        true => map.lookup_percpu(key, MapFlags::ANY),
        false => map.lookup(key, MapFlags::ANY).map(|v| v.map(|v| vec![v])),
    };
    values.map(Option::unwrap_or_default).map_err(|e| unreadable(what, &e))
}

/// Makes a cell nobody's, and gives it back.
fn free_cell(loaded: &Loaded, key: &[u8], index: &[u8]) -> Result<(), TraceError> {
    let maps = &loaded.skel.maps;
    // First of all, so that nobody finds it any more who finds it empty.
    delete(&maps.cell_indices, key, CALLS)?;
    let mut values = read(&maps.cells, index, CALLS)?;
    values.iter_mut().for_each(|value| value.fill(0));
    let cleared = match maps.cells.map_type().is_percpu() {
        true => maps.cells.update_percpu(index, &values, MapFlags::ANY),
        false => maps.cells.update(index, values.first().map_or(&[], Vec::as_slice), MapFlags::ANY),
    };
    cleared.map_err(|e| unreadable(CALLS, &e))?;
    maps.free_cells.update(&[], index, MapFlags::ANY).map_err(|e| unreadable(CALLS, &e))
}

fn delete(map: &impl MapCore, key: &[u8], what: &'static str) -> Result<(), TraceError> {
    map.delete(key).map_err(|e| unreadable(what, &e))
}

impl Tally {
    /// Takes the cells of those groups out of the kernel that `whose` chooses, and makes room there. Returns how many calls were of a group
    /// that had a name once: what its process counted was taken before, because records were lost by which that lived on.
    pub(crate) fn take(
        &mut self,
        loaded: &Loaded,
        whose: &dyn Fn(&CallGroup) -> bool,
    ) -> Result<u64, TraceError> {
        let maps = &loaded.skel.maps;
        let groups = groups(loaded)?;
        let mut nameless = 0;
        // Group 0, too: the map of groups was full, and the kernel has counted the loss.
        let nobody = CallGroup {
            name: "[not counted by command]".to_owned(),
            forked: false,
            subshell: false,
            process: None,
        };
        let of = |number: u32| Some(groups.get(&number).unwrap_or(&nobody)).filter(|group| whose(group));
        for (key, values) in entries(&maps.cell_indices, CALLS)? {
            let Some(k) = cell_key::read(&key) else { continue };
            let Some(group) = of(k.group) else { continue };
            let sum = self.cells.entry((group.clone(), k.call)).or_default();
            let Some(index) = values.first() else { continue };
            for c in read(&maps.cells, index, CALLS)?.iter().filter_map(|v| cell::read(v)) {
                add(&mut sum.cell, &c);
                nameless +=
                    if k.group != 0 && std::ptr::eq(group, &raw const nobody) { c.entered } else { 0 };
            }
            free_cell(loaded, &key, index)?;
        }
        for (key, values) in entries(&maps.errors, "counts of errors")? {
            let Some(k) = error_key::read(&key) else { continue };
            let Some(group) = of(k.group) else { continue };
            let count = values.first().and_then(|v| Some(u64::from_ne_bytes(v.get(..8)?.try_into().ok()?)));
            let sum = self.cells.entry((group.clone(), k.call)).or_default();
            *sum.errors.entry(i32::try_from(k.error).unwrap_or(i32::MAX)).or_default() += count.unwrap_or(0);
            delete(&maps.errors, &key, "counts of errors")?;
        }
        Ok(nameless)
    }

    /// Takes out what ended processes counted, when calls are counted by process.
    pub(crate) fn take_ended(&mut self, loaded: &Loaded, ended: &[Pid]) -> Result<(), TraceError> {
        let ended: std::collections::HashSet<Pid> = ended.iter().copied().collect();
        let over = |group: &CallGroup| group.process.is_some_and(|p| ended.contains(&p));
        self.take(loaded, &over)?;
        for (key, _) in entries(&loaded.skel.maps.groups, "groups")? {
            if group_key::read(&key).is_some_and(|k| ended.contains(&k.process)) {
                delete(&loaded.skel.maps.groups, &key, "groups")?;
            }
        }
        Ok(())
    }

    /// All cells, with the paths of their files. With `timed` false calls were only counted.
    pub(crate) fn cells(self, timed: bool, paths: &HashMap<u32, String>) -> Vec<CallCell> {
        self.cells
            .into_iter()
            .map(|((by, call), Sum { cell, errors })| (by, split(call), cell, errors))
            .map(|(by, (call, file, number), cell, errors)| CallCell {
                by,
                call,
                file,
                path: paths.get(&number).cloned(),
                entered: cell.entered,
                not_returned: cell.not_returned,
                begun_before: cell.begun_before,
                going_on: cell.going_on,
                errors: errors.into_iter().collect(),
                total_ns: timed.then_some(cell.total),
                max_ns: timed.then_some(cell.max),
                runnable_ns: timed.then_some(cell.runnable),
                blocked_ns: timed.then_some(cell.blocked),
                failed_ns: timed.then_some(cell.failed),
                bytes: tables::moves_bytes(call).then_some(cell.bytes),
                histogram: histogram(&cell.histogram),
            })
            .collect()
    }
}

/// The parts of a cell's number: the call, the kind of file, and the number of the file.
fn split(number: u32) -> (CallNumber, FileKind, u32) {
    match kind_of_file((number & FILE_BITS) >> FILE_SHIFT) {
        FileKind::None => (call_number(number), FileKind::None, 0),
        kind => {
            let call = call_number(number & !(FILE_BITS | NUMBER_BITS));
            (call, kind, (number & NUMBER_BITS) >> NUMBER_SHIFT)
        }
    }
}

/// The paths of the files that have a number.
pub(crate) fn paths(loaded: &Loaded) -> Result<HashMap<u32, String>, TraceError> {
    const PATHS: &str = "paths of files";
    let maps = &loaded.skel.maps;
    let mut paths = HashMap::new();
    for (_, values) in entries(&maps.file_numbers, PATHS)? {
        let number = values.first().and_then(|v| Some(u32::from_ne_bytes(v.get(..4)?.try_into().ok()?)));
        let Some(number) = number else { continue };
        let noted = read(&maps.file_paths, &number.to_ne_bytes(), PATHS)?;
        if let Some(path) = noted.first().and_then(|v| file_path::read(v)).as_ref().and_then(path) {
            paths.insert(number, path);
        }
    }
    Ok(paths)
}

/// From its components, of which the last one comes first.
fn path(noted: &file_path) -> Option<String> {
    let bytes: Vec<u8> = noted.components.iter().map(|b| b.cast_unsigned()).collect();
    let components = bytes.get(..usize::try_from(noted.bytes).ok()?)?.split(|b| *b == 0);
    let mut path = String::new();
    for component in components.filter(|it| !it.is_empty()) {
        path = format!("/{}{path}", String::from_utf8_lossy(component));
    }
    match noted.whole {
        0 if path.is_empty() => None,
        0 => Some(format!("...{path}")),
        _ if path.is_empty() => Some("/".to_owned()),
        _ => Some(path),
    }
}

/// Without the empty buckets at the end.
fn histogram(buckets: &[u64]) -> Vec<u64> {
    let used = buckets.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
    buckets[..used].to_vec()
}

fn add(sum: &mut cell, c: &cell) {
    sum.entered += c.entered;
    sum.not_returned += c.not_returned;
    sum.begun_before += c.begun_before;
    sum.going_on += c.going_on;
    sum.total += c.total;
    sum.max = sum.max.max(c.max);
    sum.blocked += c.blocked;
    sum.runnable += c.runnable;
    sum.failed += c.failed;
    sum.bytes += c.bytes;
    for (all, one) in sum.histogram.iter_mut().zip(c.histogram) {
        *all += one;
    }
}

/// The commands by the numbers of their groups.
pub(crate) fn groups(loaded: &Loaded) -> Result<HashMap<u32, CallGroup>, TraceError> {
    let mut groups = HashMap::new();
    for (key, values) in entries(&loaded.skel.maps.groups, "groups")? {
        let number = values.first().and_then(|v| Some(u32::from_ne_bytes(v.get(..4)?.try_into().ok()?)));
        if let (Some(k), Some(number)) = (group_key::read(&key), number) {
            let process = (k.process != 0).then_some(k.process);
            let is = |it| k.forked == it;
            let (name, is_forked, subshell) = (name(&k.name), is(forked::FORKED), is(forked::LIVES_ON));
            groups.insert(number, CallGroup { name, forked: is_forked, subshell, process });
        }
    }
    Ok(groups)
}

/// What each CPU is doing.
fn cpus(loaded: &Loaded) -> Result<Vec<cpu_state>, TraceError> {
    let values = loaded.skel.maps.cpus.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY);
    let values = values.map_err(|e| unreadable("losses", &e))?.unwrap_or_default();
    Ok(values.iter().filter_map(|state| cpu_state::read(state)).collect())
}

/// Samples that the clock took so far, and how long that took.
pub(crate) fn sampling(loaded: &Loaded) -> Result<(u64, u64), TraceError> {
    let add = |sum: (u64, u64), it: &cpu_state| (sum.0 + it.samples, sum.1 + it.sampling);
    Ok(cpus(loaded)?.iter().fold((0, 0), add))
}

/// What was lost so far.
pub(crate) fn losses(loaded: &Loaded) -> Result<Lost, TraceError> {
    let mut lost = Lost { recursion: recursion(loaded)?, ..Lost::default() };
    for (cpu, cpu_state { lost: l, .. }) in (0..).zip(cpus(loaded)?) {
        lost.count(&CpuLost {
            cpu,
            ring: l.ring,
            map: l.map,
            storage: l.storage,
            string: l.string,
            stack: l.stack,
            gaps: l.gaps,
            ..CpuLost::default()
        });
    }
    Ok(lost)
}

/// Records that found no room in the ring so far.
pub(crate) fn lost_records(loaded: &Loaded) -> u64 {
    cpus(loaded).unwrap_or_default().iter().map(|it| it.lost.ring).sum()
}

/// What was lost between two readings.
pub(crate) fn since(before: &mut Lost, after: &Lost) -> Lost {
    let mut lost = Lost { recursion: after.recursion - before.recursion, ..Lost::default() };
    for now in &after.by_cpu {
        let then = before.on(now.cpu);
        lost.count(&CpuLost {
            cpu: now.cpu,
            ring: now.ring - then.ring,
            map: now.map - then.map,
            storage: now.storage - then.storage,
            string: now.string - then.string,
            stack: now.stack - then.stack,
            gaps: now.gaps - then.gaps,
            ..CpuLost::default()
        });
    }
    lost
}

/// Runs that the kernel skipped, over all programs (counted by Linux since 5.12). The kernel keeps them by CPU and tells the
/// sum alone (`bpf_prog_get_stats`).
fn recursion(loaded: &Loaded) -> Result<u64, TraceError> {
    use libbpf_rs::skel::Skel;
    let mut missed = 0;
    for program in loaded.skel.object().progs() {
        if !program.autoload() {
            continue;
        }
        let mut info = libbpf_sys::bpf_prog_info::default();
        let mut length = u32::try_from(size_of_val(&info)).expect("a small struct");
        // SAFETY: the descriptor is open as long as the program is borrowed; `info` is writable and `length` bytes long.
        let result = unsafe {
            libbpf_sys::bpf_obj_get_info_by_fd(
                program.as_fd().as_raw_fd(),
                (&raw mut info).cast(),
                &raw mut length,
            )
        };
        if result != 0 {
            let why = std::io::Error::last_os_error().to_string();
            return Err(TraceError::Read { what: "skipped runs", why });
        }
        missed += info.recursion_misses;
    }
    Ok(missed)
}

/// Forgets all that was counted so far: it was made while calibrating.
pub(crate) fn clear(loaded: &Loaded) -> Result<(), TraceError> {
    let maps = &loaded.skel.maps;
    for (key, values) in entries(&maps.cell_indices, CALLS)? {
        values.first().map_or(Ok(()), |index| free_cell(loaded, &key, index))?;
    }
    for (key, _) in entries(&maps.errors, "counts of errors")? {
        delete(&maps.errors, &key, "counts of errors")?;
    }
    for (key, _) in entries(&maps.groups, "groups")? {
        delete(&maps.groups, &key, "groups")?;
    }
    for (key, _) in entries(&maps.file_numbers, "numbers of files")? {
        delete(&maps.file_numbers, &key, "numbers of files")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(components: &[u8], whole: u32) -> file_path {
        let mut noted = file_path { whole, ..file_path::default() };
        for (to, byte) in noted.components.iter_mut().zip(components) {
            *to = byte.cast_signed();
        }
        noted.bytes = u32::try_from(components.len()).unwrap();
        noted
    }

    #[test]
    fn a_path_is_made_of_its_components() {
        assert_eq!(path(&noted(b"kallsyms\0proc\0", 1)).as_deref(), Some("/proc/kallsyms"));
        assert_eq!(path(&noted(b"b\0a\0", 0)).as_deref(), Some(".../a/b"));
        assert_eq!((path(&noted(b"", 1)).as_deref(), path(&noted(b"", 0))), (Some("/"), None));
        assert_eq!(path(&noted(b"\xff\x1b[2J\0", 1)).as_deref(), Some("/\u{fffd}\u{1b}[2J"));
        let beyond = file_path { bytes: u32::MAX, ..file_path::default() };
        assert_eq!(path(&beyond), None);
    }

    #[test]
    fn only_a_call_that_transfers_data_has_a_file() {
        let of = |number| CallNumber { number, compat: false };
        assert_eq!(split(17 | 3 << NUMBER_SHIFT | 2 << FILE_SHIFT), (of(17), FileKind::File, 3));
        assert_eq!(split(3 << NUMBER_SHIFT), (of(3 << NUMBER_SHIFT), FileKind::None, 0));
    }
}
