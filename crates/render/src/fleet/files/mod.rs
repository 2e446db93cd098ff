//! A fleet for other programs: tables, and text files for the collector of Prometheus' node exporter.

mod csv;
mod parquet;
pub mod prometheus;
mod rows;
pub mod tables;
