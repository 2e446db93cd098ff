//! Who called a function, where code was built without frame pointers, as most libraries are: from the registers and the top of the stack,
//! by the tables that files have for exceptions (`.eh_frame`).

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use framehop::{
    CacheNative, ExplicitModuleSectionInfo, FrameAddress, MayAllocateDuringUnwind, Module, UnwindRegsNative,
    Unwinder as _, UnwinderNative,
};
use object::elf::Machine;

use super::elf::{Elf, Span};
use super::images::{CodeFile, Images, Place};
use super::programs::types;

/// Frames of a stack at most.
const FRAMES: usize = 32;

/// Bytes of tables that are kept at most, and files. Bounds the memory: code of others has no callers then.
const KEPT_BYTES: u64 = 64 << 20;
const KEPT_FILES: usize = 1024;

/// Files lie so far from each other, and the first where no address of a process is: one table serves all processes, whatever they have
/// where.
const FIRST: u64 = 1 << 60;
const APART: u64 = 1 << 32;

/// A file with tables.
#[derive(Debug)]
struct Unwound {
    /// Where its address 0 lies here.
    base: u64,
    /// What of the file is loaded: from where, how many bytes, and to which of its addresses.
    segments: Vec<(u64, u64, u64)>,
}

/// What is known of files.
pub(crate) struct Unwinder {
    tables: UnwinderNative<Vec<u8>, MayAllocateDuringUnwind>,
    rules: CacheNative<MayAllocateDuringUnwind>,
    files: HashMap<Rc<CodeFile>, Option<Unwound>>,
    bytes: u64,
}

impl Default for Unwinder {
    fn default() -> Self {
        Self { tables: UnwinderNative::new(), rules: CacheNative::new(), files: HashMap::new(), bytes: 0 }
    }
}

impl fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unwinder").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Unwinder {
    /// The place of a task in user code and of its callers, innermost first, as far as the memory goes.
    pub(crate) fn places(
        &mut self,
        r: &types::stack_record,
        memory: &[u8],
        images: &mut Images,
    ) -> Vec<Place> {
        let mut registers = registers(r);
        let mut read = |address: u64| {
            let at = address.checked_sub(r.top).and_then(|at| usize::try_from(at).ok()).ok_or(())?;
            let word = memory.get(at..).and_then(<[u8]>::first_chunk::<8>).ok_or(())?;
            Ok(u64::from_ne_bytes(*word))
        };
        let mut places = vec![images.place(r.process, r.head.at, r.at)];
        let mut here = FrameAddress::from_instruction_pointer(self.looked_up(&places[0]));
        while places.len() < FRAMES
            && let Ok(Some(to)) = self.tables.unwind_frame(here, &mut registers, &mut self.rules, &mut read)
        {
            // The call is before the address to return to, which may be of the next function.
            let place = images.place(r.process, r.head.at, to.saturating_sub(1));
            let Some(caller) = FrameAddress::from_return_address(self.looked_up(&place).saturating_add(1))
            else {
                break;
            };
            here = caller;
            places.push(place);
        }
        places
    }

    /// By what address the tables know a place.
    fn looked_up(&mut self, place: &Place) -> u64 {
        match place {
            // Code that was made at run time has no tables, and frame pointers mostly.
            Place::Memory(_, address) => *address,
            Place::File(file, offset) => self.in_file(file, *offset).unwrap_or_default(),
        }
    }

    fn in_file(&mut self, file: &Rc<CodeFile>, offset: u64) -> Option<u64> {
        if !self.files.contains_key(file) {
            let tables = (self.files.len() < KEPT_FILES).then(|| self.tables_of(file)).flatten();
            self.files.insert(Rc::clone(file), tables);
        }
        let Unwound { base, segments } = self.files.get(file)?.as_ref()?;
        let (from, _, to) =
            segments.iter().find(|(from, bytes, _)| (*from..from + bytes).contains(&offset))?;
        Some(base + to + (offset - from))
    }

    /// Reads the tables of a file. What is no file, or of another architecture, has none.
    fn tables_of(&mut self, file: &CodeFile) -> Option<Unwound> {
        let left = KEPT_BYTES - self.bytes;
        let (sections, segments) = read(&file.open()?, left)?;
        self.bytes += [&sections.eh_frame, &sections.eh_frame_hdr]
            .into_iter()
            .flatten()
            .map(|it| it.len() as u64)
            .sum::<u64>();
        let base = FIRST + self.files.len() as u64 * APART;
        self.tables.add_module(Module::new(
            file.path.display().to_string(),
            base..base + APART,
            base,
            sections,
        ));
        Some(Unwound { base, segments })
    }
}

/// What of a file is loaded.
type Segments = Vec<(u64, u64, u64)>;

/// The tables of a file that are no larger than so many bytes.
fn read(file: &File, most: u64) -> Option<(ExplicitModuleSectionInfo<Vec<u8>>, Segments)> {
    let elf = Elf::read(file)?;
    if elf.machine != OURS || !elf.little_endian {
        return None;
    }
    let section = |name: &str| {
        let section = elf.section(name)?;
        let (offset, bytes) = section.span.filter(|(_, bytes)| *bytes <= most / 2)?;
        let mut data = vec![0; usize::try_from(bytes).ok()?];
        file.read_exact_at(&mut data, offset).ok()?;
        Some((section.address..section.address.checked_add(bytes)?, data))
    };
    let (eh_frame_svma, eh_frame) = section(".eh_frame")?;
    let (eh_frame_hdr_svma, eh_frame_hdr) = section(".eh_frame_hdr").unzip();
    let text_svma = elf.section(".text").map(|it| it.address..it.address.saturating_add(it.bytes));
    let in_reach = |((from, bytes), to): &(Span, u64)| {
        let ends =
            to.checked_add(*bytes).is_some_and(|end| end < APART) && from.checked_add(*bytes).is_some();
        ends.then_some((*from, *bytes, *to))
    };
    let sections = ExplicitModuleSectionInfo {
        text_svma,
        eh_frame_svma: Some(eh_frame_svma),
        eh_frame: Some(eh_frame),
        eh_frame_hdr_svma,
        eh_frame_hdr,
        ..ExplicitModuleSectionInfo::default()
    };
    Some((sections, elf.segments.iter().filter_map(in_reach).collect()))
}

#[cfg(target_arch = "x86_64")]
const OURS: Machine = object::elf::EM_X86_64;
#[cfg(target_arch = "aarch64")]
const OURS: Machine = object::elf::EM_AARCH64;

#[cfg(target_arch = "x86_64")]
fn registers(r: &types::stack_record) -> UnwindRegsNative {
    UnwindRegsNative::new(r.at, r.top, r.frame)
}

/// Addresses of user code have 48 bits; above them a return address may be signed.
#[cfg(target_arch = "aarch64")]
fn registers(r: &types::stack_record) -> UnwindRegsNative {
    let mask = framehop::aarch64::PtrAuthMask::from_max_known_address((1 << 48) - 1);
    UnwindRegsNative::new_with_ptr_auth_mask(mask, r.link, r.top, r.frame)
}

#[cfg(test)]
#[path = "unwind_tests.rs"]
mod tests;
