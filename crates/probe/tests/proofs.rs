//! Every probe can be refused: each promises something that its receipt can contradict, and each proof finds a planted liar.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unreachable_pub, reason = "shared by several test programs")]
mod common;

use common::{Output, install, run};
use whyfaster_probe::descriptions;

fn planned(plan: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    run(&install(directory.path()), &[], plan)
}

#[test]
fn every_variant_of_every_probe_promises_something() {
    for probe in descriptions() {
        // What is too short for its clock is refused by its time alone.
        for variant in probe.variants.iter().filter(|_| probe.name != "lie_zero") {
            let mut promises =
                probe.expectations.iter().filter(|e| e.variant.as_ref().is_none_or(|v| v == variant));
            let can_fail = promises
                .any(|promise| promise.least.is_some_and(|least| least > 0.0) || promise.most.is_some());
            assert!(can_fail || free_to_sleep(&probe.group, variant), "{} {variant}", probe.name);
        }
    }
}

/// What many events cost is not said by how often somebody slept: their proof is that all came.
fn free_to_sleep(group: &str, variant: &str) -> bool {
    group == "thread" && ["awake", "burst", "flow"].contains(&variant) || variant == "contended"
}

#[test]
fn a_planted_liar_does_not_verify() {
    for (name, reason) in [
        ("lie_children", "more children than one"),
        ("lie_child", "not the one that was made"),
        ("lie_cow", "fewer faults than pages"),
    ] {
        let output = planned(&format!("probe {name} * batches=2 count=0\n"));
        let verify = output.of("verify").next().unwrap_or_else(|| panic!("{output:?}"));
        assert!(verify.get("ok") == "0" && verify.get("why").contains(reason), "{verify:?}");
    }
    // A system whose vfork is a fork has no such price, and is no liar.
    let output = planned("probe lie_vfork exit batches=2 count=0\n");
    let refused = output.of("unavailable").next().unwrap_or_else(|| panic!("{output:?}"));
    assert!(
        refused.get("errno") == "ENOSYS" && refused.get("why").contains("the parent's memory"),
        "{refused:?}"
    );
}

#[test]
fn the_honest_ones_beside_them_verify() {
    let output = planned(
        "probe fork exit batches=2 count=0\nprobe vfork exit batches=2 count=0\nprobe cow parent batches=2 count=0\n",
    );
    assert_eq!(output.of("verify").filter(|r| r.get("ok") == "1").count(), 3, "{output:?}");
    for sample in output.of("sample").filter(|s| s.get("name") == "cow") {
        assert!(sample.number("faults") >= sample.number("ops"), "{sample:?}");
    }
}

/// A clock that the kernel's own code in user space cannot read is entered the kernel for: then the row is none of the vDSO.
#[test]
fn a_clock_that_enters_the_kernel_is_none_of_the_vdso() {
    let output = planned(
        "probe clock_gettime vdso clock=process_cputime batches=1\nprobe clock_gettime vdso batches=1\n",
    );
    let most = descriptions()
        .into_iter()
        .find(|p| p.name == "clock_gettime")
        .and_then(|p| p.expectations.into_iter().find(|e| e.variant.as_deref() == Some("vdso")))
        .and_then(|e| e.most);
    assert_eq!(most, Some(0.0));
    let counted: Vec<f64> = output.of("receipt").filter_map(|r| r.number("syscalls")).collect();
    match counted[..] {
        [cpu_time, _] => assert_eq!(cpu_time, 1.0, "{output:?}"),
        _ => eprintln!("not counted here: {:?}", output.records),
    }
}
