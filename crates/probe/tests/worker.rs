//! The worker as it is carried: every probe, the protocol, the receipts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unreachable_pub, reason = "shared by several test programs")]
mod common;
#[allow(dead_code, unused_imports, reason = "shared by several test programs")]
#[path = "../../../tests/support/skip.rs"]
mod skip;

use std::process::Stdio;

use common::{Output, Record, assert_all_ended, install, run};
use skip::{needs, provided, tool};
use whyfaster_probe::{Expectation, descriptions};

fn planned(plan: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    run(&install(directory.path()), &[], plan)
}

fn one<'a>(output: &'a Output, kind: &'a str) -> &'a Record {
    let mut found = output.of(kind);
    let first = found.next().unwrap_or_else(|| panic!("no {kind} in {output:?}"));
    assert!(found.next().is_none(), "more than one {kind}");
    first
}

/// The cheapest operation of a kind: what comes in between only adds. The extra that a round costs once goes by N against 2N.
fn floor(output: &Output) -> f64 {
    let best = |twice: bool| {
        let samples: Vec<_> = output.of("sample").collect();
        let ops = samples.iter().filter_map(|s| s.number("ops")).fold(f64::INFINITY, f64::min);
        let wanted = if twice { ops * 2.0 } else { ops };
        let ns = samples.iter().filter(|s| s.number("ops") == Some(wanted)).filter_map(|s| s.number("ns"));
        (ns.fold(f64::INFINITY, f64::min), wanted)
    };
    let ((once, n), (twice, double)) = (best(false), best(true));
    (twice - once) / (double - n)
}

fn applies(expectation: &Expectation, variant: &str) -> bool {
    expectation.variant.as_deref().is_none_or(|v| v == variant)
}

/// Whether the counted system calls of a receipt lie where the probe says; `None` where nothing was counted or claimed.
fn keeps_its_word(receipt: &Record) -> Option<bool> {
    let calls = receipt.number("syscalls")?;
    let probe = descriptions().into_iter().find(|p| p.name == receipt.get("name")).unwrap();
    let mut claims = probe.expectations.into_iter().filter(|e| e.receipt == "syscalls");
    let claim = claims.find(|e| applies(e, receipt.get("variant")))?;
    Some(claim.least.is_none_or(|least| calls >= least) && claim.most.is_none_or(|most| calls <= most))
}

#[test]
fn every_probe_verifies_or_says_why_not() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(&install(directory.path()), &["--all", "2"], "");
    assert_all_ended(&output);
    let kept: Vec<_> = output.of("receipt").filter_map(|r| Some((r, keeps_its_word(r)?))).collect();
    for (receipt, kept) in &kept {
        assert!(kept, "{receipt:?}");
    }
    let counted = output.of("receipt").filter(|r| r.number("syscalls").is_some()).count();
    let refused =
        output.of("receipt").filter(|r| r.get("syscalls") == "-" && r.get("why").is_empty()).count();
    assert_eq!(refused, 0, "a missing count has a reason");
    assert!(counted == 0 || !kept.is_empty(), "nothing that was counted was checked");
}

#[test]
fn every_probe_shows_its_source() {
    for probe in descriptions() {
        let text = whyfaster_probe::source(&probe.source).unwrap_or_else(|| panic!("{}", probe.source));
        assert!(
            text.contains(&format!(".name = \"{}\"", probe.name)),
            "{} is not in {}",
            probe.name,
            probe.source
        );
        for word in [&probe.unit, &probe.exercises, &probe.needs] {
            assert!(!word.is_empty(), "{}", probe.name);
        }
    }
}

#[test]
fn calls_are_counted_as_planted() {
    needs!(tool("strace"));
    let traced = std::process::Command::new("strace").args(["-o", "/dev/null", "true"]).status().unwrap();
    needs!(provided(traced.success(), "ptrace"));
    let output = planned("probe getpid_k libc k=3 batches=1\nprobe lie_syscall loop batches=1\n");
    let counts: Vec<_> = output.of("receipt").filter_map(|r| r.number("syscalls")).collect();
    assert_eq!(counts, [3.0, 0.0]);
    let receipts: Vec<_> = output.of("receipt").collect();
    assert_eq!(keeps_its_word(receipts[1]), Some(false), "the liar claims a call that it never makes");
}

#[test]
fn a_switch_that_never_happened_shows_in_the_samples() {
    let lie = planned("probe lie_switch loop batches=5 count=0\n");
    assert!(
        lie.of("sample").all(|s| s.number("vol") == Some(0.0) && s.number("inv") < s.number("ops")),
        "{lie:?}"
    );
    let honest = planned("probe switch pipe batches=5 count=0\n");
    for sample in honest.of("sample") {
        let switches = sample.number("vol").unwrap() + sample.number("inv").unwrap();
        assert!(switches >= sample.number("ops").unwrap() * 0.8, "{sample:?}");
    }
}

#[test]
fn planted_costs_are_found() {
    // In turns: the speed of a shared machine changes within tenths of a second, and neighbours in time mostly share it.
    let price = |k: u32| floor(&planned(&format!("probe getpid_k libc k={k} batches=20 count=0\n")));
    let mut ratios: Vec<f64> = (0..15).map(|_| price(8) / price(1)).collect();
    ratios.sort_by(f64::total_cmp);
    assert!((6.0..10.0).contains(&ratios[7]), "8 calls cost {ratios:?} times as much as 1");
    let burn = planned("probe burn loop cycles=10000 batches=200 count=0\n");
    if burn.of("unavailable").next().is_some() {
        return;
    }
    let expected = 10_000.0 / one(&burn, "hello").number("tsc_hz").unwrap() * 1e9;
    let ratio = floor(&burn) / expected;
    assert!((0.95..1.05).contains(&ratio), "10000 cycles were priced {ratio} times as high");
}

#[test]
fn an_operation_too_short_for_the_clock_is_seen_as_such() {
    let output = planned("probe lie_zero loop batches=3 count=0\n");
    let steps = 100.0 * one(&output, "hello").number("clock_cost_ns").unwrap();
    assert!(output.of("sample").all(|s| s.number("ops") == Some(1.0)));
    assert!(output.of("sample").any(|s| s.number("ns").unwrap() < steps), "{output:?}");
}

#[test]
fn rows_carry_what_the_plan_said() {
    let output = planned(
        "# a comment\n\nprobe lstat raw depth=4 batches=3 tag=abc temp=cold count=0\nend\nnot read\n",
    );
    let samples: Vec<_> = output.of("sample").collect();
    assert_eq!(samples.len(), 3);
    for (at, sample) in samples.iter().enumerate() {
        let head = ["name", "variant", "params", "temp", "tag", "measure"].map(|key| sample.get(key));
        assert_eq!(head, ["lstat", "raw", "depth=4,of=file", "cold", "abc", "time"]);
        assert_eq!(sample.get("batch"), at.to_string());
        assert_eq!(sample.number("ops"), Some(1.0), "a cold round is one operation");
    }
    assert_eq!(one(&output, "receipt").get("why"), "not asked for");
    assert_eq!(one(&output, "done").get("lines"), "1");
}

#[test]
fn fast_calls_alternate_between_n_and_twice_n() {
    let output = planned("probe getppid libc batches=4 count=0\n");
    let ops: Vec<_> = output.of("sample").filter_map(|s| s.number("ops")).collect();
    assert_eq!(ops.len(), 8);
    for pair in ops.chunks(2) {
        assert!(pair[1] == pair[0] * 2.0 && pair[0] == ops[0], "{ops:?}");
    }
}

#[test]
fn first_calls_come_from_fresh_processes() {
    let output = planned("probe umask raw temp=first batches=3 count=0\n");
    assert_eq!(output.of("begin").count(), 3);
    assert_eq!(output.of("sample").count(), 3);
}

#[test]
fn what_shall_be_cold_is_not_warmed_by_receipts() {
    let output = planned(
        "probe getppid raw temp=cold batches=2 count=0\nprobe getppid raw temp=first batches=1 count=0\n\
         probe getppid raw batches=1 count=0\n",
    );
    for sample in output.of("sample") {
        let asked = ["vol", "inv", "mig", "delay"].map(|key| sample.get(key) != "-");
        assert!(asked == [sample.get("temp") == "warm"; 4] || cfg!(not(target_os = "linux")), "{sample:?}");
    }
    assert_eq!(output.of("sample").count(), 5);
}

#[test]
fn a_star_is_every_variant() {
    let output = planned("probe clock_gettime * clock=realtime batches=1 count=0\n");
    let ended: Vec<_> =
        output.records.iter().filter(|r| r.kind == "verify" || r.kind == "unavailable").collect();
    let variants: Vec<_> = ended.iter().map(|r| r.get("variant")).collect();
    assert_eq!(variants, ["libc", "raw", "vdso"]);
    assert!(ended.iter().all(|r| r.get("params") == "clock=realtime"));
}

#[test]
fn a_wrong_plan_measures_nothing() {
    let long = format!("probe getpid libc tag={}", "x".repeat(5000));
    for (plan, line) in [
        ("probe getpid libc\nprobe getpit libc\n", "2"),
        ("probe getpid vdso\n", "1"),
        ("probe getpid libc batches=0\n", "1"),
        ("probe getpid libc depth=4\n", "1"),
        ("probe lstat libc of=socket\n", "1"),
        ("probe getpid libc batches\n", "1"),
        ("go getpid libc\n", "1"),
        (long.as_str(), "1"),
    ] {
        let output = planned(plan);
        assert_eq!(output.status, Some(2), "{plan}");
        let error = one(&output, "error");
        assert!(error.get("line") == line && !error.get("why").is_empty(), "{plan}: {error:?}");
        assert_eq!(output.records.len(), 1, "{plan}");
    }
}

#[test]
fn a_line_that_takes_too_long_is_stopped_and_the_next_one_runs() {
    let output =
        planned("probe burn loop cycles=900000000000 limit=1\nprobe getpid libc batches=1 count=0\n");
    let burned = output.of("unavailable").find(|r| r.get("name") == "burn").unwrap();
    assert!(!burned.get("why").is_empty());
    assert_eq!(one(&output, "verify").get("name"), "getpid");
}

#[test]
fn a_budget_ends_a_line_but_not_before_its_first_pair() {
    let output = planned("probe burn loop cycles=100000 batches=1000000 budget_ms=20 count=0\n");
    let samples = output.of("sample").count();
    assert!((2..900_000).contains(&samples) || output.of("unavailable").count() == 1, "{samples} samples");
}

#[test]
fn a_relative_directory_is_removed_too() {
    let directory = tempfile::tempdir().unwrap();
    let worker = install(directory.path());
    let place = directory.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let mut command = std::process::Command::new(&worker);
    command.current_dir(directory.path()).env("TMPDIR", "place").stdin(Stdio::null()).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn a_thread_is_not_made_on_another_cpu_than_its_makers() {
    let output =
        planned("probe newthread fresh cpu=other batches=1\nprobe newthread burst cpu=same batches=1\n");
    let refused = one(&output, "unavailable");
    assert!(refused.get("variant") == "fresh" && refused.get("why").contains("CPU"), "{refused:?}");
}

#[test]
fn every_source_can_be_read_in_one_screen() {
    for (name, text) in whyfaster_probe::sources() {
        let lines = text.lines().count();
        // Headers state what many files share.
        let most = if name.starts_with("include/") { 120 } else { 80 };
        assert!(lines <= most, "{name} has {lines} lines");
    }
}
