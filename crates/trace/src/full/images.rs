//! Which file a process has mapped at which address, at which time: processes end and exec before their stacks are read.

use std::collections::HashMap;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use whyfaster_core::trace::event::Pid;

use crate::foreign;

/// A file that code comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CodeFile {
    /// As the process calls it.
    pub(crate) path: PathBuf,
    /// Its possible place; `None` if there is none, or none is known. In a container its path is another file's here.
    pub(crate) here: Option<PathBuf>,
    /// Which of the files that have been there: a program that was built anew has other functions.
    pub(crate) identity: Identity,
}

impl CodeFile {
    /// Opens what the process has mapped, and no other file that has been put in its place.
    pub(crate) fn open(&self) -> Option<fs::File> {
        let file = foreign::open(self.here.as_deref()?).ok()?;
        let facts = file.metadata().ok()?;
        let ((major, minor), inode) = self.identity;
        let same_inode = facts.ino() == inode;
        let is_it = same_inode && facts.dev() == libc::makedev(major, minor);
        (is_it || told_otherwise(&file, same_inode)).then_some(file)
    }
}

/// Which file a mapping is of: device (major and minor number) and inode, as the kernel keeps them.
pub(crate) type Identity = ((u32, u32), u64);

/// A file in the memory of a process, from which code may run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Where in the file the mapping starts.
    pub(crate) offset: u64,
    pub(crate) file: Rc<CodeFile>,
}

/// Where code is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// In a file, so far from its beginning.
    File(Rc<CodeFile>, u64),
    /// In memory of a process that no file is behind: made at run time, or no code at all.
    Memory(Pid, u64),
}

/// What a process had mapped from one exec to the next.
#[derive(Clone, Debug, Default)]
struct Image {
    since: u64,
    mappings: Vec<Mapping>,
}

/// The images of all processes.
#[derive(Debug, Default)]
pub(crate) struct Images {
    processes: HashMap<Pid, Vec<Image>>,
    files: HashMap<(PathBuf, Identity), Rc<CodeFile>>,
    /// What is the root directory for processes that have another one, by device and inode, and by what is mounted below it.
    roots: HashMap<(u64, u64, u64), fs::File>,
    ended: Vec<Pid>,
}

impl Images {
    /// A process began another program: all that it had mapped is gone.
    pub(crate) fn exec(&mut self, process: Pid, at: u64) {
        self.processes.entry(process).or_default().push(Image { since: at, mappings: Vec::new() });
    }

    /// A process mapped a file. What was there before is covered.
    pub(crate) fn mapped(
        &mut self,
        process: Pid,
        range: (u64, u64),
        offset: u64,
        (path, identity): (PathBuf, Identity),
    ) {
        if !self.processes.contains_key(&process) {
            // It was there before the observation began.
            self.read(process);
        }
        let file = self.file(process, path, identity);
        if let Some(image) = self.processes.get_mut(&process).and_then(|images| images.last_mut()) {
            image.mappings.push(Mapping { start: range.0, end: range.1, offset, file });
        }
    }

    /// A child begins with what its parent has mapped.
    pub(crate) fn forked(&mut self, parent: Pid, child: Pid, at: u64) {
        let image = self.processes.get(&parent).and_then(|images| images.last());
        let image = image.map(|image| Image { since: at, mappings: image.mappings.clone() });
        // Another process may have had its number, and that may have been another user's.
        match image {
            Some(image) => self.processes.insert(child, vec![image]),
            None => self.processes.remove(&child),
        };
    }

    /// A process has ended; its last stacks may still be waiting to be read.
    pub(crate) fn ended(&mut self, process: Pid) {
        self.ended.push(process);
    }

    /// All stacks that are older than now have been read.
    pub(crate) fn forget_ended(&mut self) {
        for process in self.ended.drain(..) {
            self.processes.remove(&process);
        }
        for images in self.processes.values_mut() {
            if images.len() > 1 {
                images.drain(..images.len() - 1);
            }
        }
    }

    /// What is at an address.
    pub(crate) fn place(&mut self, process: Pid, at: u64, address: u64) -> Place {
        match self.find(process, at, address) {
            // Memory without a file may have a name nevertheless: "//anon", "[heap]", "/memfd:..." (which has none on any disk).
            Some((file, offset)) if is_file(&file.path) => Place::File(file, offset),
            _ => Place::Memory(process, address),
        }
    }

    /// The file at an address, and the place in it.
    pub(crate) fn find(&mut self, process: Pid, at: u64, address: u64) -> Option<(Rc<CodeFile>, u64)> {
        if !self.processes.contains_key(&process) {
            self.read(process);
        }
        let images = self.processes.get(&process)?;
        // A sample older than all images is of another program, or of another process that had this number.
        let image = images.iter().rev().find(|image| image.since <= at)?;
        let mapping = image.mappings.iter().rev().find(|m| (m.start..m.end).contains(&address))?;
        Some((Rc::clone(&mapping.file), address - mapping.start + mapping.offset))
    }

    /// Asks the kernel about a process that was there before the observation began.
    fn read(&mut self, process: Pid) {
        let text = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        let mappings = text.lines().filter_map(|line| self.line(process, line)).collect();
        self.processes.insert(process, vec![Image { since: 0, mappings }]);
    }

    /// `start-end perms offset device inode path`.
    fn line(&mut self, process: Pid, line: &str) -> Option<Mapping> {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let executable = words.next()?.contains('x');
        let offset = u64::from_str_radix(words.next()?, 16).ok()?;
        let (major, minor) = words.next()?.split_once(':')?;
        let inode = words.next()?.parse().ok()?;
        let path = words.next()?.trim_start();
        if !executable || path.is_empty() {
            return None;
        }
        let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
        let number = |text| u32::from_str_radix(text, 16).ok();
        let file = self.file(process, PathBuf::from(path), ((number(major)?, number(minor)?), inode));
        Some(Mapping { start: hexadecimal(start)?, end: hexadecimal(end)?, offset, file })
    }

    fn file(&mut self, process: Pid, path: PathBuf, identity: Identity) -> Rc<CodeFile> {
        let key = (path, identity);
        // Another process may know where it is.
        if let Some(known) = self.files.get(&key).filter(|known| known.here.is_some()) {
            return Rc::clone(known);
        }
        let here = if is_file(&key.0) { self.here(process, &key.0, identity) } else { None };
        let file = Rc::new(CodeFile { path: key.0.clone(), here, identity });
        self.files.insert(key, Rc::clone(&file));
        file
    }

    /// Where a file can be read that a process has mapped by this path.
    fn here(&mut self, process: Pid, path: &Path, identity: Identity) -> Option<PathBuf> {
        let ours = fs::metadata(path).ok();
        let numbers = |it: &fs::Metadata| (it.dev(), it.ino());
        let (device, inode) = identity;
        if ours.as_ref().map(numbers) == Some((libc::makedev(device.0, device.1), inode)) {
            return Some(path.to_owned());
        }
        let root = PathBuf::from(format!("/proc/{process}/root"));
        let below = path.strip_prefix("/").ok()?;
        match fs::metadata(root.join(below)) {
            Ok(theirs) if ours.as_ref().map(numbers) == Some(numbers(&theirs)) => Some(path.to_owned()),
            Ok(_) => {
                let mounts = PathBuf::from(format!("/proc/{process}/ns/mnt"));
                Some(self.root(&root, &mounts)?.join(below))
            }
            // It is gone.
            Err(_) => ours.map(|_| path.to_owned()),
        }
    }

    /// The root directory of a process, by a name that it keeps when that has ended.
    fn root(&mut self, root: &Path, mounts: &Path) -> Option<PathBuf> {
        let root =
            fs::File::options().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(root).ok()?;
        let facts = root.metadata().ok()?;
        // The same directory is another root where other things are mounted: mount_namespaces(7).
        let mounts = fs::metadata(mounts).ok()?.ino();
        let kept = self.roots.entry((facts.dev(), facts.ino(), mounts)).or_insert(root);
        Some(PathBuf::from(format!("/proc/self/fd/{}", kept.as_raw_fd())))
    }
}

/// Returns true if the file system of a file reports other numbers than the mappings have: overlayfs, which maps the file of a layer
/// (ovl_mmap() in the kernel's fs/overlayfs/file.c), and, for the device alone, btrfs, which has one for each subvolume (btrfs_getattr()).
fn told_otherwise(file: &fs::File, same_inode: bool) -> bool {
    const OVERLAYFS: i64 = 0x794c_7630;
    const BTRFS: i64 = 0x9123_683e;
    let kind = rustix::fs::fstatfs(file).map_or(0, |found| found.f_type);
    kind == OVERLAYFS || kind == BTRFS && same_inode
}

/// Whether the name of a mapping is that of a file, or of the code that the kernel lends to every process.
fn is_file(name: &Path) -> bool {
    let text = name.as_os_str().as_encoded_bytes();
    let memory = [&b"//anon"[..], b"/memfd:", b"/dev/zero"].iter().any(|it| text.starts_with(it));
    text == b"[vdso]" || text.starts_with(b"/") && !memory
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Identity = ((0, 0), 0);

    fn found(images: &mut Images, at: u64, address: u64) -> Option<(String, u64)> {
        images.find(7, at, address).map(|(f, offset)| (f.path.display().to_string(), offset))
    }

    #[test]
    fn an_address_is_looked_up_in_the_image_of_its_time() {
        let mut images = Images::default();
        images.exec(7, 10);
        images.mapped(7, (0x1000, 0x2000), 0x400, ("/bin/a".into(), NONE));
        images.exec(7, 20);
        images.mapped(7, (0x1000, 0x2000), 0, ("/bin/b".into(), NONE));
        assert_eq!(found(&mut images, 15, 0x1010), Some(("/bin/a".to_owned(), 0x410)));
        assert_eq!(found(&mut images, 25, 0x1010), Some(("/bin/b".to_owned(), 0x10)));
        assert_eq!(found(&mut images, 25, 0x2000), None);
        images.forked(7, 8, 30);
        assert!(images.find(8, 31, 0x1010).is_some());
        images.ended(7);
        images.forget_ended();
        assert_eq!(found(&mut images, 25, 0x1010), None);
        assert!(images.find(8, 31, 0x1010).is_some());
    }

    #[test]
    fn a_process_that_has_ended_is_not_named_by_the_next_one_of_its_number() {
        let mut images = Images::default();
        for (process, path) in [(7, "/own"), (9, "/of/another/user")] {
            images.exec(process, 10);
            images.mapped(process, (0x1000, 0x2000), 0, (path.into(), NONE));
        }
        assert_eq!(found(&mut images, 15, 0x1010), Some(("/own".to_owned(), 0x10)));
        images.ended(7);
        images.forked(9, 7, 20);
        assert_eq!(found(&mut images, 15, 0x1010), None);
        assert_eq!(found(&mut images, 25, 0x1010), Some(("/of/another/user".to_owned(), 0x10)));
        // The other way round, where nothing is known of who made it.
        images.forked(Pid::MAX, 9, 30);
        assert_eq!(images.find(9, 35, 0x1010), None);
    }

    #[test]
    fn a_running_process_is_asked_for_its_maps() {
        let mut images = Images::default();
        let here = found_here as fn() as usize as u64;
        let (file, _) = images.find(std::process::id(), 1, here).unwrap();
        assert_eq!(file.path, std::env::current_exe().unwrap());
        assert_eq!(file.here.as_ref(), Some(&file.path));
    }

    #[test]
    fn a_file_that_only_has_the_same_path_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let facts = file.as_file().metadata().unwrap();
        let device = (libc::major(facts.dev()), libc::minor(facts.dev()));
        let opened = |process, inode| {
            let mut images = Images::default();
            images.mapped(process, (0, 1), 0, (file.path().to_owned(), (device, inode)));
            images.find(process, 0, 0).unwrap().0.open().is_some()
        };
        // Nobody has the largest number.
        for process in [Pid::MAX, std::process::id()] {
            assert!(opened(process, facts.ino()));
            assert_eq!(opened(process, facts.ino() + 1), told_otherwise(file.as_file(), false));
        }
    }

    fn found_here() {}
}
