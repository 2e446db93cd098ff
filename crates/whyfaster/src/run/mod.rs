//! Launching and observing: from a plan to samples.
