//! Addresses of stacks to names. What cannot be named stays a number, with its file where that is known.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::rc::Rc;

use blazesym::MaybeDefault;
use blazesym::symbolize::source::{self, Kernel, Source};
use blazesym::symbolize::{Input, Symbolizer};
use whyfaster_core::trace::event::{Pid, Stack};

use super::elf::Elf;
use super::images::{CodeFile, Images, Place};
use super::programs::types;

/// Kernel functions of the observing itself, on top of a stack that is taken where a task blocks.
const OWN: [&str; 4] = ["bpf_", "__bpf_", "__traceiter_", "__probestub_"];

/// A place in the kernel whose address is not shown.
const UNNAMED: &str = "[kernel]";

/// Names that are kept at most; then all are looked up anew. Bounds the memory of a long trace.
const KEPT: usize = 1 << 18;

/// Bytes of tables of symbols that are kept at most, and files, and bytes of a name. Bounds the memory: code of others has no names then.
const KEPT_BYTES: u64 = 512 << 20;
const KEPT_FILES: usize = 512;
const LONGEST: usize = 1024;

/// The symbols of a file.
struct Table {
    symbolizer: Symbolizer,
    /// The name by which the symbolizer knows the copy that it has open.
    name: PathBuf,
}

impl Table {
    /// Copies them, for the symbolizer maps what it reads: who truncates the file ends no process of ours. Returns their bytes, too.
    fn of(file: &CodeFile, most: u64) -> Option<(Self, u64)> {
        let file = file.open()?;
        let (copy, bytes) = Elf::read(&file)?.symbols(&file, most)?;
        let name = PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()));
        // It goes on with the file that it has opened, whatever that name means later.
        let table = Self { symbolizer: Symbolizer::builder().enable_auto_reload(false).build(), name };
        table.symbolizer.symbolize_single(&table.source(), Input::FileOffset(0)).ok()?;
        Some((table, bytes))
    }

    fn source(&self) -> Source<'static> {
        let mut source = source::Elf::new(&self.name);
        source.debug_syms = false;
        Source::Elf(source)
    }
}

/// What is known of addresses.
#[derive(Default)]
pub(crate) struct Symbols {
    /// What each process has mapped where.
    pub(crate) images: Images,
    /// Whether addresses of the kernel without a name are left out.
    pub(crate) hides_kernel: bool,
    symbolizer: Symbolizer,
    files: HashMap<Rc<CodeFile>, Option<Table>>,
    bytes: u64,
    kernel: HashMap<u64, String>,
    user: HashMap<(Rc<CodeFile>, u64), Option<String>>,
}

impl fmt::Debug for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbols").field("images", &self.images).finish_non_exhaustive()
    }
}

impl Symbols {
    /// Another run begins: it may have built other programs by the same paths.
    pub(crate) fn begin_anew(&mut self) {
        self.user.clear();
        self.files.clear();
        self.bytes = 0;
    }

    /// Names the frames of a stack.
    pub(crate) fn stack(&mut self, r: &types::stack_record, frames: &[u8]) -> Stack {
        if self.kernel.len() > KEPT {
            self.kernel.clear();
        }
        let Frames { kernel, user, .. } = Frames::of(r, frames);
        let blocking = r.head.detail != 0;
        let mut kernel: Vec<String> = calling(&kernel).map(|address| self.kernel_name(address)).collect();
        if blocking {
            let own = kernel.iter().take_while(|f| OWN.iter().any(|own| f.starts_with(own))).count();
            kernel.drain(..own);
        }
        if self.hides_kernel {
            // Where the kernel hides its names, one frame stands for all.
            kernel.dedup_by(|frame, before| frame == before && frame == UNNAMED);
        }
        let user = calling(&user).map(|address| self.user_name(r.process, r.head.at, address)).collect();
        Stack { task: r.head.task, blocking, kernel, user }
    }

    /// Names the frames of user code, innermost first.
    pub(crate) fn user(&mut self, process: Pid, at: u64, frames: &[u64]) -> Vec<String> {
        calling(frames).map(|address| self.user_name(process, at, address)).collect()
    }

    fn kernel_name(&mut self, address: u64) -> String {
        if let Some(known) = self.kernel.get(&address) {
            return known.clone();
        }
        // The image of the kernel, if there is one, has the same names and would be searched for on every disk.
        let source =
            Source::Kernel(Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() });
        let named = look_up(&self.symbolizer, &source, Input::AbsAddr(address));
        let name = named.unwrap_or_else(|| self.unnamed(address));
        self.kernel.insert(address, name.clone());
        name
    }

    /// How a place in the kernel is called that has no name.
    pub(crate) fn unnamed(&self, address: u64) -> String {
        if self.hides_kernel { UNNAMED.to_owned() } else { format!("{address:#x}") }
    }

    fn user_name(&mut self, process: Pid, at: u64, address: u64) -> String {
        let Some((file, offset)) = self.images.find(process, at, address) else {
            return format!("{address:#x}");
        };
        self.in_file(&file, offset).unwrap_or_else(|| {
            let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
            format!("{}+{offset:#x}", name.unwrap_or_else(|| file.path.display().to_string()))
        })
    }

    /// The function at a place of a file.
    pub(crate) fn symbol(&mut self, place: &Place) -> Option<String> {
        match place {
            Place::File(file, offset) => self.in_file(file, *offset),
            Place::Memory(..) => None,
        }
    }

    fn in_file(&mut self, file: &Rc<CodeFile>, offset: u64) -> Option<String> {
        if self.user.len() > KEPT {
            self.user.clear();
        }
        let key = (Rc::clone(file), offset);
        if let Some(known) = self.user.get(&key) {
            return known.clone();
        }
        if !self.files.contains_key(file) {
            let room = self.files.len() < KEPT_FILES;
            let (table, bytes) = room.then(|| Table::of(file, KEPT_BYTES - self.bytes)).flatten().unzip();
            self.bytes += bytes.unwrap_or(0);
            self.files.insert(Rc::clone(file), table);
        }
        let table = self.files.get(file).and_then(Option::as_ref);
        let named = table.and_then(|it| look_up(&it.symbolizer, &it.source(), Input::FileOffset(offset)));
        self.user.insert(key, named.clone());
        named
    }
}

fn look_up(symbolizer: &Symbolizer, source: &Source<'_>, input: Input<u64>) -> Option<String> {
    // No file, no symbols, or no permission: it stays a number.
    let found = symbolizer.symbolize_single(source, input).ok()?;
    let name = &found.as_sym()?.name;
    Some(name[..name.floor_char_boundary(LONGEST)].to_owned())
}

/// What follows the record of a stack.
#[derive(Debug)]
pub(crate) struct Frames<'a> {
    pub(crate) kernel: Vec<u64>,
    /// As frame pointers say it.
    pub(crate) user: Vec<u64>,
    /// What user code has on the top of its stack.
    pub(crate) memory: &'a [u8],
}

impl<'a> Frames<'a> {
    pub(crate) fn of(r: &types::stack_record, bytes: &'a [u8]) -> Self {
        let part = |bytes: &'a [u8], frames: u16| bytes.split_at((usize::from(frames) * 8).min(bytes.len()));
        let (kernel, rest) = part(bytes, r.kernel_frames);
        let (user, memory) = part(rest, r.user_frames);
        let memory = &memory[..memory.len().min(usize::try_from(r.memory).unwrap_or(usize::MAX))];
        Self { kernel: addresses(kernel), user: addresses(user), memory }
    }
}

fn addresses(frames: &[u8]) -> Vec<u64> {
    let address = |f: &[u8]| u64::from_ne_bytes(f.try_into().expect("chunks of eight bytes"));
    frames.chunks_exact(8).map(address).collect()
}

/// Where each frame was: a frame below the first one holds the address to return to, which may be of the next function.
pub(crate) fn calling(frames: &[u64]) -> impl Iterator<Item = u64> {
    frames.iter().enumerate().map(|(i, address)| if i == 0 { *address } else { address.saturating_sub(1) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::*;

    const LIBRARY: &[u8] = include_bytes!("../../../../fuzz/corpus/unwind/library.so");

    /// The file as one that is mapped.
    fn there(path: &Path) -> CodeFile {
        let facts = path.metadata().unwrap();
        let device = (libc::major(facts.dev()), libc::minor(facts.dev()));
        CodeFile { path: path.to_owned(), here: Some(path.to_owned()), identity: (device, facts.ino()) }
    }

    #[test]
    fn a_file_that_is_truncated_keeps_its_names_and_ends_nobody() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("library.so");
        std::fs::write(&path, LIBRARY).unwrap();
        let file = Rc::new(there(&path));
        let mut symbols = Symbols::default();
        let mut named = |offset| symbols.symbol(&Place::File(Rc::clone(&file), offset));
        assert_eq!(named(0x2a0).as_deref(), Some("leaf"));
        std::fs::File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
        assert_eq!(named(0x2f0).as_deref(), Some("inner"));
    }

    #[test]
    fn what_has_taken_the_place_of_a_file_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("library.so");
        std::fs::write(&path, LIBRARY).unwrap();
        let file = Rc::new(there(&path));
        std::fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        assert_eq!(Symbols::default().symbol(&Place::File(file, 0x2a0)), None);
    }

    #[test]
    fn tables_and_names_have_a_limit() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut file, LIBRARY).unwrap();
        let there = there(file.path());
        let (_, bytes) = Table::of(&there, KEPT_BYTES).unwrap();
        assert!(bytes < LIBRARY.len() as u64 && Table::of(&there, bytes - 1).is_none());
    }

    #[test]
    fn a_file_that_was_built_anew_for_another_run_has_its_own_names() {
        let directory = tempfile::tempdir().unwrap();
        let built = directory.path().join("library.so");
        let first = LIBRARY.to_vec();
        let mut second = first.clone();
        for at in 0..second.len() - 5 {
            if second[at..].starts_with(b"\0leaf\0") {
                second[at + 1..at + 5].copy_from_slice(b"late");
            }
        }
        let mut symbols = Symbols::default();
        let mut named = |bytes: &[u8]| {
            let part = directory.path().join("part");
            std::fs::write(&part, bytes).unwrap();
            std::fs::rename(&part, &built).unwrap();
            symbols.begin_anew();
            symbols.symbol(&Place::File(Rc::new(there(&built)), 0x2a0))
        };
        assert_eq!(named(&first).as_deref(), Some("leaf"));
        assert_eq!(named(&second).as_deref(), Some("late"));
    }
}
