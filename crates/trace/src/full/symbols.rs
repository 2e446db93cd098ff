//! Addresses of stacks to names. What cannot be named stays a number, with its file where that is known.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{Input, Symbolizer};
use whyfaster_core::trace::event::{Pid, Stack};

use super::images::{CodeFile, Images, Place};
use super::programs::types;

/// Kernel functions of the observing itself, on top of a stack that is taken where a task blocks.
const OWN: [&str; 4] = ["bpf_", "__bpf_", "__traceiter_", "__probestub_"];

/// A place in the kernel whose address is not shown.
const UNNAMED: &str = "[kernel]";

/// Names that are kept at most; then all are looked up anew. Bounds the memory of a long trace.
const KEPT: usize = 1 << 18;

/// What is known of addresses.
#[derive(Default)]
pub(crate) struct Symbols {
    /// What each process has mapped where.
    pub(crate) images: Images,
    /// Whether addresses of the kernel without a name are left out.
    pub(crate) hides_kernel: bool,
    symbolizer: Symbolizer,
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
        let named = self.look_up(&source, Input::AbsAddr(address));
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
        let named = file.here.as_ref().and_then(|here| {
            let mut source = Elf::new(here);
            source.debug_syms = false;
            self.look_up(&Source::Elf(source), Input::FileOffset(offset))
        });
        self.user.insert(key, named.clone());
        named
    }

    fn look_up(&self, source: &Source<'_>, input: Input<u64>) -> Option<String> {
        // No file, no symbols, or no permission: it stays a number.
        let found = self.symbolizer.symbolize_single(source, input).ok()?;
        Some(found.as_sym()?.name.to_string())
    }
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
    use super::*;

    #[test]
    fn a_file_that_was_built_anew_for_another_run_has_its_own_names() {
        let directory = tempfile::tempdir().unwrap();
        let built = directory.path().join("library.so");
        let first = include_bytes!("../../../../fuzz/corpus/unwind/library.so").to_vec();
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
            let file = CodeFile { path: built.clone(), here: Some(built.clone()), identity: ((0, 0), 0) };
            symbols.symbol(&Place::File(Rc::new(file), 0x2a0))
        };
        assert_eq!(named(&first).as_deref(), Some("leaf"));
        assert_eq!(named(&second).as_deref(), Some("late"));
    }
}
