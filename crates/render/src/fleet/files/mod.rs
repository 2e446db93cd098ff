//! A fleet for other programs: tables of comma-separated values, and text files for the collector of Prometheus' node exporter.

pub mod prometheus;
pub mod tables;
