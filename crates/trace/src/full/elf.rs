//! Reads the headers and sections of an ELF file. An untrusted process may have made it, so it is never mapped, and its headers may
//! take a limited amount of memory.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use object::Endianness;
use object::elf::{FileHeader32, FileHeader64, Machine, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{ReadCache, ReadRef};
use rustix::fs::{MemfdFlags, memfd_create};

/// Headers at most, of each kind, and bytes of the names of sections. A program has some forty.
const MOST_HEADERS: usize = 1024;
const MOST_NAMES: u64 = 64 << 10;

/// Bytes that are read for all of that at most.
const MOST_BYTES: u64 = 1 << 20;

/// Sections that name functions.
const SYMBOLS: [&str; 4] = [".symtab", ".strtab", ".dynsym", ".dynstr"];

/// An offset in a file, and a number of bytes.
pub(super) type Span = (u64, u64);

/// The headers of a file.
#[derive(Debug)]
pub(super) struct Elf {
    pub(super) machine: Machine,
    pub(super) little_endian: bool,
    /// The parts that are loaded, with their addresses.
    pub(super) segments: Vec<(Span, u64)>,
    sections: Vec<Section>,
    /// The spans of the headers and of the names of sections.
    headers: Vec<Span>,
}

/// A section that has a name.
#[derive(Debug)]
pub(super) struct Section {
    name: Vec<u8>,
    pub(super) address: u64,
    pub(super) bytes: u64,
    /// Its span in the file; `None` if the file does not hold it.
    pub(super) span: Option<Span>,
}

impl Elf {
    /// Reads the headers. `None`: it is no such file, or one that no linker makes.
    pub(super) fn read(file: &File) -> Option<Self> {
        let (cache, left) = (ReadCache::new(file), Cell::new(MOST_BYTES));
        let data = Limited { cache: &cache, left: &left };
        parse::<FileHeader64<Endianness>>(data).or_else(|| parse::<FileHeader32<Endianness>>(data))
    }

    pub(super) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name.as_bytes())
    }

    /// A copy of what names functions, where the file has it, and its bytes. The rest of the copy is a hole.
    pub(super) fn symbols(&self, file: &File, most: u64) -> Option<(File, u64)> {
        let tables = SYMBOLS.iter().filter_map(|name| self.section(name)?.span);
        let spans: Vec<Span> = self.headers.iter().copied().chain(tables).collect();
        let bytes = spans.iter().try_fold(0u64, |sum, (_, bytes)| sum.checked_add(*bytes))?;
        if bytes > most {
            return None;
        }
        let copy = File::from(memfd_create("whyfaster-symbols", MemfdFlags::CLOEXEC).ok()?);
        spans.into_iter().try_for_each(|span| copied(file, &copy, span)).ok()?;
        Some((copy, bytes))
    }
}

fn copied(mut from: &File, mut to: &File, (offset, bytes): Span) -> io::Result<()> {
    from.seek(SeekFrom::Start(offset))?;
    to.seek(SeekFrom::Start(offset))?;
    match io::copy(&mut from.take(bytes), &mut to)? {
        copied if copied == bytes => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn parse<Header: FileHeader<Endian = Endianness>>(data: Limited<'_>) -> Option<Elf> {
    let header = Header::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let sections = header.sections(endian, data).ok()?;
    if segments.len() > MOST_HEADERS || sections.len() > MOST_HEADERS {
        return None;
    }
    let mut headers = vec![
        (0, size_of::<Header>() as u64),
        (header.e_phoff(endian).into(), size_of_val(segments) as u64),
        (header.e_shoff(endian).into(), size_of_val(sections.iter().as_slice()) as u64),
    ];
    if !sections.is_empty() {
        let names = header.section_strings_index(endian, data).ok()?;
        let names = sections.section(names).ok()?.file_range(endian)?;
        if names.1 > MOST_NAMES {
            return None;
        }
        headers.push(names);
    }
    let named = |section: &Header::SectionHeader| {
        Some(Section {
            name: sections.section_name(endian, section).ok()?.to_vec(),
            address: section.sh_addr(endian).into(),
            bytes: section.sh_size(endian).into(),
            span: section.file_range(endian),
        })
    };
    let loaded = segments.iter().filter(|it| it.p_type(endian) == PT_LOAD);
    Some(Elf {
        machine: header.e_machine(endian),
        little_endian: header.is_little_endian(),
        segments: loaded.map(|it| (it.file_range(endian), it.p_vaddr(endian).into())).collect(),
        sections: sections.iter().filter_map(named).collect(),
        headers,
    })
}

/// A file of which only so much is read.
#[derive(Clone, Copy)]
struct Limited<'a> {
    cache: &'a ReadCache<&'a File>,
    left: &'a Cell<u64>,
}

impl Limited<'_> {
    fn take(self, bytes: u64) -> Result<(), ()> {
        self.left.set(self.left.get().checked_sub(bytes).ok_or(())?);
        Ok(())
    }
}

impl<'a> ReadRef<'a> for Limited<'a> {
    fn len(self) -> Result<u64, ()> {
        self.cache.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        self.take(size)?;
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let bytes = self.cache.read_bytes_at_until(range, delimiter)?;
        self.take(bytes.len() as u64)?;
        Ok(bytes)
    }
}
