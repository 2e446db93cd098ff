//! A hostile price list: it is refused, or everything that follows works.
#![no_main]

use libfuzzer_sys::fuzz_target;
use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::{Rule, compare};
use whyfaster_core::price::project::{fork_execve, parse, project};

fuzz_target!(|data: &[u8]| {
    // A list is a file of anybody; after a zero byte stand counts, which are text of a user.
    let (document, counts) = match data.iter().position(|byte| *byte == 0) {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &data[data.len()..]),
    };
    let terms = std::str::from_utf8(counts).ok().and_then(|text| parse(text).ok()).unwrap_or_default();
    let Ok(mut list) = serde_json::from_slice::<PriceList>(document) else { return };
    if list.validate().is_err() {
        return;
    }
    list.reprice();
    let lists = [list.clone(), list];
    compare(&lists, &Rule::default());
    project(&lists, &terms);
    fork_execve(&lists[0]);
});
