//! Bare kernels under instruction counting: the same twice, whatever else runs; hang, panic and interrupt end clean; units
//! never mix. Needs qemu-system-x86 and a kernel: the file that `INSIDE_KERNEL` names, one of our cache, or one of /boot.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::needs::{Missing, Need, needs, tool};
use crate::support::prices::price;
use crate::support::{Sandbox, eventually};
use rustix::process::Signal;
use serde_json::Value;

/// A kernel to boot.
fn kernel() -> Need<String> {
    tool("qemu-system-x86_64")?;
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from);
    let listed = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let cached = listed(cache.join("whyfaster/kernels")).map(|dir| dir.join("vmlinuz"));
    let named = std::env::var_os("INSIDE_KERNEL").map(PathBuf::from).filter(|path| path.is_file());
    let mut all: Vec<PathBuf> = cached
        .chain(listed("/boot".into()).filter(|path| path.to_string_lossy().contains("vmlinuz")))
        .filter(|path| path.is_file())
        .collect();
    all.sort();
    let found = named.or_else(|| all.into_iter().next());
    found
        .map(|path| path.to_str().unwrap().to_owned())
        .ok_or_else(|| Missing::Provided("needs a kernel to boot".into()))
}

fn median(list: &Value, name: &str, variant: &str) -> f64 {
    let price = price(list, name, variant);
    price["instructions"]["median"].as_f64().unwrap_or_else(|| panic!("{price}"))
}

#[test]
fn two_runs_count_the_same_and_no_count_is_a_time() {
    let kernel = needs!(kernel());
    let place = Sandbox::new();
    let files = ["one.json", "two.json"].map(|name| place.file(name));
    let kind = format!("qemu:{kernel}");
    let lists = files.each_ref().map(|file| {
        let ran = place
            .run(&[
                "prices",
                "getppid",
                "pipe_latency",
                "fork",
                "--quick",
                "--record",
                file,
                "--inside",
                &kind,
            ])
            .ok();
        assert!(ran.out.contains(" instr") && !ran.out.contains(" us "), "{}", ran.out);
        serde_json::from_slice::<Value>(&fs::read(file).unwrap()).unwrap()
    });
    place.assert_clean();
    for (name, variant) in [("getppid", "raw"), ("pipe_latency", "threads,same_cpu"), ("fork", "reaped")] {
        let [one, two] = lists.each_ref().map(|list| median(list, name, variant));
        assert!((one / two - 1.0).abs() < 0.02, "{name}: {one} and {two} instructions");
    }
    for list in &lists {
        assert_eq!(list["unit"], "guest_instructions");
        assert!((list["inside"]["calibration"].as_f64().unwrap() - 2.0).abs() < 5e-4);
        for price in list["prices"].as_array().unwrap() {
            assert!(
                price["median_ns"].is_null() && price["floor_ns"].is_null(),
                "a count stands as a time: {price}"
            );
            assert!(price["name"] != "two_instructions");
        }
    }
    // Beside a list of times: a section of its own, and no ratio between the two.
    let ran = place.run(&["machines", &files[0], "debian-2.6.32", &files[1]]).ok();
    assert!(
        ran.out.contains("In guest instructions: ") && ran.out.contains("In nanoseconds: "),
        "{}",
        ran.out
    );
    let ran = place.run(&["machines", "--json", &files[0], &files[1]]);
    let found: Value = ran.json();
    let row = found["rows"].as_array().unwrap().iter().find(|row| row["name"] == "getppid").unwrap();
    assert!(row["ns"].is_null() && row["instructions"].is_f64(), "{row}");
    // A history of recorded lists needs no boot.
    let ran = place.run(&["machines", "--kernels", &files.join(",")]).ok();
    assert!(ran.flowing().contains("0 steps up and 0 down"), "{}", ran.out);
    // An interrupt leaves the history of the lists that were there.
    let running = place.start(&["machines", "--kernels", &format!("{},{kernel}", files.join(","))]);
    eventually("the emulator", || place.alive().len() > 1);
    running.signal(Signal::INT);
    let ran = running.wait();
    ran.expect(130, &["interrupted: "]);
    assert!(ran.flowing().contains("0 steps up and 0 down"), "{}", ran.out);
    let mixed = format!("{},debian-2.6.32", files[0]);
    assert_ne!(place.run(&["machines", "--kernels", &mixed]).code(), 0);
}

/// Our worker is no worker for a file that is no kernel's: it boots, finds nothing to run, and panics.
#[test]
fn a_kernel_that_panics_is_named_with_its_last_lines() {
    let kernel = needs!(kernel());
    let place = Sandbox::new();
    let worker = place.file("worker");
    fs::write(&worker, [b"no program at all. ".repeat(8)].concat()).unwrap();
    let kind = format!("qemu:{kernel}");
    let ran = place.run(&["prices", "getppid", "--quick", "--inside", &kind, "--worker", &worker]);
    ran.expect_error(1, &["the worker never began", "Kernel panic"]);
    place.assert_clean();
}

#[test]
fn a_kernel_that_hangs_is_ended() {
    needs!(kernel());
    let place = Sandbox::new();
    // A boot sector that jumps to itself, dressed as a kernel: QEMU starts it, and nothing follows.
    let image = place.file("vmlinuz");
    let mut bytes = vec![0; 64 << 10];
    bytes[0x1f1] = 4;
    bytes[0x202..0x206].copy_from_slice(b"HdrS");
    bytes[0x207] = 2;
    bytes[0x200..0x202].copy_from_slice(&[0xeb, 0xfe]);
    fs::write(&image, bytes).unwrap();
    let kind = format!("qemu:{image}");
    let ran = place.run(&["prices", "getppid", "--quick", "--silence", "3s", "--inside", &kind]);
    ran.expect_error(1, &["nothing came from the worker for 3 s", "the worker never began"]);
    place.assert_clean();
}

#[test]
fn an_interrupt_during_the_boot_leaves_nothing() {
    let kernel = needs!(kernel());
    for signal in [Signal::INT, Signal::TERM] {
        let place = Sandbox::new();
        let running = place.start(&["prices", "getppid", "--quick", "--inside", &format!("qemu:{kernel}")]);
        eventually("the emulator", || place.alive().len() > 1);
        running.signal(signal);
        running.wait().expect(130, &["interrupted: "]);
        place.assert_clean();
    }
}

#[test]
fn a_kernel_that_is_not_there_is_fetched_only_on_request() {
    needs!(tool("qemu-system-x86_64"));
    let place = Sandbox::new();
    let mut command = place.whyfaster(&["prices", "getppid", "--inside", "qemu:debian:6.12"]);
    command.env("XDG_CACHE_HOME", place.path("cache"));
    place.finish(command).expect_error(2, &["not in the cache", "--fetch"]);
    assert!(!place.path("cache").exists());
}

/// Lists are kept for months, and what was superseded has left the mirror meanwhile.
#[test]
fn a_kernel_that_left_the_mirror_is_looked_for_in_fresh_lists() {
    needs!(tool("qemu-system-x86_64"));
    let place = Sandbox::new();
    fs::create_dir(place.path("bin")).unwrap();
    let programs = [
        ("apt-cache", "[ -e \"$FRESH\" ] && minor=2 || minor=1; echo linux-image-6.12.$minor-cloud-amd64"),
        (
            "apt-get",
            "case $* in *update) >\"$FRESH\" ;; *download*6.12.2*) >kernel.deb ;; *) echo 404 >&2; exit 100 ;; esac",
        ),
        ("dpkg-deb", "mkdir \"$3/boot\"; echo none >\"$3/boot/vmlinuz\""),
    ];
    for (name, script) in programs {
        let program = format!("bin/{name}");
        place.write(&program, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(place.path(&program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = place.whyfaster(&["prices", "getppid", "--inside", "qemu:debian:6.12", "--fetch"]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", place.file("bin")));
    command.env("XDG_CACHE_HOME", place.path("cache")).env("FRESH", place.path("fresh"));
    place.finish(command).expect_error(2, &["is no kernel image for amd64"]);
}
