//! The command line: words to a plan.
