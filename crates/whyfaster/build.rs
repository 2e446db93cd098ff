//! Puts texts into the program: the book's pages about probes (docs/src/probes/NAME.md), and the studies (studies/NAME/).

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let shared = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("shared");
    let mut pages = String::from("const PAGES: &[(&str, &str)] = &[\n");
    for path in entries(&shared.join("probes"))? {
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            writeln!(pages, "    ({name:?}, {:?}),", text(&path)?).map_err(io::Error::other)?;
        }
    }
    pages.push_str("];\n");
    write("pages.rs", &pages)?;

    let mut studies = String::from("const STUDIES: &[(&str, &[(&str, &str)])] = &[\n");
    for directory in entries(&shared.join("studies"))? {
        writeln!(studies, "    ({:?}, &[", name(&directory)).map_err(io::Error::other)?;
        for file in files(&directory)?.iter().filter(|file| name(file) != "README.md") {
            let inside = file.strip_prefix(&directory).unwrap_or(file).to_string_lossy();
            writeln!(studies, "        ({inside:?}, {:?}),", text(file)?).map_err(io::Error::other)?;
        }
        studies.push_str("    ]),\n");
    }
    studies.push_str("];\n");
    write("studies.rs", &studies)
}

/// What lies in a directory, sorted.
fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut found =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    found.sort();
    Ok(found)
}

/// The files of a directory and of those in it.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in entries(directory)? {
        match entry.is_dir() {
            true => found.extend(files(&entry)?),
            false => found.push(entry),
        }
    }
    Ok(found)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A file's text, not its path, which would make every clone's program another one.
fn text(path: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path)
}

fn write(file: &str, text: &str) -> io::Result<()> {
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join(file), text)
}
