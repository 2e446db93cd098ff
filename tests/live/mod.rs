//! Planted causes, verdicts and prices on the real clock: `make test-live` runs each family many times and judges it once.

mod book;
mod duets;
mod first_screen;
mod prices;
mod prices_limits;
mod progress;
mod startups;
mod statistics_real_clock;
mod study_placement;
mod trace_keys;
mod trace_limits;
mod trace_many;
mod trace_path;
mod trace_waits;
mod why;
mod why_commands;
mod why_contention;
mod why_limits;
mod why_real;
mod why_users;
