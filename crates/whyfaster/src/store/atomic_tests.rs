//! Files whole or not at all, whatever is in the way.

use super::*;
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

fn names(directory: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_made_and_replaced_and_nothing_else_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    check_writable(&path).unwrap();
    assert!(names(directory.path()).is_empty(), "the check left something");
    write_atomic(&path, b"one").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    check_writable(&path).unwrap();
    write_atomic(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640, "rights were not kept");
    assert_eq!(names(directory.path()), ["r.json"]);
}

#[test]
fn the_way_with_a_name_does_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    let named = |bytes: &[u8]| {
        let made = Made::Named {
            file: temporary(directory.path()).unwrap(),
            directory: directory.path().to_owned(),
            target: path.clone(),
        };
        let mut file = AtomicFile { path: path.clone(), made };
        file.write_all(bytes).unwrap();
        file.commit().unwrap();
    };
    named(b"one");
    named(b"two");
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
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"one ").unwrap();
    assert!(names(directory.path()).is_empty(), "half a file has a name");
    drop(file);
    assert!(names(directory.path()).is_empty());
    let mut file = AtomicFile::create(&path).unwrap();
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
    std::os::unix::fs::symlink("file", &link).unwrap();
    write_atomic(&link, b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"new");
}

#[test]
fn devices_and_pipes_are_written_directly() {
    write_atomic(Path::new("/dev/null"), b"x").unwrap();
    check_writable(Path::new("/dev/null")).unwrap();
    check_writable(Path::new("/dev/stdout")).unwrap();
    let failure = write_atomic(Path::new("/dev/full"), b"x").unwrap_err();
    assert!(failure.message.contains("/dev/full") && failure.message.contains("No space left"), "{failure}");
    assert!(failure.hint.unwrap().contains("Free some space"));

    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    // The check must not wait for a reader.
    check_writable(&pipe).unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write_atomic(&pipe, b"through").unwrap();
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
        let before = check_writable(&path).map_err(|f| (f.message, f.hint));
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
