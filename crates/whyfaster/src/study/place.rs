//! Where the commands of a study work: what has to be made for them is code, which a study's file names.
//!
//! Besides a plain directory there is a file system whose reads make a thread of the kernel work. It is made for one run: an ext4 file system with an encrypted directory (fscrypt) in an image behind a loop device: pages that are read are
//! decrypted by a kernel worker (Documentation/filesystems/fscrypt.rst). Where that cannot be made, btrfs with compression,
//! whose workers decompress. Root mounts it on a directory of its own, because the study's directory is the caller's under sudo, who could
//! exchange it. All of it hangs on this process: the mount is in a mount namespace of its own, the loop device
//! lets go of the image with the mount, and the image has no name. So nothing is left, whatever signal ends the process.

use std::env;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::thread::UnshareFlags;
use serde::Deserialize;
use whyfaster_core::studied::{Kind, Made};
use whyfaster_host::tools::search_path;
use whyfaster_rights as rights;
use whyfaster_store::Scratch;

/// Room beside the files: the file system's own, and what commands write.
const ROOM_BYTES: u64 = 160 << 20;
/// The key. The data is made up, so it is no secret; the kernel derives what it uses from it.
const KEY: [u8; 64] = [0x5a; 64];

// include/uapi/linux/loop.h; the numbers are the same on every architecture.
const LOOP_CTL_GET_FREE: u32 = 0x4c82;
const LOOP_CONFIGURE: u32 = 0x4c0a;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
/// Another program may take the free device first.
const TRIES: u32 = 8;

/// Of `struct fscrypt_add_key_arg` without the key behind it, and of `struct fscrypt_policy_v1`, which numbers the call.
type AddKey = [u8; 80];
type PolicyV1 = [u8; 12];

/// The places that a study's file may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// The study's directory.
    #[default]
    Directory,
    /// A file system for whose reads a thread of the kernel decrypts or decompresses, where one can be made.
    KernelDecrypts,
}

impl PlaceKind {
    /// Makes the place, with room for so many bytes. An empty directory is at hand for it.
    pub fn make(self, directory: &Path, bytes: u64) -> Box<dyn Place> {
        match self {
            Self::Directory => Box::new(directory.to_owned()),
            Self::KernelDecrypts => Box::new(FileSystem::make(directory, bytes)),
        }
    }
}

/// A place that was made for the commands. Dropping it takes down what was made.
pub trait Place: Debug {
    /// The directory to work in.
    fn path(&self) -> &Path;

    /// The file system, where one was asked for.
    fn file_system(&self) -> Option<Made> {
        None
    }
}

impl Place for PathBuf {
    fn path(&self) -> &Path {
        self
    }
}

impl Place for FileSystem {
    fn path(&self) -> &Path {
        &self.work
    }

    fn file_system(&self) -> Option<Made> {
        Some(self.made.clone())
    }
}

/// The file system of a study; dropping it unmounts it.
#[derive(Debug)]
struct FileSystem {
    made: Made,
    mounted: Option<Scratch>,
    work: PathBuf,
}

/// Root mounts it here: nobody else can exchange a directory in this one.
const MOUNT_POINTS: &str = "/run";

impl FileSystem {
    /// Makes the best one that can be had, with room for so many bytes; else it is this directory.
    fn make(directory: &Path, bytes: u64) -> Self {
        let user = rights::file_user();
        rights::with_root(|| Self::make_with_root(directory, bytes, user))
    }

    fn make_with_root(directory: &Path, bytes: u64, user: u32) -> Self {
        let mut why_not = Vec::new();
        let ready = match rustix::process::geteuid().is_root() {
            true => own_namespace()
                .map_err(|error| format!("no mount namespace of its own: {error}"))
                .and_then(|()| {
                    Scratch::make_in(Path::new(MOUNT_POINTS), "study")
                        .map_err(|error| format!("no directory in {MOUNT_POINTS}: {error}"))
                }),
            false => Err("only root can mount one".to_owned()),
        };
        match ready {
            Err(why) => why_not.push(why),
            Ok(point) => {
                type Maker = fn(&Path, u64) -> Result<PathBuf, String>;
                let makers: [(Kind, &str, Maker); 2] = [
                    (Kind::Encrypted, "an encrypted directory of ext4", encrypted),
                    (Kind::Compressed, "btrfs with compression", compressed),
                ];
                for (kind, what, make) in makers {
                    let given = |work: PathBuf| {
                        std::os::unix::fs::chown(&work, Some(user), None)
                            .map(|()| work)
                            .map_err(|error| error.to_string())
                    };
                    match make(point.path(), bytes + ROOM_BYTES).and_then(given) {
                        Ok(work) => return Self { made: Made { kind, why_not }, mounted: Some(point), work },
                        Err(why) => {
                            // It may have been mounted before something else failed.
                            let _ = rustix::mount::unmount(point.path(), UnmountFlags::DETACH);
                            why_not.push(format!("{what}: {why}"));
                        }
                    }
                }
            }
        }
        Self { made: Made { kind: Kind::Plain, why_not }, mounted: None, work: directory.to_owned() }
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        rights::with_root(|| {
            if let Some(point) = self.mounted.take() {
                // Should it fail, the end of this process does it: nobody else sees the mount.
                let _ = rustix::mount::unmount(point.path(), UnmountFlags::DETACH);
            }
        });
    }
}

/// From here on mounts of this process are seen by it and its children only, and end with the last of them.
fn own_namespace() -> io::Result<()> {
    // SAFETY: NEWNS takes no file descriptors away. It gives this thread a view of the mounts and a working directory of its
    // own; the studies run on one thread, which also makes the processes that run the commands.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }?;
    rustix::mount::mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    Ok(())
}

fn encrypted(directory: &Path, bytes: u64) -> Result<PathBuf, String> {
    let words = ["-q", "-F", "-O", "encrypt", "-m", "0"];
    on_loop("mkfs.ext4", &words, "ext4", "", directory, bytes)?;
    let identifier = add_key(directory).map_err(|error| format!("the kernel takes no key: {error}"))?;
    let work = directory.join("work");
    fs::create_dir(&work).map_err(|error| error.to_string())?;
    set_policy(&work, identifier).map_err(|error| format!("the directory cannot be encrypted: {error}"))?;
    Ok(work)
}

fn compressed(directory: &Path, bytes: u64) -> Result<PathBuf, String> {
    on_loop("mkfs.btrfs", &["-q", "-f"], "btrfs", "compress-force=zstd", directory, bytes)?;
    Ok(directory.to_owned())
}

/// Makes a file system in an image without a name and mounts it there.
fn on_loop(
    program: &str,
    words: &[&str],
    kind: &str,
    options: &str,
    directory: &Path,
    bytes: u64,
) -> Result<(), String> {
    let image =
        image(bytes).map_err(|error| format!("no image in {}: {error}", env::temp_dir().display()))?;
    let mut make = Command::new(program);
    let image_path = format!("/proc/{}/fd/{}", std::process::id(), image.as_raw_fd());
    make.args(words).arg(image_path).env("PATH", search_path()).stdin(Stdio::null()).stdout(Stdio::null());
    let made = make.output().map_err(|error| format!("{program}: {error}"))?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr);
        return Err(format!("{program}: {}", said.lines().last().unwrap_or("it failed")));
    }
    let (device, _open) = attach(&image).map_err(|error| format!("no loop device: {error}"))?;
    let options = std::ffi::CString::new(options).map_err(|error| error.to_string())?;
    rustix::mount::mount(&device, directory, kind, MountFlags::NOATIME, options.as_c_str())
        .map_err(|error| format!("{kind} cannot be mounted: {error}"))
}

/// A file without a name, which is gone with its last user.
fn image(bytes: u64) -> io::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let image = File::from(rustix::fs::open(env::temp_dir(), flags, Mode::RUSR | Mode::WUSR)?);
    image.set_len(bytes)?;
    Ok(image)
}

/// Puts a loop device before the image, which lets go of it with its last user. Returned with the device open.
fn attach(image: &File) -> io::Result<(PathBuf, File)> {
    let control = File::open("/dev/loop-control")?;
    let mut last = io::Error::from(io::ErrorKind::ResourceBusy);
    for _ in 0..TRIES {
        let number = ioctl(&control, LOOP_CTL_GET_FREE, &mut [])?;
        let path = PathBuf::from(format!("/dev/loop{number}"));
        let device = File::options().read(true).write(true).open(&path)?;
        // struct loop_config: the descriptor first; the flags are 52 bytes into its struct loop_info64, which begins at 8.
        let mut config = [0_u8; 304];
        config[0..4].copy_from_slice(&image.as_raw_fd().to_ne_bytes());
        config[60..64].copy_from_slice(&LO_FLAGS_AUTOCLEAR.to_ne_bytes());
        match ioctl(&device, LOOP_CONFIGURE, &mut config) {
            Ok(_) => return Ok((path, device)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Adds the key to the file system; returns the name by which policies call it.
fn add_key(directory: &Path) -> io::Result<[u8; 16]> {
    // struct fscrypt_add_key_arg: kind of name, name (16 of 32 bytes at 8), size of the key at 40, the key at 80.
    let mut argument = [0_u8; 80 + KEY.len()];
    let by_identifier: u32 = 2;
    argument[0..4].copy_from_slice(&by_identifier.to_ne_bytes());
    argument[40..44].copy_from_slice(&(KEY.len() as u32).to_ne_bytes());
    argument[80..].copy_from_slice(&KEY);
    let request = rustix::ioctl::opcode::read_write::<AddKey>(b'f', 23);
    ioctl(&File::open(directory)?, request, &mut argument)?;
    let mut identifier = [0; 16];
    identifier.copy_from_slice(&argument[8..24]);
    Ok(identifier)
}

/// Encrypts what is made in an empty directory from now on: contents with AES-256-XTS, names with AES-256-CTS.
fn set_policy(directory: &Path, identifier: [u8; 16]) -> io::Result<()> {
    // struct fscrypt_policy_v2: version, modes of contents and names, flags (names padded to 32), 4 reserved, the key's name.
    let mut policy = [0_u8; 24];
    policy[..4].copy_from_slice(&[2, 1, 4, 3]);
    policy[8..].copy_from_slice(&identifier);
    let request = rustix::ioctl::opcode::read::<PolicyV1>(b'f', 19);
    ioctl(&File::open(directory)?, request, &mut policy).map(drop)
}

/// An ioctl that reads and writes these bytes.
fn ioctl(file: &File, request: u32, argument: &mut [u8]) -> io::Result<i32> {
    // SAFETY: each request that is used here reads and writes at most the bytes of its struct, which `argument` holds whole;
    // the first one takes none. The descriptor is open as long as `file` lives.
    let result = unsafe { libc::ioctl(file.as_fd().as_raw_fd(), request as _, argument.as_mut_ptr()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requests_have_the_kernels_numbers() {
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert_eq!(rustix::ioctl::opcode::read_write::<AddKey>(b'f', 23), 0xc050_6617);
            assert_eq!(rustix::ioctl::opcode::read::<PolicyV1>(b'f', 19), 0x800c_6613);
        }
    }

    #[test]
    fn files_are_kept_and_nothing_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        // A thread of its own: the test's mount namespace is not the other tests' affair.
        let kind = std::thread::spawn(move || {
            let made = PlaceKind::KernelDecrypts.make(&path, 1 << 20);
            std::fs::write(made.path().join("a"), "text").unwrap();
            assert_eq!(std::fs::read_to_string(made.path().join("a")).unwrap(), "text");
            let made = made.file_system().unwrap();
            assert!(made.kind == Kind::Encrypted || !made.why_not.is_empty());
            made.kind
        });
        let kind = kind.join().unwrap();
        let left = std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(left, usize::from(kind == Kind::Plain));
    }
}
