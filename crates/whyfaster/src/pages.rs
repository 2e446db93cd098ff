//! The pages about probes, as they stand in the book. They are part of the program, so that `prices --explain` needs no
//! network and always speaks of what is measured here.

/// The page about a probe.
pub fn page(name: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
