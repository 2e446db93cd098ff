//! Puts the book's pages about probes (docs/src/probes/NAME.md) into the program.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let pages = manifest.join("shared/probes");
    println!("cargo::rerun-if-changed={}", pages.display());
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(&pages)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            found.push((name, path));
        }
    }
    found.sort();
    let mut text = String::from("const PAGES: &[(&str, &str)] = &[\n");
    for (name, path) in found {
        println!("cargo::rerun-if-changed={}", path.display());
        // The page's text, not its path, which would make every clone's program another one.
        let page = fs::read_to_string(path)?;
        writeln!(text, "    ({name:?}, {page:?}),").map_err(io::Error::other)?;
    }
    text.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("pages.rs");
    fs::write(out, text)
}
