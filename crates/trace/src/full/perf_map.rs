//! What code is that an interpreter makes at run time, as it says itself: `/tmp/perf-PID.map`, which `node --perf-basic-prof`,
//! `python -X perf` and others write (tools/perf/Documentation/jit-interface.txt of the kernel).

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use whyfaster_core::trace::event::Pid;
use whyfaster_core::trace::report::Code;

use crate::foreign;

/// Bytes of such a file that are read at most.
const MOST: u64 = 64 << 20;

/// The files that were looked for.
#[derive(Debug)]
pub(crate) struct PerfMaps {
    since: SystemTime,
    users: HashMap<Pid, u32>,
    by_process: HashMap<Pid, Map>,
}

/// Where each function lies, in the order in which they were made.
type Map = Vec<(u64, u64, String)>;

impl PerfMaps {
    /// Accepts files that were written since then: an older one is of another process that had the same number. They must be of the
    /// process's user or root, because everybody can make a file of this name.
    pub(crate) fn since(since: SystemTime, users: HashMap<Pid, u32>) -> Self {
        Self { since, users, by_process: HashMap::new() }
    }

    /// The function at an address of a process.
    pub(crate) fn find(&mut self, process: Pid, address: u64) -> Option<Code> {
        let since = self.since;
        let user = self.users.get(&process).copied();
        let read = || {
            let path = format!("/tmp/perf-{process}.map");
            parse(&user.and_then(|user| read(Path::new(&path), user, since)).unwrap_or_default())
        };
        let map = self.by_process.entry(process).or_insert_with(read);
        // Memory is used again: what was made last is there.
        let at =
            |(start, size, _): &&(u64, u64, String)| (*start..start.saturating_add(*size)).contains(&address);
        map.iter().rev().find(at).map(|(.., name)| named(name))
    }
}

/// A file that this user or root has made, and that is not from before.
fn read(path: &Path, user: u32, since: SystemTime) -> Option<String> {
    let file = foreign::open_no_link(path).ok()?;
    let facts = file.metadata().ok()?;
    if ![0, user].contains(&facts.uid()) || facts.modified().ok()? < since {
        return None;
    }
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// `start size name` in hexadecimal, one a line.
fn parse(text: &str) -> Map {
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
    let line = |line: &str| {
        let mut words = line.splitn(3, ' ');
        Some((number(words.next()?)?, number(words.next()?)?, words.next()?.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

/// `py::function:file` of Python, `kind:mark function file:line:column` of V8 where kind is that of compiled code; anything else stays
/// as it is.
fn named(name: &str) -> Code {
    let code = |symbol: &str, file: Option<&str>| Code {
        symbol: Some(symbol.to_owned()),
        file: file.map(str::to_owned),
        called_from: None,
    };
    if let Some((function, file)) = name.strip_prefix("py::").and_then(|it| it.split_once(':')) {
        return code(function, Some(file));
    }
    let compiled = ["JS:", "LazyCompile:", "Function:", "Script:", "Eval:"];
    let Some(it) = compiled.iter().find_map(|kind| name.strip_prefix(kind)) else { return code(name, None) };
    let it = it.trim_start_matches(['*', '~', '^', '+']);
    let Some((function, place)) = it.split_once(' ') else { return code(it, None) };
    let file = place.trim_end_matches(|c: char| c == ':' || c.is_ascii_digit());
    code(if function.is_empty() { "(anonymous)" } else { function }, Some(file))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn functions_have_the_names_that_interpreters_give_them() {
        let of = |name| {
            let Code { symbol, file, .. } = named(name);
            (symbol.unwrap_or_default(), file.unwrap_or_default())
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(of("py::loop:/srv/a b.py"), pair("loop", "/srv/a b.py"));
        assert_eq!(of("JS:*fib /srv/x.js:1:13"), pair("fib", "/srv/x.js"));
        assert_eq!(of("LazyCompile:~ file:///srv/x.mjs:10:1"), pair("(anonymous)", "file:///srv/x.mjs"));
        assert_eq!(of("Builtin:ArrayMap"), pair("Builtin:ArrayMap", ""));
    }

    #[test]
    fn what_was_made_last_at_an_address_is_there() {
        let map = parse("1000 10 old\nno line\n1008 10 new\n0x2000 1 far\n");
        assert_eq!(map.len(), 3);
        let mut maps = PerfMaps::since(SystemTime::now(), HashMap::new());
        maps.by_process.insert(7, map);
        let mut at = |address| maps.find(7, address).and_then(|code| code.symbol);
        assert_eq!(at(0x1001).as_deref(), Some("old"));
        assert_eq!(at(0x1009).as_deref(), Some("new"));
        assert_eq!((at(0x1018).as_deref(), at(0x2000).as_deref()), (None, Some("far")));
    }

    #[test]
    fn a_file_of_a_former_process_or_of_another_user_is_none_of_this_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("perf-7.map");
        let before = SystemTime::now() - Duration::from_secs(1);
        std::fs::write(&path, "1000 10 f\n").unwrap();
        let mut owner = path.metadata().unwrap().uid();
        if owner == 0 {
            assert!(read(&path, 1, before).is_some());
            owner = 65534;
            std::os::unix::fs::chown(&path, Some(owner), None).unwrap();
        }
        assert!(read(&path, owner, before).is_some());
        assert_eq!(read(&path, owner + 1, before), None);
        assert_eq!(read(&path, owner, SystemTime::now() + Duration::from_secs(60)), None);
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link, owner, before), None);
    }
}
