//! Standard output, whose reader may go away at any time (`| head`).

use std::io::{self, Write};

/// The reader of standard output has gone. No error: the program ends quietly, as others in a pipeline do.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the reader of standard output has gone")]
pub struct StdoutClosed;

/// Writes all of it and flushes. A closed reader is told apart from a full disk.
pub fn to_stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(told_apart)
}

fn told_apart(error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return StdoutClosed.into();
    }
    super::trouble::printing(&error).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Failure;

    #[test]
    fn a_closed_reader_is_no_failure_and_a_full_disk_is_one() {
        let closed = told_apart(io::ErrorKind::BrokenPipe.into());
        assert!(closed.is::<StdoutClosed>());
        let full = told_apart(io::Error::from_raw_os_error(libc::ENOSPC));
        let failure = full.downcast::<Failure>().unwrap();
        assert!(failure.message.starts_with("cannot write to standard output: "), "{}", failure.message);
        // Nothing stood there before.
        let hint = failure.hint.unwrap_or_default();
        assert!(hint.contains("space") && !hint.contains("stood"), "{hint}");
    }
}
