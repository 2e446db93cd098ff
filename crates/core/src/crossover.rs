//! The ladder of loads, bisection, and where the answer flips.
