//! One verb a file.
