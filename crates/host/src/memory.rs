//! Memory: what the machine has, what is left, huge pages.

use super::cgroup::Room;
use super::root::{Root, Unreadable};

const MEMINFO: &str = "/proc/meminfo";

/// Physical memory and what the kernel estimates could still be used without swapping, bytes.
pub(super) fn memory(root: &Root) -> Result<(u64, Room), Unreadable> {
    let text = root.text(MEMINFO)?;
    let total = value(&text, "MemTotal")?;
    let left = value(&text, "MemAvailable")?;
    Ok((total, Room { left, limit: format!("MemAvailable in {MEMINFO}") }))
}

fn value(text: &str, key: &str) -> Result<u64, Unreadable> {
    for (index, line) in text.lines().enumerate() {
        let Some(rest) = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':')) else { continue };
        let kib = rest.trim().strip_suffix(" kB").and_then(|number| number.parse::<u64>().ok());
        let bytes = kib.and_then(|kib| kib.checked_mul(1024));
        return bytes.ok_or_else(|| Unreadable::line(MEMINFO, index + 1, text, "a number of kB"));
    }
    Err(Unreadable::Other(format!("{MEMINFO} has no line {key}")))
}

/// The setting of transparent huge pages: the word in brackets.
pub(super) fn huge_pages(root: &Root) -> Result<String, Unreadable> {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let Some(text) = root.optional(path)? else {
        return Err(Unreadable::Other(format!(
            "{path}: no such file (a kernel without CONFIG_TRANSPARENT_HUGEPAGE has none)"
        )));
    };
    let word =
        text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word.to_owned());
    word.ok_or_else(|| Unreadable::line(path, 1, &text, "one word in brackets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kibibytes_become_bytes() {
        let text = "MemTotal:       24684084 kB\nMemFree: 1 kB\nMemAvailable:   24239076 kB\nBad: x kB\n";
        assert_eq!(value(text, "MemTotal").expect("there"), 24_684_084 * 1024);
        assert_eq!(
            value(text, "Bad").expect_err("x").to_string(),
            "/proc/meminfo:4: expected a number of kB, found \"Bad: x kB\""
        );
        assert!(value(text, "Mem").is_err(), "a key is matched whole");
    }
}
