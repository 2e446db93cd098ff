//! Root traces a process that changes its own files meanwhile. It resolves the mapped file, and never opens the one in its place.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crate::support::Sandbox;
use crate::support::needs::{full, needs, root};
use crate::support::trace::compile;
use crate::support::user::under_sudo;

/// A function that takes CPU time, in a library that does nothing by itself.
const LIBRARY: &str = "void spins(long turns) { for (volatile long i = 0; i < turns; i++) {} }\n";

/// Loads it, puts another file in its place if there is one, and calls the function.
const PROGRAM: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    void *library = dlopen("./library.so", RTLD_NOW);
    void (*spins)(long) = library ? (void (*)(long))dlsym(library, "spins") : 0;
    if (!spins) return 1;
    rename("other", "library.so");
    spins(300000000);
    return 0;
}
"#;

fn place() -> Sandbox {
    let place = Sandbox::open();
    compile(&place, "program", PROGRAM);
    place.write("library.c", LIBRARY);
    let words = ["-shared", "-fPIC", "-nostdlib", "-o", "library.so", "library.c"];
    place.finish(place.command("gcc", &words)).ok();
    place
}

const TRACE: [&str; 7] = ["trace", "--untraced-runs", "0", "--folded", "folded", "--level=full", "./program"];

#[test]
fn a_fifo_in_the_place_of_a_library_holds_nobody_up() {
    needs!(root());
    needs!(full());
    let place = place();
    place.finish(under_sudo(&place, &TRACE)).ok();
    assert!(place.read("folded").contains(";spins "), "{}", place.read("folded"));
    let fifo = place.path("other");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from(0o666)).unwrap();
    let mut running = place.begin(under_sudo(&place, &TRACE));
    while running.runs() {
        // Somebody who reads it, or waits to.
        let opened =
            |path: &Path| OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path).is_ok();
        let is_read = !fifo.exists() && opened(&place.path("library.so"));
        assert!(!is_read, "the FIFO was opened");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    running.wait().ok();
    let folded = place.read("folded");
    assert!(folded.contains(";library.so+0x") && !folded.contains(";spins "), "{folded}");
}

/// The table of symbols is larger than any real one, and all of it is a hole.
#[test]
fn a_library_with_endless_tables_takes_no_memory() {
    needs!(root());
    needs!(full());
    // If whyfaster mapped the smaller table, it would have no memory left for an index of it.
    for table in [2 << 30, 1 << 40] {
        let place = place();
        let library = OpenOptions::new().read(true).write(true).open(place.path("library.so")).unwrap();
        let header = fs::read(place.path("library.so")).unwrap();
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
        let sections = usize::from(u16::from_le_bytes([header[0x3c], header[0x3d]]));
        let first = usize::try_from(word(0x28)).unwrap();
        for at in (0..sections).map(|section| first + section * 64) {
            // SHT_SYMTAB and SHT_DYNSYM, which the loader does not look for.
            if [2, 11].contains(&header[at + 4]) {
                library.write_all_at(&u64::to_le_bytes(header.len() as u64), at as u64 + 24).unwrap();
                library.write_all_at(&u64::to_le_bytes(table / 24 * 24), at as u64 + 32).unwrap();
            }
        }
        library.set_len(header.len() as u64 + table).unwrap();
        drop(library);
        let line = format!("ulimit -v 2621440; exec \"$whyfaster\" {}", TRACE.join(" "));
        let mut command = place.command("sh", &["-c", &line]);
        command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").env("whyfaster", crate::support::PROGRAM);
        place.finish(command).ok();
        let folded = place.read("folded");
        assert!(folded.contains(";library.so+0x"), "{folded}");
    }
}
