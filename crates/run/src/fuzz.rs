//! Targets: messages that anybody may have written. See the crate `whyfaster-fuzz`.

use std::io::Write;
use std::os::unix::net::UnixStream;

use whyfaster_fuzz::{Form, run};

use crate::protocol::{Message, Reply, Said, receive};

/// What stands at the other end of the launcher's socket, after a command took that.
#[test]
fn fuzz_launcher() {
    run("launcher", Form::Bytes, 10_000, |bytes| message::<Message>(bytes) | message::<Reply>(bytes));
}

/// Messages are received whole or refused, in bounded time; who sent them has gone afterwards. Whether one was received.
fn message<T: Said>(bytes: &[u8]) -> bool {
    let (near, mut far) = UnixStream::pair().unwrap();
    // More than fits would wait for a reader, which stands behind this line.
    far.set_nonblocking(true).unwrap();
    let _ = far.write(bytes);
    drop(far);
    let mut received = false;
    while let Ok(Some(_)) = receive::<T>(&near) {
        received = true;
    }
    received
}
