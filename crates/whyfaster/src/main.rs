//! `whyfaster`: which of two commands is faster, why, and from what load on does the answer flip?

fn main() {}
