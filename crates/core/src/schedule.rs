//! Which round comes next, and when to stop. A state machine without a clock: time comes in as seconds.
