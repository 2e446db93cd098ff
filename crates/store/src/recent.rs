//! The last records of what was measured, kept unasked so that `show` has them without measuring again.
//!
//! They are in the state directory of the XDG base directory specification, which only their owner may read. What cannot be kept
//! there is not kept: a measurement never fails for it.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use whyfaster_rights as rights;

use super::atomic::OutputFile;
use super::place::Directory;

/// So many records are kept, of so many bytes together. One comparison takes less than 200 KB.
const MOST: usize = 20;
const MOST_BYTES: u64 = 64 << 20;

/// The directory from the first look at it on: a measured command that exchanges it afterwards leads no record elsewhere.
static HELD: OnceLock<Option<(Directory, PathBuf)>> = OnceLock::new();

/// Keeps the bytes of a record of this verb, and removes the oldest records. If [`takes`] returned false, nothing happens.
///
/// # Errors
/// The record cannot be written to the directory.
pub fn keep(verb: &str, bytes: &[u8]) -> io::Result<()> {
    held().map_or(Ok(()), |(directory, place)| keep_in(directory, place, verb, bytes))
}

/// The records, the newest first.
pub fn all() -> Vec<PathBuf> {
    place().and_then(|place| within(&place).ok()).unwrap_or_default()
}

/// The directory, where it is there and this user may not read it.
pub fn forbidden() -> Option<PathBuf> {
    place().filter(|place| within(place).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied))
}

/// Where the record of this name is.
pub fn named(name: &Path) -> Option<PathBuf> {
    all().into_iter().find(|record| record.file_name() == Some(name.as_os_str()))
}

/// The directory, where there is one for this user: a path that is not absolute counts for nothing, as the specification says.
pub fn place() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = of("XDG_STATE_HOME").or_else(|| Some(of("HOME")?.join(".local/state")))?;
    Some(state.join("whyfaster/records"))
}

/// Holds the directory, and returns true if records can be kept there. Later calls look at nothing anew.
pub fn takes() -> bool {
    held().is_some()
}

fn held() -> Option<&'static (Directory, PathBuf)> {
    let place = || place().filter(|place| ours(place));
    HELD.get_or_init(|| place().and_then(|place| Some((Directory::hold(&place).ok()?, place)))).as_ref()
}

/// Returns true if the directory is this user's and can be written to, or would be. A part of the path that belongs to another user may be a link
/// tomorrow, and records would be in that user's way.
fn ours(place: &Path) -> bool {
    let own = rights::file_user();
    let mine = |path: &Path| fs::symlink_metadata(path).map_or(true, |it| [0, own].contains(&it.uid()));
    let Some(there) = place.ancestors().find(|path| path.exists()) else { return false };
    let writable = || accessat(CWD, there, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    let held = || fs::metadata(there).is_ok_and(|it| it.is_dir() && it.uid() == own);
    place.ancestors().all(mine) && held() && writable()
}

fn keep_in(directory: &Directory, place: &Path, verb: &str, bytes: &[u8]) -> io::Result<()> {
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it has more than {} MB", MOST_BYTES >> 20)));
    }
    let directory = directory.make(0o700)?;
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S.%6f");
    let name = format!("{now}-{verb}");
    let record = OutputFile::within(directory.try_clone()?, place.join(&name)).private();
    record.write(bytes).map_err(io::Error::other)?;
    // The directory that is held, whatever its path leads to by now.
    let here = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    let record = here.join(name);
    end_future(&within(&here)?, written(&record));
    let mut others = within(&here)?;
    others.retain(|it| *it != record);
    let mut left = MOST_BYTES - bytes.len() as u64;
    for (at, other) in others.iter().enumerate() {
        // Another run may have taken it away meanwhile.
        let size = fs::metadata(other).map_or(0, |it| it.len());
        match left.checked_sub(size).filter(|_| at < MOST - 1) {
            Some(room) => left = room,
            None => {
                let name = other.file_name().unwrap_or_default();
                let _ = rustix::fs::unlinkat(&directory, name, AtFlags::empty());
            }
        }
    }
    Ok(())
}

/// The records in a directory, the newest first. Those of one instant by their names, which begin with the time.
fn within(place: &Path) -> io::Result<Vec<PathBuf>> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut records: Vec<PathBuf> =
        fs::read_dir(place)?.filter_map(|entry| Some(entry.ok()?.path())).filter(ours).collect();
    records.sort_by_cached_key(|path| Reverse((written(path), path.clone())));
    Ok(records)
}

/// When a record was written.
fn written(record: &Path) -> Option<SystemTime> {
    fs::metadata(record).and_then(|it| it.modified()).ok()
}

/// Takes the time from records that a clock was ahead for: else they would be the newest until that time comes.
fn end_future(records: &[PathBuf], now: Option<SystemTime>) {
    let now = now.max(Some(SystemTime::now()));
    for record in records.iter().filter(|it| written(it) > now) {
        // One that stays the newest is only shown first.
        let _ = File::options().write(true).open(record).and_then(|file| file.set_modified(UNIX_EPOCH));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_last_ones_are_kept_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("state/records");
        for number in 0..25 {
            keep_in(&Directory::hold(&place).unwrap(), &place, "compare", format!("{number}").as_bytes())
                .unwrap();
        }
        let kept = within(&place).unwrap();
        let texts: Vec<String> = kept.iter().map(|it| fs::read_to_string(it).unwrap()).collect();
        assert_eq!(texts, (5..25).rev().map(|number| number.to_string()).collect::<Vec<_>>());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&kept[0]), mode(&place)), (0o600, 0o700));
        // Two that are too large together: the older one goes, with all that are older still.
        let half = vec![b'1'; (MOST_BYTES / 2 + 1) as usize];
        keep_in(&Directory::hold(&place).unwrap(), &place, "trace", &half).unwrap();
        keep_in(&Directory::hold(&place).unwrap(), &place, "trace", &half).unwrap();
        assert_eq!(within(&place).unwrap().len(), 19);
        keep_in(&Directory::hold(&place).unwrap(), &place, "trace", &vec![b'1'; MOST_BYTES as usize + 1])
            .unwrap_err();
        assert_eq!(within(&place).unwrap().len(), 19, "one that is larger than all may be is not kept");
    }

    #[test]
    fn a_clock_that_was_ahead_hides_no_later_record() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path();
        let ahead = SystemTime::now() + Duration::from_secs(3600);
        for number in 0..MOST {
            let path = place.join(format!("29990101-000000.{number:06}-compare"));
            File::create(&path).unwrap().set_modified(ahead).unwrap();
        }
        for text in ["first", "second"] {
            keep_in(&Directory::hold(place).unwrap(), place, "compare", text.as_bytes()).unwrap();
            let kept = within(place).unwrap();
            assert_eq!((kept.len(), fs::read_to_string(&kept[0]).unwrap().as_str()), (MOST, text));
        }
        let last = within(place).unwrap().pop().unwrap();
        assert!(last.ends_with("29990101-000000.000002-compare"), "the oldest go: {}", last.display());
    }

    #[test]
    fn what_cannot_be_kept_is_an_error_that_nobody_sees() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(Directory::hold(&dir.path().join("file/records")).is_err());
    }
}
