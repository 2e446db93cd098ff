//! Tables of a library that gcc made without frame pointers, and a target: tables that nobody would make, of symbols too. See the crate
//! `whyfaster-fuzz`.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use whyfaster_fuzz::{Form, run};

use super::super::symbols::Symbols;
use super::*;

/// Where the library is mapped.
const AT: u64 = 0x7f00_0000_0000;
const TOP: u64 = 0x7ffe_0000_0000;

fn mapped(library: &Path) -> Images {
    let mut images = Images::default();
    images.exec(7, 0);
    let facts = library.metadata().unwrap();
    let device = (libc::major(facts.dev()), libc::minor(facts.dev()));
    images.mapped(7, (AT, AT + 0x1000), 0, (library.to_owned(), (device, facts.ino())));
    images
}

fn at(offset: u64) -> types::stack_record {
    let mut record =
        types::stack_record { process: 7, at: AT + offset, top: TOP, ..types::stack_record::default() };
    record.head.at = 1;
    record
}

fn memory(words: impl IntoIterator<Item = u64>) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_ne_bytes).collect()
}

/// Its functions are `leaf` from 0x2a0, `inner` from 0x2f0, which calls it before 0x327, and `outer` from 0x330, which calls `inner` before
/// 0x369: `readelf --debug-dump=frames-interp` says where each has the address to return to.
#[cfg(target_arch = "x86_64")]
#[test]
fn callers_are_found_without_frame_pointers() {
    let library = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/unwind/library.so"));
    let mut images = mapped(library);
    let mut words = [0; 19];
    (words[0], words[10]) = (AT + 0x327, AT + 0x369);
    let mut unwinder = Unwinder::default();
    let mut found = |words: &[u64]| {
        let places = unwinder.places(&at(0x2a0), &memory(words.iter().copied()), &mut images);
        let offset = |place: &Place| match place {
            Place::File(file, offset) if file.path == library => *offset,
            other => panic!("{other:?}"),
        };
        places.iter().map(offset).collect::<Vec<_>>()
    };
    assert_eq!(found(&words), [0x2a0, 0x326, 0x368]);
    // As far as the memory goes.
    assert_eq!(found(&words[..10]), [0x2a0, 0x326]);
    assert_eq!(found(&[]), [0x2a0]);
}

#[test]
fn a_file_without_tables_has_no_callers() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"#!/bin/sh\n").unwrap();
    let places = Unwinder::default().places(&at(0x10), &[], &mut mapped(file.path()));
    assert_eq!(places.len(), 1, "{places:?}");
}

#[test]
fn fuzz_unwind() {
    let words = memory((0..512).map(|i| AT + i * 37 % 0x400));
    run("unwind", Form::Bytes, 4_000, |bytes| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let (mut unwinder, mut images) = (Unwinder::default(), mapped(file.path()));
        let deepest =
            (0x270..0x3a0).step_by(8).map(|offset| unwinder.places(&at(offset), &words, &mut images).len());
        let deepest = deepest.max().unwrap_or_default();
        assert!(deepest <= FRAMES, "{deepest}");
        let mut symbols = Symbols::default();
        (0x270..0x3a0)
            .step_by(0x30)
            .for_each(|offset| drop(symbols.symbol(&images.place(7, 1, AT + offset))));
        unwinder.files.values().any(Option::is_some)
    });
}
