//! End-to-end tests of the program. A test's directory is its tier, which follows from what the test needs; CONTRIBUTING.md has the table.

mod gate;
mod live;
mod support;
mod systems;
