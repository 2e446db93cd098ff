//! Builds the worker, one static C program, with the C compiler of the system (`CC`, else `gcc`, else `cc`).
//! For another architecture it takes that one's compiler (`CC_TARGET`, else `ARCH-linux-gnu-gcc`) and an emulator to ask the worker.
//!
//! Two passes: first the dynamic target, then the worker, which carries the target's bytes.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs, thread};

use flate2::Compression;
use flate2::write::ZlibEncoder;

const FLAGS: &[&str] = &["-std=gnu11", "-O2", "-Wall", "-Wextra", "-pthread", "-I./include"];

fn main() {
    let out = PathBuf::from(cargo("OUT_DIR"));
    let sources = sources();
    for path in ["build.rs", "c", "c/linux", "c/other", "c/target", "include"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for path in sources.iter().chain(&files("include", "h")).chain(&files("c/target", "c")) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let compiler = compiler();
    dynamic_target(&compiler, &out);
    let objects = compile(&compiler, &sources, &out);
    link(&compiler, &objects, &out.join("worker"));
    pack(&out.join("worker"), &out.join("worker.zlib"));
    write_list(&sources, &out.join("sources.rs"));
    write_if_changed(&out.join("list.txt"), &descriptions(&out.join("worker")));
}

/// What the worker says about its probes; it is asked now, so that nobody need start it for that later.
fn descriptions(worker: &Path) -> String {
    let mut text = String::new();
    for kind in ["shown", "hidden"] {
        let mut command = match emulator() {
            Some(emulator) => {
                let mut command = Command::new(emulator);
                command.arg(worker);
                command
            }
            None => Command::new(worker),
        };
        let output = command.args(["--list", kind]).output();
        let output = output.unwrap_or_else(|e| {
            panic!("{command:?}: {e}; the worker runs once while it is built (Debian: qemu-user)")
        });
        assert!(output.status.success(), "the worker's --list ended with {}", output.status);
        text.push_str(&String::from_utf8_lossy(&output.stdout));
    }
    text
}

/// The C files of this target's worker.
fn sources() -> Vec<PathBuf> {
    let system =
        if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") { "c/linux" } else { "c/other" };
    let mut all = files("c", "c");
    all.extend(files(system, "c"));
    all
}

/// Files with this ending in a directory, sorted.
fn files(directory: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|e| panic!("{directory}: {e}"));
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    found.sort();
    found
}

/// A variable that cargo sets for every build script.
fn cargo(name: &str) -> String {
    env::var(name).unwrap_or_else(|e| panic!("cargo sets {name}: {e}"))
}

/// A variable that the user may set.
fn chosen(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The architecture, if it is not this machine's.
fn foreign() -> Option<String> {
    let host = cargo("HOST");
    let target = cargo("CARGO_CFG_TARGET_ARCH");
    (host.split('-').next() != Some(target.as_str())).then_some(target)
}

/// What runs programs of a foreign architecture: cargo's own runner for it, else qemu-user.
fn emulator() -> Option<String> {
    let architecture = foreign()?;
    let target = cargo("TARGET").to_uppercase().replace('-', "_");
    Some(chosen(&format!("CARGO_TARGET_{target}_RUNNER")).unwrap_or(format!("qemu-{architecture}")))
}

fn compiler() -> String {
    let runs = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    if let Some(named) = chosen(&format!("CC_{}", cargo("TARGET").replace('-', "_"))) {
        return named;
    }
    match foreign() {
        Some(architecture) => format!("{architecture}-linux-gnu-gcc"),
        None => match chosen("CC") {
            Some(named) => named,
            None if runs("gcc") => "gcc".to_owned(),
            None => "cc".to_owned(),
        },
    }
}

/// Runs the compiler; its errors are the build's errors.
fn run(compiler: &str, arguments: &[&Path], flags: &[&str]) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.args(flags).args(arguments);
    match command.output() {
        Ok(output) if output.status.success() => {
            for line in String::from_utf8_lossy(&output.stderr).lines().filter(|l| l.contains("warning:")) {
                println!("cargo::warning={line}");
            }
            Ok(())
        }
        Ok(output) => Err(format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr))),
        Err(e) => Err(format!("{compiler}: {e}; install a C compiler (Debian: gcc, libc6-dev) or set CC")),
    }
}

/// The little dynamic program, and its bytes as C.
fn dynamic_target(compiler: &str, out: &Path) {
    let program = out.join("dynamic_target");
    let parts = ["c/target/stamp.c", "c/target.c", "c/clock.c"].map(Path::new);
    let mut arguments = parts.to_vec();
    arguments.extend([Path::new("-o"), &program]);
    run(compiler, &arguments, FLAGS).unwrap_or_else(|e| panic!("{e}"));
    let bytes = fs::read(&program).unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte},");
    }
    write_if_changed(&out.join("dynamic_target.inc"), &text);
}

fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// One object a source, on all CPUs.
fn compile(compiler: &str, sources: &[PathBuf], out: &Path) -> Vec<PathBuf> {
    let include = format!("-I{}", out.display());
    let version = format!("-DWORKER_VERSION=\"{}\"", cargo("CARGO_PKG_VERSION"));
    let flags: Vec<&str> = FLAGS.iter().copied().chain([include.as_str(), version.as_str(), "-c"]).collect();
    let jobs: Vec<_> = sources
        .iter()
        .map(|source| {
            (source.clone(), out.join(source.to_string_lossy().replace('/', "_")).with_extension("o"))
        })
        .collect();
    let queue = Mutex::new(jobs.iter());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("no worker panics while it holds the queue").next();
                    let Some((source, object)) = next else { break };
                    run(compiler, &[source, Path::new("-o"), object], &flags)
                        .unwrap_or_else(|e| panic!("{e}"));
                }
            });
        }
    });
    jobs.into_iter().map(|(_, object)| object).collect()
}

/// Static where the system has a static C library (macOS and some Linux distributions have none); without symbols, a tenth of the file.
fn link(compiler: &str, objects: &[PathBuf], program: &Path) {
    let mut arguments: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
    arguments.extend([Path::new("-o"), program]);
    let Err(first) = run(compiler, &arguments, &["-static", "-pthread", "-s"]) else { return };
    println!("cargo::warning=no static C library here; the worker is linked dynamically");
    run(compiler, &arguments, &["-pthread", "-s"]).unwrap_or_else(|e| panic!("{first}\n{e}"));
}

/// The worker as it is carried: packed, it is two fifths.
fn pack(program: &Path, packed: &Path) {
    let worker = fs::read(program).unwrap_or_else(|e| panic!("{}: {e}", program.display()));
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    let done =
        packer.write_all(&worker).and_then(|()| packer.finish()).and_then(|bytes| fs::write(packed, bytes));
    done.unwrap_or_else(|e| panic!("{}: {e}", packed.display()));
}

/// The sources as Rust, for `sources()`: their text, not their paths, which would make every clone's program another one.
fn write_list(sources: &[PathBuf], path: &Path) {
    let mut text = String::from("&[\n");
    for source in sources.iter().chain(&files("include", "h")) {
        let name = source.display();
        let contents = fs::read_to_string(source).unwrap_or_else(|e| panic!("{name}: {e}"));
        let _ = writeln!(text, "    ({:?}, {contents:?}),", format!("{name}"));
    }
    text.push_str("]\n");
    write_if_changed(path, &text);
}
