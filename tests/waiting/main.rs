//! End-to-end tests that wait for guests, servers and engines most of the time, and judge no time of their own: they run beside the build.

#[path = "../support/mod.rs"]
mod support;

mod book;
mod elsewhere_k8s;
mod elsewhere_kubernetes;
mod elsewhere_ray;
mod elsewhere_slurm;
mod elsewhere_ssh;
mod fleet;
mod fleet_resume;
mod inside_kernels;
mod inside_ssh;
mod store;
mod store_server;
