//! Addresses of stacks to names.

use whyfaster_core::trace::event::{Pid, Stack};

use super::programs::types;

/// What is known of addresses.
#[derive(Debug, Default)]
pub(crate) struct Symbols {}

impl Symbols {
    /// The process begins another program or has ended: its addresses mean something else from now on.
    pub(crate) fn forget(&mut self, process: Pid) {
        let _ = process;
    }

    /// Names the frames of a stack.
    pub(crate) fn stack(&mut self, r: &types::stack_record, frames: &[u8]) -> Stack {
        let frames: Vec<String> = frames
            .chunks_exact(8)
            .map(|f| format!("{:#x}", u64::from_ne_bytes(f.try_into().expect("chunks of eight bytes"))))
            .collect();
        let kernel = usize::from(r.kernel_frames).min(frames.len());
        Stack {
            task: r.head.task,
            blocking: r.head.detail != 0,
            kernel: frames[..kernel].to_vec(),
            user: frames[kernel..].to_vec(),
        }
    }
}
