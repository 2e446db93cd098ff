//! Images of kernels: a file that the user has, or one of a distribution's packages, fetched with apt into a cache of ours.
//!
//! apt gets a state of its own (sources, lists, cache), so that the system's is not touched and no right is needed. Only
//! the package is downloaded; its kernel is unpacked and nothing is installed.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use whyfaster_store::{OutputFile, Scratch, write_atomic};
use whyfaster_words::exit::{Exit, Failure, nearest};

use super::super::cache;
use super::guest::directory;
use super::tools;

/// An instruction set whose kernels can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arch {
    Amd64,
    Arm64,
}

impl Arch {
    /// As Debian and Ubuntu call it.
    fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// Whether a file begins as this architecture's kernels do. A kernel of the x86 boot protocol has "HdrS" at 0x202
    /// (Documentation/arch/x86/boot.rst), an arm64 image "ARM\x64" at 0x38 (Documentation/arch/arm64/booting.rst).
    fn begins(self, head: &[u8]) -> bool {
        match self {
            Self::Amd64 => head.get(0x202..0x206) == Some(b"HdrS") || head.starts_with(b"\x7fELF"),
            Self::Arm64 => head.get(0x38..0x3c) == Some(b"ARM\x64"),
        }
    }
}

/// What apt reads: one state for all that comes from the same sources for the same architecture.
struct Archive {
    name: &'static str,
    sources: &'static str,
    arch: Arch,
}

/// Kernels that can be fetched, as they are named before the colon.
struct Distribution {
    name: &'static str,
    archive: &'static Archive,
    /// Flavours for virtual machines boot fastest and hold what is needed; the first that a version has is taken.
    flavours: &'static [&'static str],
}

const DEBIAN_SOURCES: &str = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n\
                              deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main\n\
                              deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n\
                              deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian sid main\n";

static DEBIAN: Archive = Archive { name: "debian", sources: DEBIAN_SOURCES, arch: Arch::Amd64 };
static DEBIAN_ARM64: Archive = Archive { name: "debian-arm64", sources: DEBIAN_SOURCES, arch: Arch::Arm64 };
static UBUNTU: Archive = Archive {
    name: "ubuntu",
    sources: "deb [signed-by=@KEYRING@] http://archive.ubuntu.com/ubuntu xenial-updates main universe\n\
              deb [signed-by=@KEYRING@] http://archive.ubuntu.com/ubuntu bionic-updates main universe\n\
              deb [signed-by=@KEYRING@] http://archive.ubuntu.com/ubuntu focal-updates main universe\n\
              deb [signed-by=@KEYRING@] http://archive.ubuntu.com/ubuntu jammy-updates main universe\n\
              deb [signed-by=@KEYRING@] http://archive.ubuntu.com/ubuntu noble-updates main universe\n",
    arch: Arch::Amd64,
};

static DISTRIBUTIONS: [Distribution; 4] = [
    Distribution { name: "debian", archive: &DEBIAN, flavours: &["-cloud-amd64", "-cloud-amd64-unsigned"] },
    Distribution { name: "debian-rt", archive: &DEBIAN, flavours: &["-rt-amd64", "-rt-amd64-unsigned"] },
    Distribution {
        name: "debian-arm64",
        archive: &DEBIAN_ARM64,
        flavours: &["-cloud-arm64", "-cloud-arm64-unsigned"],
    },
    Distribution { name: "ubuntu", archive: &UBUNTU, flavours: &["-kvm", "-generic"] },
];

/// An error if these words mean no kernel: neither a file nor `DISTRIBUTION:VERSION`. Nothing is fetched.
pub fn check(words: &str) -> Result<(), Failure> {
    if Path::new(words).is_file() || cached(words).is_some() { Ok(()) } else { named(words).map(drop) }
}

/// The image that these words mean: a file, or `DISTRIBUTION:VERSION`. What is not in the cache is fetched only if that
/// was asked for.
pub fn image(words: &str, fetch: bool) -> Result<PathBuf, Failure> {
    let path = Path::new(words);
    if path.is_file() {
        return sound(path, Arch::Amd64);
    }
    if let Some(found) = cached(words) {
        return Ok(found);
    }
    packaged(words, fetch, Some(Arch::Amd64))
}

/// The image in the cache whose version these words are, without a distribution.
fn cached(words: &str) -> Option<PathBuf> {
    words.split_once(':').is_none().then(|| cached_version(words)).flatten()
}

/// The image of `DISTRIBUTION:VERSION` in the cache, of whatever architecture, fetched where it is missing.
pub fn fetch(words: &str) -> Result<PathBuf, Failure> {
    packaged(words, true, None)
}

fn packaged(words: &str, fetch: bool, only: Option<Arch>) -> Result<PathBuf, Failure> {
    let (distribution, version) = named(words)?;
    let arch = distribution.archive.arch;
    if only.is_some_and(|only| only != arch) {
        return Err(Failure::usage(
            format!("'{words}' is a kernel for {}, and the machine that is emulated is x86-64", arch.name()),
            "name a kernel for x86-64, such as debian:6.12",
        ));
    }
    let store = store()?;
    let kept = store.join(format!("{}-{version}", distribution.name)).join("vmlinuz");
    if kept.is_file() {
        return Ok(kept);
    }
    if !fetch {
        return Err(Failure::usage(
            format!("the kernel '{words}' is not in the cache"),
            format!(
                "add --fetch to download it with apt (up to 100 MB of lists, 10 to 30 MB of kernel) into '{}'",
                store.display()
            ),
        ));
    }
    fetched(distribution, version, &kept)?;
    Ok(kept)
}

/// The distribution and the version that these words name.
fn named(words: &str) -> Result<(&'static Distribution, &str), Failure> {
    let Some((name, version)) = words.split_once(':') else {
        return Err(Failure::usage(
            format!("'{words}' is neither a kernel image nor a version in the cache"),
            "name an image file, or debian:VERSION or ubuntu:VERSION, and add --fetch to download it",
        ));
    };
    let Some(distribution) = DISTRIBUTIONS.iter().find(|known| known.name == name) else {
        let hint = match nearest(name, DISTRIBUTIONS.iter().map(|known| known.name)) {
            Some(like) => format!("did you mean '{like}:{version}'?"),
            None => "name an image file, or debian:VERSION or ubuntu:VERSION".to_owned(),
        };
        return Err(Failure::usage(format!("'{words}' is no kernel image"), hint));
    };
    let plain =
        !version.is_empty() && version.bytes().all(|b| b.is_ascii_alphanumeric() || b".+-~".contains(&b));
    if !plain {
        return Err(Failure::usage(format!("'{version}' is no version"), "such as debian:6.12"));
    }
    Ok((distribution, version))
}

/// The image of a version in the cache, of whatever distribution.
fn cached_version(version: &str) -> Option<PathBuf> {
    let store = store().ok()?;
    let fit = DISTRIBUTIONS.iter().filter(|known| known.archive.arch == Arch::Amd64);
    let found = fit.map(|known| store.join(format!("{}-{version}", known.name)).join("vmlinuz"));
    let plain = !version.is_empty() && !version.contains('/');
    found.filter(|_| plain).find(|path| path.is_file())
}

/// QEMU starts whatever it is given, and a wrong file would look like a kernel that hangs.
fn sound(path: &Path, arch: Arch) -> Result<PathBuf, Failure> {
    use std::io::Read;
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(0x206).read_to_end(&mut head));
    let wrong = match read {
        Err(error) => format!("cannot read the kernel '{}': {error}", path.display()),
        Ok(_) if arch.begins(&head) => return Ok(path.to_owned()),
        Ok(_) => format!("'{}' is no kernel image for {}", path.display(), arch.name()),
    };
    Err(Failure::usage(wrong, "name a vmlinuz, such as one in /boot, or debian:VERSION"))
}

fn store() -> Result<PathBuf, Failure> {
    let cache = cache::directory().map(|cache| cache.join("kernels"));
    cache.ok_or_else(|| {
        let message = "neither XDG_CACHE_HOME nor HOME names a directory by an absolute path";
        Failure::unfit(message, "set one of them, or name an image file")
    })
}

/// apt with a state of its own.
struct Apt {
    config: PathBuf,
    work: PathBuf,
}

impl Apt {
    fn of(archive: &Archive) -> Result<Self, Failure> {
        tools::find(&["apt-get"], "kernels are fetched with apt; elsewhere name an image file")?;
        let work = store()?.join(format!("apt-{}", archive.name));
        for part in ["lists/partial", "cache/archives/partial"] {
            made(&work.join(part))?;
        }
        let keyring = if archive.sources.contains("@KEYRING@") { ubuntu_keyring()? } else { PathBuf::new() };
        let sources = archive.sources.replace("@KEYRING@", &keyring.to_string_lossy());
        write_atomic(&work.join("sources.list"), sources.as_bytes())?;
        // What is installed here is of no account, and may be of another architecture.
        write_atomic(&work.join("status"), "".as_bytes())?;
        let (w, arch) = (work.display(), archive.arch.name());
        let config = format!(
            "Dir::Etc::sourcelist \"{w}/sources.list\";\nDir::Etc::sourceparts \"-\";\nDir::Etc::preferencesparts \"-\";\n\
             Dir::State::lists \"{w}/lists\";\nDir::Cache \"{w}/cache\";\nDir::State::extended_states \"{w}/extended\";\n\
             Dir::State::status \"{w}/status\";\nAPT::Architecture \"{arch}\";\nAPT::Architectures {{\"{arch}\";}};\nAcquire::Languages \"none\";\n\
             APT::Sandbox::User \"\";\nAPT::Default-Release \"\";\nAcquire::IndexTargets::deb::Contents-deb::DefaultEnabled \"false\";\n"
        );
        write_atomic(&work.join("apt.conf"), config.as_bytes())?;
        Ok(Self { config: work.join("apt.conf"), work })
    }

    fn run(&self, program: &str, words: &[&str], directory: &Path) -> Result<String, Failure> {
        let mut command = Command::new(program);
        // The configuration must be read after the system's own, which -c does.
        command.arg("-c").arg(&self.config).args(words).current_dir(directory).env("LC_ALL", "C");
        run(command, program)
    }

    /// What is got from the lists that there are, else from fresh ones: a package that was superseded has left the mirror.
    fn or_updated<T>(&self, get: impl Fn() -> Result<T, Failure>) -> Result<T, Failure> {
        get().or_else(|first| match self.run("apt-get", &["-qq", "update"], &self.work) {
            Ok(_) => get(),
            Err(_) => Err(first),
        })
    }

    /// The package of the newest kernel of this version, and what is in it.
    fn kernel(&self, distribution: &Distribution, version: &str) -> Result<(String, Scratch), Failure> {
        let mut found: Vec<String> = Vec::new();
        for prefix in ["linux-image-", "linux-binary-"] {
            let names = self.run("apt-cache", &["pkgnames", &format!("{prefix}{version}")], &self.work)?;
            found.extend(names.lines().map(str::to_owned));
        }
        let package = best(&found, version, distribution.flavours).ok_or_else(|| {
            Failure::usage(
                format!("{} offers no kernel {version} for virtual machines", distribution.name),
                "'apt-cache search linux-image' shows what there is; an image file works as well",
            )
        })?;
        let unpacked = self.unpacked(&package)?;
        Ok((package, unpacked))
    }

    /// What is in a package, downloaded and not installed.
    fn unpacked(&self, package: &str) -> Result<Scratch, Failure> {
        let (download, root) = (directory()?, directory()?);
        self.run("apt-get", &["-qq", "download", package], download.path())?;
        let files = std::fs::read_dir(download.path()).ok().into_iter().flatten().flatten();
        let mut files = files.map(|entry| entry.path());
        let file = files.find(|path| path.extension().is_some_and(|extension| extension == "deb"));
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("-x").arg(file.ok_or_else(|| broken(package, "apt downloaded no package"))?);
        unpack.arg(root.path());
        run(unpack, "dpkg-deb").map(|_| root)
    }
}

/// The newest package of this version, of the first flavour that it has. `linux-binary-` holds the kernel where
/// `linux-image-` is only a name for it (Debian from 7.2 on).
fn best(names: &[String], version: &str, flavours: &[&str]) -> Option<String> {
    let of = |flavour: &str| {
        let fits = |name: &&String| {
            let rest = name.strip_prefix("linux-image-").or_else(|| name.strip_prefix("linux-binary-"));
            let rest = rest.and_then(|rest| rest.strip_prefix(version));
            // 6.1 is not 6.12, and -dbg and -rt are other kernels.
            rest.is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_ascii_digit())
                    && rest.ends_with(flavour)
                    && rest.contains("-rt") == flavour.contains("-rt")
            })
        };
        let key = |name: &String| {
            name.trim_start_matches("linux-image-").trim_start_matches("linux-binary-").to_owned()
        };
        let order = |a: &&String, b: &&String| {
            natural(&key(a), &key(b))
                .then_with(|| a.starts_with("linux-binary").cmp(&b.starts_with("linux-binary")))
        };
        names.iter().filter(fits).max_by(order).cloned()
    };
    flavours.iter().find_map(|flavour| of(flavour))
}

/// The order of versions: numbers by their value, all else by its letters.
fn natural(a: &str, b: &str) -> Ordering {
    let parts = |text: &str| -> Vec<(u64, String)> {
        let mut parts = vec![(0_u64, String::new())];
        let mut in_number = false;
        for c in text.chars() {
            let digit = c.to_digit(10);
            if digit.is_some() && !in_number {
                parts.push((0, String::new()));
            }
            in_number = digit.is_some();
            if let Some(last) = parts.last_mut() {
                match digit {
                    Some(digit) => last.0 = last.0.saturating_mul(10).saturating_add(digit.into()),
                    None => last.1.push(c),
                }
            }
        }
        parts
    };
    parts(a).cmp(&parts(b))
}

/// Downloads the package and takes the kernel out of it.
fn fetched(distribution: &Distribution, version: &str, kept: &Path) -> Result<(), Failure> {
    let file = held(kept)?;
    let apt = Apt::of(distribution.archive)?;
    whyfaster_words::exit::say(&format!("fetching the kernel {}:{version} with apt", distribution.name));
    let (package, unpacked) = apt.or_updated(|| apt.kernel(distribution, version))?;
    let image = vmlinuz(unpacked.path()).ok_or_else(|| broken(&package, "there is no vmlinuz in it"))?;
    sound(&image, distribution.archive.arch)?;
    let bytes = std::fs::read(&image).map_err(|error| broken(&package, &error.to_string()))?;
    file.write(&bytes)
}

fn broken(package: &str, why: &str) -> Failure {
    Failure::new(
        Exit::Error,
        format!("the package {package} cannot be used: {why}"),
        "name an image file instead",
    )
}

/// The kernel in an unpacked package: `boot/vmlinuz-*`, or `usr/lib/modules/*/vmlinuz`.
fn vmlinuz(root: &Path) -> Option<PathBuf> {
    let entries =
        |dir: PathBuf| std::fs::read_dir(dir).ok().into_iter().flatten().flatten().map(|entry| entry.path());
    let boot = entries(root.join("boot"))
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz")));
    boot.or_else(|| {
        entries(root.join("usr/lib/modules")).map(|dir| dir.join("vmlinuz")).find(|path| path.is_file())
    })
}

/// Ubuntu's keys, which Debian packages since trixie.
fn ubuntu_keyring() -> Result<PathBuf, Failure> {
    let system = PathBuf::from("/usr/share/keyrings/ubuntu-archive-keyring.gpg");
    if system.is_file() {
        return Ok(system);
    }
    let kept = store()?.join("ubuntu-archive-keyring.gpg");
    if kept.is_file() {
        return Ok(kept);
    }
    let file = held(&kept)?;
    let apt = Apt::of(&DEBIAN)?;
    let unpacked = apt.or_updated(|| apt.unpacked("ubuntu-keyring"))?;
    let found = unpacked.path().join("usr/share/keyrings/ubuntu-archive-keyring.gpg");
    let keyring = std::fs::read(&found).map_err(|error| broken("ubuntu-keyring", &error.to_string()))?;
    file.write(&keyring).map(|()| kept)
}

fn made(directory: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|error| {
        Failure::unfit(
            format!("cannot make '{}': {error}", directory.display()),
            "set XDG_CACHE_HOME to a directory that you may write to",
        )
    })
}

/// A file of the cache, which is held before the programs run that its content comes from.
fn held(path: &Path) -> Result<OutputFile, Failure> {
    made(path.parent().unwrap_or(Path::new(".")))?;
    let file = OutputFile::new(path);
    file.hold().map(|()| file)
}

fn run(mut command: Command, program: &str) -> Result<String, Failure> {
    let failed =
        |why: String| Failure::unfit(format!("{program}: {why}"), "check the network, or name an image file");
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(failed(said.lines().rev().take(3).collect::<Vec<_>>().join("; ")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_kernel_of_a_version_is_chosen() {
        let names = [
            "linux-image-6.1.0-9-cloud-amd64",
            "linux-image-6.1.0-41-cloud-amd64",
            "linux-image-6.1.0-41-cloud-amd64-unsigned",
            "linux-image-6.1.0-50-rt-amd64",
            "linux-image-6.12.107+deb13-cloud-amd64",
            "linux-image-7.2.13+deb14-cloud-amd64",
            "linux-binary-7.2.13+deb14-cloud-amd64",
            "linux-image-6.1.0-41-cloud-amd64-dbg",
        ]
        .map(str::to_owned);
        let flavours = DISTRIBUTIONS[0].flavours;
        assert_eq!(best(&names, "6.1", flavours).unwrap(), "linux-image-6.1.0-41-cloud-amd64");
        assert_eq!(best(&names, "6.12", flavours).unwrap(), "linux-image-6.12.107+deb13-cloud-amd64");
        assert_eq!(best(&names, "7.2", flavours).unwrap(), "linux-binary-7.2.13+deb14-cloud-amd64");
        assert_eq!(best(&names, "5.10", flavours), None);
        assert_eq!(best(&names, "6.1", DISTRIBUTIONS[1].flavours).unwrap(), "linux-image-6.1.0-50-rt-amd64");
    }

    #[test]
    fn what_is_no_kernel_is_refused_before_anything_is_started() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("vmlinuz");
        std::fs::write(&file, vec![0; 4096]).unwrap();
        let why = |words: &str| image(words, false).unwrap_err();
        assert!(why(file.to_str().unwrap()).message.contains("no kernel image"));
        assert!(why("debbian:6.1").hint.unwrap().contains("'debian:6.1'"));
        assert!(why("debian-arm64:6.1").message.contains("for arm64"));
        assert!(why("debian:../6").message.contains("no version"));
        assert!(why("/nonexistent/vmlinuz").message.contains("neither a kernel image"));
    }
}
