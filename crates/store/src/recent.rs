//! The last records of what was measured, kept unasked so that `show` has them without measuring again.
//!
//! They are in the state directory of the XDG base directory specification, which only their owner may read. What cannot be kept
//! there is not kept: a measurement never fails for it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::atomic::write_private;

/// So many records are kept, of so many bytes together. One comparison takes less than 200 KB.
const MOST: usize = 20;
const MOST_BYTES: u64 = 64 << 20;

/// Keeps the bytes of a record of this verb, and lets go of the oldest.
pub fn keep(verb: &str, bytes: &[u8]) {
    if let Some(place) = place() {
        // Nobody asked for it, so nobody is told.
        let _ = keep_in(&place, verb, bytes);
    }
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

/// Whether a record would be kept, as far as that is known before.
pub fn takes() -> bool {
    place().is_some_and(|place| ours(&place))
}

/// Whether the directory is this user's, or would be. In one of somebody else, as with the HOME of who called sudo, records would stand in
/// that user's way.
fn ours(place: &Path) -> bool {
    let there = place.ancestors().find(|path| path.exists()).and_then(|path| fs::metadata(path).ok());
    there.is_some_and(|it| it.uid() == rustix::process::geteuid().as_raw())
}

fn keep_in(place: &Path, verb: &str, bytes: &[u8]) -> io::Result<()> {
    if bytes.len() as u64 > MOST_BYTES || !ours(place) {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S.%6f");
    write_private(&place.join(format!("{now}-{verb}")), bytes).map_err(io::Error::other)?;
    let mut left = MOST_BYTES;
    for (at, record) in within(place)?.iter().enumerate() {
        // Another run may have taken it away meanwhile.
        let size = fs::metadata(record).map_or(0, |it| it.len());
        match left.checked_sub(size).filter(|_| at < MOST) {
            Some(room) => left = room,
            None => {
                let _ = fs::remove_file(record);
            }
        }
    }
    Ok(())
}

/// The records in a directory, the newest first: their names begin with the time.
fn within(place: &Path) -> io::Result<Vec<PathBuf>> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut records: Vec<PathBuf> =
        fs::read_dir(place)?.filter_map(|entry| Some(entry.ok()?.path())).filter(ours).collect();
    records.sort_unstable();
    records.reverse();
    Ok(records)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_last_ones_are_kept_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("state/records");
        for number in 0..25 {
            keep_in(&place, "compare", format!("{number}").as_bytes()).unwrap();
        }
        let kept = within(&place).unwrap();
        let texts: Vec<String> = kept.iter().map(|it| fs::read_to_string(it).unwrap()).collect();
        assert_eq!(texts, (5..25).rev().map(|number| number.to_string()).collect::<Vec<_>>());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&kept[0]), mode(&place)), (0o600, 0o700));
        // Two that are too large together: the older one goes, with all that are older still.
        let half = vec![b'1'; (MOST_BYTES / 2 + 1) as usize];
        keep_in(&place, "trace", &half).unwrap();
        keep_in(&place, "trace", &half).unwrap();
        assert_eq!(within(&place).unwrap().len(), 19);
        keep_in(&place, "trace", &vec![b'1'; MOST_BYTES as usize + 1]).unwrap();
        assert_eq!(within(&place).unwrap().len(), 19, "one that is larger than all may be is not kept");
    }

    #[test]
    fn what_cannot_be_kept_is_an_error_that_nobody_sees() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(keep_in(&dir.path().join("file/records"), "compare", b"1").is_err());
    }
}
