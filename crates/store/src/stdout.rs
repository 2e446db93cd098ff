//! Standard output, whose reader may go away at any time (`| head`).

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use whyfaster_words::exit::{Failure, StdoutClosed};

/// Standard output was closed when the program began (`>&-`). Rust's runtime opens /dev/null in the place of a closed stream
/// before `main` (`sanitize_standard_fds` in library/std/src/sys/pal/unix/mod.rs), so this is asked earlier.
static CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the C library calls each function in this section once, before `main`, with arguments that a C function may leave
// alone. This one needs nothing that is set up later: it makes a system call and sets a flag.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: a plain system call, which does nothing to the descriptor.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags < 0, Ordering::Relaxed);
}

/// Finds out, before anything is measured, whether there is a standard output.
pub fn check_stdout() -> Result<(), Failure> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(super::trouble::printing(&Errno::BADF.into()));
    }
    Ok(())
}

/// Writes all of it and flushes. A closed reader is told apart from a full disk.
pub fn to_stdout(bytes: &[u8]) -> anyhow::Result<()> {
    if !bytes.is_empty() {
        check_stdout()?;
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(stdout_error)
}

/// What went wrong with standard output: a reader that has gone, or a fault.
pub fn stdout_error(error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return StdoutClosed.into();
    }
    super::trouble::printing(&error).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_reader_is_no_failure_and_a_full_disk_is_one() {
        let closed = stdout_error(io::ErrorKind::BrokenPipe.into());
        assert!(closed.is::<StdoutClosed>());
        let full = stdout_error(io::Error::from_raw_os_error(libc::ENOSPC));
        let failure = full.downcast::<Failure>().unwrap();
        assert!(failure.message.starts_with("cannot write to standard output: "), "{}", failure.message);
        // Nothing stood there before.
        let hint = failure.hint.unwrap_or_default();
        assert!(hint.contains("space") && !hint.contains("stood"), "{hint}");
    }
}
