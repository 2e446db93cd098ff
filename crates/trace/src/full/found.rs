//! Where a task waits that is taken up while it runs: no switch was seen that would have told, so the kernel is asked
//! through /proc.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use whyfaster_core::trace::event::{Block, CallNumber, FileKind, Left, Pid, Tid};

use whyfaster_rights::with_root;

use super::programs::Plain;
use super::programs::types::{fork_record, found_record};
use super::tables;

/// Operations of a futex wait with a bitset (linux/futex.h), and the bits that do not belong to the operation.
const WITH_BITSET: [u64; 2] = [9, 11];
const FUTEX_COMMAND: u64 = 0x7f;

/// Majors of terminals, as in `bpf/files.h`.
const TERMINALS: [u32; 2] = [4, 5];
const PTY: std::ops::RangeInclusive<u32> = 128..=143;

/// In which state a task sleeps and where; `None`: it runs, or is gone.
pub(crate) fn waits(process: Pid, task: Tid) -> Option<(Left, Block)> {
    let directory = format!("/proc/{process}/task/{task}");
    let left = state(&fs::read_to_string(format!("{directory}/stat")).ok()?)?;
    // Hidden from whoever may not trace it: then only the state is known.
    let call = with_root(|| fs::read_to_string(format!("{directory}/syscall"))).unwrap_or_default();
    Some((left, block(process, left, &call)))
}

/// Who made a process, or has taken it over; `None`: it is gone.
pub(crate) fn parent(process: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything, parentheses too; state and parent follow the last one.
    stat[stat.rfind(')')? + 1..].split_whitespace().nth(1)?.parse().ok()
}

/// A task that is taken up while it runs.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) found: found_record,
    /// As of its fork.
    pub(crate) record: &'a [u8],
}

/// All that the kernel told of, with so many words of a mask behind each.
pub(crate) fn all(told: &[u8], words: usize) -> Vec<Found<'_>> {
    let size = size_of::<found_record>() + size_of::<fork_record>() + 8 * words;
    let one = |bytes| {
        Some(Found { found: found_record::read(bytes)?, record: bytes.get(size_of::<found_record>()..)? })
    };
    told.chunks_exact(size).filter_map(one).collect()
}

/// Puts whoever was made behind who made it, and leaves the order as it is otherwise. Numbers do not tell: they are given
/// again from the beginning.
pub(crate) fn parents_first<T>(tasks: &mut [T], process: impl Fn(&T) -> Pid) {
    let mut parents: HashMap<Pid, Option<Pid>> = HashMap::new();
    for task in &*tasks {
        let process = process(task);
        parents.entry(process).or_insert_with(|| parent(process));
    }
    let above = |process: &Pid| parents.get(process).copied().flatten();
    let generation = |process| std::iter::successors(Some(process), above).take(parents.len() + 1).count();
    tasks.sort_by_cached_key(|task| generation(process(task)));
}

/// The letter behind the name, which stands in parentheses and may hold some itself.
fn state(stat: &str) -> Option<Left> {
    match stat[stat.rfind(')')? + 1..].trim_start().chars().next()? {
        'S' => Some(Left::Sleeping),
        'D' => Some(Left::Uninterruptible),
        'T' | 't' => Some(Left::Stopped),
        _ => None,
    }
}

/// From `number arguments... stack program`, or -1 in place of the number outside of a call.
fn block(process: Pid, left: Left, call: &str) -> Block {
    let mut words = call.split_whitespace();
    let number = words.next().and_then(|word| word.parse::<i64>().ok());
    let args: Vec<u64> =
        words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
    let arg = |i: usize| args.get(i).copied().unwrap_or(0);
    let call = number.and_then(|number| u32::try_from(number).ok());
    let compat = call.is_some() && is_compat(process);
    let known = call.filter(|_| !compat).map(libc::c_long::from);
    let (file, inode) = match known.filter(|call| tables::on_descriptor(*call)) {
        Some(_) => file(process, arg(0)),
        None => (FileKind::None, 0),
    };
    Block {
        call: call.map(|number| CallNumber { number, compat }),
        fault: number == Some(-1) && left == Left::Uninterruptible,
        // The kernel does not tell who waits for a device; an uninterruptible sleep on a file is nearly always that.
        io: left == Left::Uninterruptible && matches!(file, FileKind::File | FileKind::BlockDevice),
        file,
        inode,
        bitset: known == Some(libc::SYS_futex) && WITH_BITSET.contains(&(arg(1) & FUTEX_COMMAND)),
    }
}

/// A 32-bit program: the class in the head of its file.
fn is_compat(process: Pid) -> bool {
    use std::io::Read;
    let mut head = [0; 5];
    let read = fs::File::open(format!("/proc/{process}/exe")).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head[4] == 1
}

/// The kind of a descriptor, and its inode. Only its owner and root may look there; nothing is opened.
fn file(process: Pid, descriptor: u64) -> (FileKind, u64) {
    with_root(|| looked_at(process, descriptor))
}

fn looked_at(process: Pid, descriptor: u64) -> (FileKind, u64) {
    let path = format!("/proc/{process}/fd/{descriptor}");
    let Ok(metadata) = fs::metadata(&path) else { return (FileKind::None, 0) };
    let (inode, kind) = (metadata.ino(), metadata.file_type());
    let kind = match () {
        () if kind.is_fifo() => FileKind::Pipe,
        () if kind.is_socket() => socket(process, inode),
        () if kind.is_block_device() => FileKind::BlockDevice,
        () if kind.is_char_device() => character(metadata.rdev()),
        // What has no name in any directory: pidfd, eventfd, epoll, ...
        () if !fs::read_link(&path).is_ok_and(|target| target.is_absolute()) => FileKind::Other,
        () if kind.is_file() || kind.is_dir() => FileKind::File,
        () => FileKind::Other,
    };
    (kind, inode)
}

fn character(device: u64) -> FileKind {
    let major = libc::major(device);
    match TERMINALS.contains(&major) || PTY.contains(&major) {
        true => FileKind::Terminal,
        false => FileKind::CharDevice,
    }
}

/// Sockets between processes of this machine are listed by inode, in the seventh column.
fn socket(process: Pid, inode: u64) -> FileKind {
    let list = fs::read_to_string(format!("/proc/{process}/net/unix")).unwrap_or_default();
    let of_line = |line: &str| line.split_whitespace().nth(6).and_then(|word| word.parse::<u64>().ok());
    match list.lines().any(|line| of_line(line) == Some(inode)) {
        true => FileKind::UnixSocket,
        false => FileKind::Socket,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_behind_any_name() {
        assert_eq!(state("7 (a) b) S 1 2"), Some(Left::Sleeping));
        assert_eq!(state("7 (cat) T 1 2"), Some(Left::Stopped));
        assert_eq!(state("7 (cat) R 1 2"), None);
        assert_eq!(state("nothing"), None);
    }

    #[test]
    fn who_was_made_comes_behind_who_made_it() {
        let own = std::process::id();
        let parent = parent(own).unwrap();
        let mut tasks = [(own, 1), (parent, 1), (own, 2)];
        parents_first(&mut tasks, |task| task.0);
        assert_eq!(tasks, [(parent, 1), (own, 1), (own, 2)]);
    }

    #[test]
    fn a_call_is_read_with_what_its_descriptor_is() {
        let own = std::process::id();
        let (reader, _writer) = std::io::pipe().unwrap();
        let text = |fd: i32| format!("{} {fd:#x} 0x1 0x2 0x0 0x0 0x0 0x7ffc 0x7f00", libc::SYS_read);
        let waits = block(own, Left::Sleeping, &text(std::os::fd::AsRawFd::as_raw_fd(&reader)));
        assert_eq!(waits.call.map(|call| libc::c_long::from(call.number)), Some(libc::SYS_read));
        assert!(waits.file == FileKind::Pipe && waits.inode != 0 && !waits.io && !waits.fault, "{waits:?}");
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let waits = block(own, Left::Sleeping, &text(std::os::fd::AsRawFd::as_raw_fd(&socket)));
        assert_eq!(waits.file, FileKind::UnixSocket);
        let file = fs::File::open("/proc/self/exe").unwrap();
        let waits = block(own, Left::Uninterruptible, &text(std::os::fd::AsRawFd::as_raw_fd(&file)));
        assert!(waits.file == FileKind::File && waits.io);
        let futex = |op: u64| format!("{} 0x7f00 {op:#x} 0x0 0x0 0x0 0x0 0x7ffc 0x7f00", libc::SYS_futex);
        assert!(block(own, Left::Sleeping, &futex(0x189)).bitset);
        assert!(!block(own, Left::Sleeping, &futex(0x80)).bitset);
        let outside = block(own, Left::Uninterruptible, "-1 0x7ffc 0x7f00");
        assert!(outside.call.is_none() && outside.fault);
        assert!(block(own, Left::Sleeping, "").call.is_none());
    }
}
