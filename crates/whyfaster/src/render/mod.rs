//! From records to bytes on a screen or in a file. No arithmetic beyond units.

pub mod doctor;
