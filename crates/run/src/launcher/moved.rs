//! What the copies read and wrote, from the kernel's count of bytes and calls, without a look at any of them.
//!
//! `/proc/self/io` counts this process and every child that it reaped, with all that the child had reaped; `/proc/thread-self/io`
//! counts this thread alone, and there is one only: proc_pid_io(5); `wait_task_zombie` in kernel/exit.c.

use std::fs;

use whyfaster_core::sample::Io;

/// What all processes that were reaped so far read and wrote. `None` where the kernel does not count or does not tell.
pub(super) fn by_reaped() -> Option<Io> {
    // The few bytes of this look itself are in every such count, and so in no difference of two.
    let all = parse(&fs::read_to_string("/proc/self/io").ok()?)?;
    Some(all.since(&parse(&fs::read_to_string("/proc/thread-self/io").ok()?)?))
}

fn parse(text: &str) -> Option<Io> {
    let field = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.parse().ok())
    };
    Some(Io {
        read_bytes: field("rchar")?,
        write_bytes: field("wchar")?,
        reads: field("syscr")?,
        writes: field("syscw")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_counts_are_taken_by_name() {
        let text = "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 1\nread_bytes: 8192\nwrite_bytes: 0\ncancelled_write_bytes: 0\n";
        assert_eq!(parse(text), Some(Io { read_bytes: 6976, write_bytes: 12, reads: 10, writes: 1 }));
        assert_eq!(parse("rchar: 6976\n"), None);
    }
}
