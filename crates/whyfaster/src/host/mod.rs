//! Facts of this machine.
