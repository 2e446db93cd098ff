//! What the BPF programs are made from, as one number: by it the build sees that the prebuilt ones are of other sources.

use std::path::Path;
use std::{fs, io};

/// FNV-1a over the names and contents of the files in the directory, in the order of their names. It tells a forgotten
/// step, not an attack; std's hashers may change with the compiler.
pub(crate) fn fingerprint(directory: &Path) -> io::Result<String> {
    let mut paths = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let contents = fs::read(&path)?;
        let lengths = [name.len(), contents.len()].map(|length| (length as u64).to_le_bytes()).concat();
        for byte in lengths.iter().chain(name.as_bytes()).chain(&contents) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}
