//! Generated files: man pages, completions, the JSON Schema of the record, the picture of a terminal and the screens that the book includes, and the check that they are current. And the
//! check that imports follow the table of layers in CONTRIBUTING.md.
//!
//! `cargo run -p xtask -- generate` writes them, `cargo run -p xtask -- check` fails if the committed ones differ or an import runs against the layers, and
//! `cargo run -p xtask -- kernel debian-arm64:6.1` fetches a kernel for the kernel tests and prints where it is.
//! `notices` makes what a release says of its parts; these files are not committed.

mod files;
mod imports;
mod layers;
mod many_events;
mod notices;
mod picture;
mod prose;
mod shown;
mod writers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use whyfaster_run::inside::kernels;

/// Make the generated files, or check that the committed ones are current.
#[derive(Debug, Parser)]
struct Args {
    /// What to do [default: generate]
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Write man/, completions/, schema/, and what the book and the README show of a record
    Generate,
    /// Fail if what is committed differs from what would be written, an import runs against the layers, core holds English, or a writer of files is unknown
    Check,
    /// Fetch a kernel into the cache, unless it is there, and print its path
    Kernel {
        /// Such as debian:6.1, debian-rt:6.1, debian-arm64:6.1 or ubuntu:5.15
        words: String,
    },
    /// Write a generated trace, for the tests of its page
    ManyEvents {
        /// Scheduling records in it
        events: u64,
        /// Where to
        file: PathBuf,
    },
    /// Write sbom.cdx.json and THIRD-PARTY.txt for a release
    Notices(notices::Release),
}

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask stands in the workspace")?;
    match Args::parse().task.unwrap_or(Task::Generate) {
        Task::Generate => generate(root),
        Task::Check => check(root),
        Task::Notices(release) => notices::write(root, &release).map(|()| ExitCode::SUCCESS),
        Task::ManyEvents { events, file } => many_events::write(events, &file).map(|()| ExitCode::SUCCESS),
        Task::Kernel { words } => {
            println!("{}", kernels::fetch(&words)?.display());
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn generate(root: &Path) -> Result<ExitCode> {
    let wanted = files::all(root)?;
    for stale in stale(root, &wanted)? {
        std::fs::remove_file(root.join(&stale))
            .with_context(|| format!("cannot remove {}", stale.display()))?;
    }
    for (path, bytes) in &wanted {
        let path = root.join(path);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)
                .with_context(|| format!("cannot make {}", directory.display()))?;
        }
        std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    println!("{} files written", wanted.len());
    Ok(ExitCode::SUCCESS)
}

fn check(root: &Path) -> Result<ExitCode> {
    let wanted = files::all(root)?;
    let differs =
        wanted.iter().filter(|(path, bytes)| std::fs::read(root.join(path)).ok().as_ref() != Some(bytes));
    let mut wrong: Vec<String> =
        differs.map(|(path, _)| format!("{} is not current", path.display())).collect();
    wrong.extend(
        stale(root, &wanted)?.iter().map(|path| format!("{} is not generated any more", path.display())),
    );
    if !wrong.is_empty() {
        wrong.push("Run 'cargo run -p xtask -- generate' and commit what it writes.".to_owned());
    }
    let against = layers::check(root)?;
    if !against.is_empty() {
        wrong.extend(against);
        wrong.push("CONTRIBUTING.md says under \"Layers\" what may import what.".to_owned());
    }
    wrong.extend(prose::wrong(root)?);
    wrong.extend(writers::wrong(root)?);
    if wrong.is_empty() {
        println!(
            "{} generated files are current, imports follow the layers, core holds no English, and every writer of files is known",
            wanted.len()
        );
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{}", wrong.join("\n"));
    Ok(ExitCode::FAILURE)
}

/// Files in the generated directories that nothing generates any more.
fn stale(root: &Path, wanted: &files::Files) -> Result<Vec<PathBuf>> {
    let mut stale = Vec::new();
    for directory in files::DIRECTORIES {
        let Ok(entries) = std::fs::read_dir(root.join(directory)) else { continue };
        for entry in entries {
            let path = Path::new(directory).join(entry?.file_name());
            if !wanted.contains_key(&path) {
                stale.push(path);
            }
        }
    }
    Ok(stale)
}
