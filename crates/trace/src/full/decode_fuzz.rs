//! A target: bytes that the kernel's side never sends. See the crate `whyfaster-fuzz`.

use std::cell::RefCell;

use whyfaster_fuzz::{Form, run};

use super::{Decoder, Symbols};

/// Records one behind the other, each with its length in two bytes before it. Each becomes events or is counted as lost.
#[test]
fn fuzz_ring() {
    // Names of the kernel's functions are read once: that takes longer than a thousand inputs.
    let symbols = RefCell::new(Symbols::default());
    run("ring", Form::Bytes, 20_000, |bytes| {
        let mut decoder = Decoder { symbols: symbols.take(), ..Decoder::default() };
        let mut left = bytes;
        while let Some((length, rest)) = left.split_first_chunk::<2>() {
            let (record, rest) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
            decoder.take(record);
            left = rest;
        }
        decoder.name_stacks(u64::MAX);
        symbols.replace(std::mem::take(&mut decoder.symbols));
        let mut last = 0;
        decoder.inbox.hand_on(u64::MAX, &mut |event| {
            assert!(event.at >= last, "events go back in time");
            last = event.at;
        });
        last > 0
    });
}
