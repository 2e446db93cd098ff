//! Tests that need another kernel, an engine, a server or ssh: `make test-systems`.

mod elsewhere_kubernetes;
mod elsewhere_slow_node;
mod elsewhere_ssh;
mod inside_kernels;
mod inside_places;
mod inside_ssh;
mod ladder;
mod store_server;
