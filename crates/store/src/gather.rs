//! Records of many machines, from files and from directories with such files.
//!
//! One that cannot be read does not hold the others: it is named, with the reason. A comparison is called by its file: `node1.json`, or
//! `node1/run.json` where the same file name stands in several directories.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use whyfaster_words::exit::Failure;

use super::read::{Recorded, read_recorded};
use super::trouble;

/// A file or a directory that is none of ours or cannot be read.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub why: Failure,
}

/// Reads every record under these paths, one after the other, and gives each with the name of its machine to `take`.
pub fn gather(
    paths: &[PathBuf],
    take: &mut dyn FnMut(&str, &Path, Recorded),
) -> Result<Vec<Refused>, Failure> {
    let Below { files, mut refused } = files_below(paths)?;
    for (file, name) in files {
        match read_recorded(&file) {
            Ok(recorded) => take(&name, &file, recorded),
            Err(why) => refused.push(Refused { file, why }),
        }
    }
    Ok(refused)
}

/// What stands under some paths.
#[derive(Debug)]
pub struct Below {
    /// Every file that may be a record, with what it calls its machine.
    pub files: Vec<(PathBuf, String)>,
    /// The directories that cannot be read.
    pub refused: Vec<Refused>,
}

/// What stands under these paths, which have to be there themselves.
pub fn files_below(paths: &[PathBuf]) -> Result<Below, Failure> {
    let (mut files, mut refused) = (Vec::new(), Vec::new());
    for path in paths {
        // What was named must be there; what a directory holds beside records is none of our business.
        let found = fs::metadata(path).map_err(|error| trouble::reading(path, &error))?;
        if found.is_dir() {
            within(path, &mut files, &mut refused).map_err(|error| trouble::reading(path, &error))?;
        } else {
            files.push(path.clone());
        }
    }
    // A file that was named twice, or in its directory too, is one record.
    let mut seen = BTreeSet::new();
    files.retain(|file| fs::canonicalize(file).map_or(true, |path| seen.insert(path)));
    let names = names(&files);
    Ok(Below { files: files.into_iter().zip(names).collect(), refused })
}

/// Whether reading it may wait for somebody who writes to it, or for a terminal.
fn waits(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// The files that end in `.json` in a directory and those below, in the order of their names. One below that cannot be read (`lost+found`) does not
/// hold the others.
fn within(directory: &Path, files: &mut Vec<PathBuf>, refused: &mut Vec<Refused>) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link to a directory may lead in a circle.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if let Err(error) = within(&path, files, refused) {
                refused.push(Refused { why: trouble::reading(&path, &error), file: path });
            }
        } else if path.extension() == Some(OsStr::new("json")) && !waits(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// What to call the machine of each file: the file without `.json`; or its directory, where several files have that name and this directory
/// holds no other.
fn names(files: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut often: BTreeMap<String, usize> = BTreeMap::new();
    let mut beside: BTreeMap<Option<&Path>, usize> = BTreeMap::new();
    for file in files {
        *often.entry(stem(file)).or_default() += 1;
        *beside.entry(file.parent()).or_default() += 1;
    }
    let parent = |path: &PathBuf| {
        let parent = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        parent.filter(|name| !name.is_empty())
    };
    let name = |file: &PathBuf| {
        let stem = stem(file);
        let several = often.get(&stem).is_some_and(|times| *times > 1);
        let alone = beside.get(&file.parent()).is_some_and(|files| *files == 1);
        if several && alone { parent(file).unwrap_or(stem) } else { stem }
    };
    files.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_left_alone_and_a_file_that_was_named_twice_is_one() {
        let place = tempfile::tempdir().unwrap();
        let (file, fifo) = (place.path().join("a.json"), place.path().join("b.json"));
        fs::write(&file, "{}").unwrap();
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        let again = place.path().join("./a.json");
        let found = files_below(&[place.path().to_owned(), file.clone(), again]).unwrap();
        assert_eq!(found.files, [(file, "a".to_owned())]);
    }

    #[test]
    fn a_machine_is_called_by_its_file_or_by_its_directory() {
        let called = |files: &[&str]| names(&files.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(called(&["a/node1.json", "a/node2.json"]), ["node1", "node2"]);
        assert_eq!(called(&["node1/run.json", "node2/run.json"]), ["node1", "node2"]);
        assert_eq!(called(&["run.json", "run.json"]), ["run", "run"]);
        // Prices and comparisons of the same machines.
        let both = ["lists/a.json", "lists/b.json", "runs/a.json", "runs/b.json"];
        assert_eq!(called(&both), ["a", "b", "a", "b"]);
    }
}
