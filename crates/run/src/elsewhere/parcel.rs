//! What goes along: the program for the machine's instruction set, and the files that the user named.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use whyfaster_core::fleet::visit::Trouble;
use whyfaster_words::exit::Failure;

use super::message::{Sent, digest};

/// A program for another instruction set, as the user names it: `ARCH=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    machine: String,
    file: PathBuf,
}

impl Binary {
    /// Where it is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The same at another place.
    pub fn at(self, file: &Path) -> Self {
        Self { file: file.to_owned(), ..self }
    }
}

impl FromStr for Binary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (machine, file) =
            text.split_once('=').ok_or("it is ARCH=FILE, such as aarch64=./whyfaster-arm64")?;
        if machine.is_empty() || file.is_empty() {
            return Err("it is ARCH=FILE, such as aarch64=./whyfaster-arm64".to_owned());
        }
        Ok(Self { machine: instruction_set(machine).to_owned(), file: file.into() })
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.machine, self.file.display())
    }
}

/// A program, and the hash of its content by which the other side knows that it came whole.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) bytes: Arc<[u8]>,
    pub(super) digest: String,
}

/// All that goes to the machines.
#[derive(Debug)]
pub struct Load {
    /// By instruction set, as `uname -m` calls it.
    programs: BTreeMap<String, Program>,
    files: Vec<PathBuf>,
}

impl Load {
    /// This program, those that the user named for other machines, and the files. All must be there.
    pub fn of(binaries: &[Binary], files: &[PathBuf]) -> Result<Self, Failure> {
        let mut programs = BTreeMap::new();
        // By the kernel's own link: it leads to this program also where the file has been replaced.
        let own = Binary { machine: ARCH.to_owned(), file: "/proc/self/exe".into() };
        for binary in [&own].into_iter().chain(binaries) {
            let bytes = fs::read(&binary.file).map_err(|error| {
                let message = format!("cannot read the program '{}': {error}", binary.file.display());
                Failure::usage(message, "name the whyfaster that was built for those machines")
            })?;
            let digest = digest(&bytes);
            programs.insert(binary.machine.clone(), Program { bytes: bytes.into(), digest });
        }
        let load = Self { programs, files: files.to_vec() };
        let mut names: Vec<String> = Vec::new();
        for file in files {
            let name = name(file)?;
            if names.contains(&name) {
                let message =
                    format!("--send: two files are called '{name}', and they go into one directory");
                return Err(Failure::usage(message, "rename one of them"));
            }
            names.push(name);
            opened(file)
                .map_err(|why| Failure::usage(format!("--send: {why}"), "name files that you may read"))?;
        }
        Ok(load)
    }

    /// The program for a machine.
    pub(super) fn program(&self, machine: &str) -> Option<&Program> {
        self.programs.get(instruction_set(machine))
    }

    /// The files, opened, and what is said of each.
    pub(super) fn files(&self) -> Result<Vec<(Sent, File)>, Trouble> {
        let sent = |path: &PathBuf| {
            let (file, bytes, executable) = opened(path)?;
            let name = name(path).map_err(|failure| failure.message)?;
            Ok((Sent { name, bytes, executable }, file))
        };
        self.files.iter().map(sent).collect::<Result<_, String>>().map_err(|why| Trouble::NotSent { why })
    }
}

/// Linux says `aarch64`, Debian and macOS say `arm64`.
fn instruction_set(machine: &str) -> &str {
    if machine == "arm64" { "aarch64" } else { machine }
}

fn name(file: &Path) -> Result<String, Failure> {
    let name = file.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| {
        let message = format!("--send: '{}' has no name that can be sent", file.display());
        Failure::usage(message, "name a file whose name is text")
    })
}

/// The file, its size, and whether it may be executed.
fn opened(path: &Path) -> Result<(File, u64, bool), String> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (about, file) = opened.map_err(|error| format!("cannot read '{}': {error}", path.display()))?;
    if !about.is_file() {
        return Err(format!("'{}' is no file (an archive of a directory can be sent)", path.display()));
    }
    Ok((file, about.len(), about.permissions().mode() & 0o100 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_goes_to_machines_of_its_kind_and_no_other() {
        let load = Load::of(&[], &[]).unwrap();
        assert!(load.program(ARCH).is_some() && load.program("vax").is_none());
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("other");
        fs::write(&file, "bytes").unwrap();
        let binary: Binary = format!("vax={}", file.display()).parse().unwrap();
        let load = Load::of(&[binary], &[]).unwrap();
        assert_eq!(&*load.program("vax").unwrap().bytes, b"bytes");
        let binary = format!("arm64={}", file.display()).parse().unwrap();
        let load = Load::of(&[binary], &[]).unwrap();
        assert!(load.program("aarch64").is_some() && load.program("arm64").is_some());
        assert!("vax".parse::<Binary>().is_err() && "=x".parse::<Binary>().is_err());
    }

    #[test]
    fn what_cannot_be_sent_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("one"), "1").unwrap();
        fs::write(at("sub/one"), "2").unwrap();
        let refused = |files: &[PathBuf]| Load::of(&[], files).unwrap_err().message;
        assert!(refused(&[at("none")]).contains("cannot read"));
        assert!(refused(&[at("sub")]).contains("no file"));
        assert!(refused(&[at("one"), at("sub/one")]).contains("two files are called 'one'"));
        let sent = Load::of(&[], &[at("one")]).unwrap().files().unwrap();
        assert_eq!((sent[0].0.name.as_str(), sent[0].0.bytes, sent[0].0.executable), ("one", 1, false));
    }
}
