//! Files whole or not at all, whatever is in the way.

use super::*;
use crate::skip::{needs, root};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};

fn names(directory: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_made_and_replaced_and_nothing_else_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    OutputFile::new(&path).hold().unwrap();
    assert!(names(directory.path()).is_empty(), "the check left something");
    write_atomic(&path, b"one").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    OutputFile::new(&path).hold().unwrap();
    write_atomic(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640, "rights were not kept");
    assert_eq!(names(directory.path()), ["r.json"]);
}

#[test]
fn the_way_with_a_name_does_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    let way = |bytes: &[u8]| {
        let place = Place::of(&path).unwrap();
        let (file, spare) = named(&place, super::NEW_FILE).unwrap();
        let mut file = AtomicFile { path: path.clone(), made: Made::Named { file, place, spare } };
        file.write_all(bytes).unwrap();
        file.commit().unwrap();
    };
    drop(super::named(&Place::of(&path).unwrap(), super::NEW_FILE).unwrap());
    assert!(names(directory.path()).is_empty(), "half a file is left");
    way(b"one");
    way(b"two");
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names(directory.path()), ["r.json"]);
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    write_atomic(&directory.path().join("s.json"), b"").unwrap();
    let other = fs::metadata(directory.path().join("s.json")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, other, "both ways give a new file the same rights");
}

#[test]
fn a_file_in_pieces_stands_there_whole_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.pftrace");
    let mut file = OutputFile::new(&path).begin().unwrap();
    file.write_all(b"one ").unwrap();
    assert!(names(directory.path()).is_empty(), "half a file has a name");
    drop(file);
    assert!(names(directory.path()).is_empty());
    let mut file = OutputFile::new(&path).begin().unwrap();
    file.write_all(b"one ").unwrap();
    file.write_all(b"two").unwrap();
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one two");
}

#[test]
fn a_link_stays_and_what_it_points_to_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (link, file) = (directory.path().join("link"), directory.path().join("file"));
    fs::write(&file, "old").unwrap();
    symlink("file", &link).unwrap();
    write_atomic(&link, b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"new");
    // As open(2) does: what a link leads to is made, and a circle leads nowhere.
    fs::remove_file(&file).unwrap();
    write_atomic(&link, b"newer").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"newer");
    symlink("round", directory.path().join("round")).unwrap();
    let failure = write_atomic(&directory.path().join("round"), b"").unwrap_err();
    assert!(failure.message.contains("symbolic links"), "{failure}");
    let through = directory.path().join("through");
    symlink("/proc/self/fd/1", &through).unwrap();
    assert!(matches!(destination(&through).unwrap(), Destination::Stream(_)));
}

#[test]
fn what_others_made_in_a_directory_of_all_is_left_alone() {
    needs!(root());
    let directory = tempfile::tempdir().unwrap();
    let (shared, own) = (directory.path().join("shared"), directory.path().join("own"));
    fs::create_dir(&shared).unwrap();
    fs::write(&own, "mine").unwrap();
    let (link, file, twice) = (shared.join("link"), shared.join("file"), directory.path().join("twice"));
    symlink(&own, &link).unwrap();
    symlink(&link, &twice).unwrap();
    fs::write(&file, "theirs").unwrap();
    let set = |mode, owner| {
        fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
        for path in [&link, &file] {
            lchown(path, Some(owner), Some(owner)).unwrap();
        }
    };
    let (mine, theirs) = (0, 65_534);
    for (mode, owner, allowed) in
        [(0o1777, theirs, false), (0o1777, mine, true), (0o777, theirs, true), (0o1755, theirs, true)]
    {
        for path in [&link, &file, &twice] {
            set(mode, owner);
            fs::write(&own, "mine").unwrap();
            let before = OutputFile::new(path).hold();
            let after = write_atomic(path, b"new");
            assert_eq!((before.is_ok(), after.is_ok()), (allowed, allowed), "{mode:o} {owner} {path:?}");
            let Err(failure) = after else { continue };
            assert!(failure.message.contains("uid 65534") && failure.hint.unwrap().contains("trap"));
            assert_eq!(fs::read(&own).unwrap(), b"mine");
            assert_eq!(fs::metadata(&file).unwrap().uid(), owner);
        }
    }
    // What appears there while the file is being written gives it neither its owner nor its rights.
    set(0o1777, theirs);
    let late = shared.join("late");
    let mut begun = OutputFile::new(&late).begin().unwrap();
    begun.write_all(b"x").unwrap();
    fs::write(&late, "").unwrap();
    lchown(&late, Some(theirs), Some(theirs)).unwrap();
    begun.commit().unwrap_err();
    assert_eq!(fs::read(&late).unwrap(), b"");
}

#[test]
fn devices_and_pipes_are_written_directly() {
    write_atomic(Path::new("/dev/null"), b"x").unwrap();
    OutputFile::new("/dev/null").hold().unwrap();
    OutputFile::new("/dev/stdout").hold().unwrap();
    let failure = write_atomic(Path::new("/dev/full"), b"x").unwrap_err();
    assert!(failure.message.contains("/dev/full") && failure.message.contains("No space left"), "{failure}");
    assert!(failure.hint.unwrap().contains("Free some space"));

    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    // Nothing waits for a reader.
    for failure in [OutputFile::new(&pipe).hold(), write_atomic(&pipe, b"x")] {
        assert!(failure.unwrap_err().hint.unwrap().contains("Start the reader"));
    }
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    let output = OutputFile::new(&pipe);
    // Its reader comes in a moment, and stays until the output is dropped.
    while output.hold().is_err() {
        std::thread::yield_now();
    }
    output.write(b"through").unwrap();
    drop(output);
    assert_eq!(reader.join().unwrap(), b"through");
}

#[test]
fn what_cannot_be_written_is_said_before_and_after_in_the_same_words() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "kept").unwrap();
    let cases = [
        (directory.path().join("none/r.json"), "mkdir -p"),
        (file.join("r.json"), "A part of the path is a file"),
        (directory.path().to_owned(), "Name a file in it"),
        (PathBuf::from("/proc/nowhere.json"), "Choose another file"),
        (PathBuf::from(""), ""),
        (PathBuf::from("/"), "Name a file in it"),
        (directory.path().join("x".repeat(300)), "Choose another file"),
    ];
    for (path, hint) in cases {
        let before = OutputFile::new(&path).hold().map_err(|f| (f.message, f.hint));
        let after = write_atomic(&path, b"x").map_err(|f| (f.message, f.hint));
        let (message, said) = after.expect_err(&path.display().to_string());
        assert!(message.contains(&format!("'{}'", path.display())), "{message}");
        assert!(said.clone().unwrap().contains(hint), "{said:?}");
        if path.as_os_str().len() < 300 {
            assert_eq!(before, Err((message, said)));
        }
    }
    assert_eq!(fs::read(&file).unwrap(), b"kept");
    assert_eq!(names(directory.path()), ["file"]);
}

/// The attack: a command exchanges the directory, or puts a link where the output goes, while it is measured.
#[test]
fn a_held_file_goes_to_the_place_that_was_found() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("results")).unwrap();
    fs::create_dir(at("elsewhere")).unwrap();
    let (moved, linked) = (OutputFile::new(at("results/a.json")), OutputFile::new(at("results/b.json")));
    for output in [&moved, &linked] {
        output.hold().unwrap();
    }
    symlink(at("elsewhere/planted"), at("results/b.json")).unwrap();
    fs::rename(at("results"), at("aside")).unwrap();
    symlink("elsewhere", at("results")).unwrap();
    for output in [&moved, &linked] {
        output.write(b"x").unwrap();
    }
    assert_eq!(names(&at("aside")), ["a.json", "b.json"]);
    assert!(names(&at("elsewhere")).is_empty());
    assert!(!fs::symlink_metadata(at("aside/b.json")).unwrap().is_symlink());
}
