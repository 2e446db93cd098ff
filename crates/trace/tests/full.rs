//! What the full level counts and streams, against `strace`, the kernel's own accounts and what was planted. Needs root
//! or CAP_BPF and CAP_PERFMON; without them each test says that it was not run.

mod common;

use common::{able, sh};
use whyfaster_core::trace::event::What;
use whyfaster_trace::Wanted;

#[test]
fn a_tree_is_seen_whole_from_its_first_exec() {
    if !able() {
        return;
    }
    let t = sh(&Wanted::default(), "/bin/true; /bin/true & wait; exec /bin/true");
    eprintln!("{:?}", t.counts.lost);
    for e in t.events.iter().filter(|e| {
        matches!(e.what, What::Fork { .. } | What::Exec { .. } | What::End { .. } | What::Name { .. })
    }) {
        eprintln!("{e:?}");
    }
    eprintln!("{} events", t.events.len());
    for c in &t.counts.calls {
        eprintln!("{c:?}");
    }
    assert_eq!(t.execs(), ["sh", "true", "true", "true"]);
    assert_eq!((t.forks(), t.ends()), (3, 3));
    assert!(!t.counts.lost.any(), "{:?}", t.counts.lost);
}
