//! Generated files: man pages, completions, the JSON Schema of the record, and the check that they are current.

fn main() {}
