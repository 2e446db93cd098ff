//! Hostile inputs for whatever reads bytes that others wrote: records, lists, messages, records of the kernel.
//!
//! A target is a function over bytes that panics when something is wrong, and says whether it took them or refused them. It
//! is a unit test of the crate whose code it reaches, and calls [`run`]. Its inputs are the files in `fuzz/corpus/TARGET/`,
//! as they are and with changes: some at random places of the JSON that they hold, some in their bytes. proptest draws the
//! changes, and takes away those that a failure does not need.
//!
//! `make test` tries the same inputs each time, as many as the target names, so that it fails for what was changed. `make fuzz` sets `FUZZ_SECONDS`,
//! the time of all targets together, and another `FUZZ_SEED` (0) each time: the seed decides which changes are drawn. An input that fails is kept in
//! `target/fuzz/`. The commit that mends the fault moves it into the corpus, with which every run begins.

mod bytes;
mod json;

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// JSON: changed as such, and sometimes as bytes.
    Json,
    /// Anything else.
    Bytes,
}

/// A change: what is done, where, and with what. The numbers are taken modulo whatever there is.
type Change = (u8, u32, u32);

/// Most changes of one input.
const MOST_CHANGES: usize = 4;

/// No input takes longer on any machine that works: what does hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Inputs between two looks at the clock.
const CASES: u32 = 32;

/// When a target has tried enough.
#[derive(Clone, Copy, Debug)]
enum Extent {
    /// So many inputs, rounded up to a multiple of [`CASES`].
    Inputs(u32),
    Time(Duration),
}

/// Runs a target on its corpus and on so many changes of it; with `FUZZ_SECONDS`, until its time is over.
///
/// # Panics
///
/// When the target does; the input is kept. Also when it takes nothing: then it tests little.
pub fn run(name: &str, form: Form, inputs: u32, target: impl Fn(&[u8]) -> bool) {
    let extent = share().map_or(Extent::Inputs(inputs), Extent::Time);
    run_on(name, form, &corpus(name), extent, target);
}

fn run_on(name: &str, form: Form, seeds: &[Vec<u8>], extent: Extent, target: impl Fn(&[u8]) -> bool) {
    let begun = Instant::now();
    let (tried, taken) = (Cell::new(0_u64), Cell::new(0_u64));
    let attempt = |bytes: &[u8]| {
        let begun = Instant::now();
        let took = target(bytes);
        assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
        tried.set(tried.get() + 1);
        taken.set(taken.get() + u64::from(took));
    };
    for seed in seeds {
        if catch_unwind(AssertUnwindSafe(|| attempt(seed))).is_err() {
            failed(name, seed);
        }
    }
    assert!(taken.get() > 0, "{name}: not one kept input is taken");
    let config =
        Config { cases: CASES, failure_persistence: None, max_shrink_iters: 512, ..Config::default() };
    let inputs = (0..seeds.len(), vec(any::<Change>(), 1..=MOST_CHANGES));
    let base = seed();
    for round in 0_u64.. {
        let enough = match extent {
            Extent::Inputs(inputs) => round >= u64::from(inputs.div_ceil(CASES)),
            Extent::Time(time) => begun.elapsed() >= time,
        };
        if enough {
            break;
        }
        // A runner counts its cases once and for all.
        let found = TestRunner::new_with_rng(config.clone(), drawn_from(base, round)).run(
            &inputs,
            |(seed, changes)| {
                attempt(&changed(&seeds[seed], form, &changes));
                Ok(())
            },
        );
        match found {
            Ok(()) => {}
            Err(TestError::Fail(_, (seed, changes))) => failed(name, &changed(&seeds[seed], form, &changes)),
            Err(TestError::Abort(why)) => panic!("{name}: no input could be drawn: {why}"),
        }
    }
    println!("{name}: {} inputs, {} of them taken", tried.get(), taken.get());
}

/// Which changes are drawn.
fn seed() -> u64 {
    match env::var("FUZZ_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("FUZZ_SEED={text}: {error}")),
        Err(_) => 0,
    }
}

/// The numbers of one round.
fn drawn_from(seed: u64, round: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&round.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// The kept inputs of a target, in the order of their names.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let directory = root().join("fuzz/corpus").join(name);
    let mut files: Vec<PathBuf> = match fs::read_dir(&directory) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => panic!("no corpus in {}: {error}", directory.display()),
    };
    files.sort();
    let read = |path: &PathBuf| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let seeds: Vec<Vec<u8>> = files.iter().map(read).collect();
    assert!(!seeds.is_empty(), "nothing is in {}", directory.display());
    seeds
}

/// The time of one target: each has as much as any other. None without `FUZZ_SECONDS`.
fn share() -> Option<Duration> {
    let text = env::var("FUZZ_SECONDS").ok()?;
    let seconds: f64 = text.parse().unwrap_or_else(|error| panic!("FUZZ_SECONDS={text}: {error}"));
    let targets = fs::read_dir(root().join("fuzz/corpus")).map_or(1, Iterator::count).max(1);
    Some(Duration::try_from_secs_f64(seconds / targets as f64).unwrap_or_default())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn changed(seed: &[u8], form: Form, changes: &[Change]) -> Vec<u8> {
    match form {
        Form::Json => json::changed(seed, changes),
        Form::Bytes => bytes::changed(seed, changes),
    }
}

/// Keeps the input, and fails.
fn failed(name: &str, input: &[u8]) -> ! {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let directory = root().join("target/fuzz").join(name);
    let file = directory.join(format!("{:016x}", hasher.finish()));
    let kept = fs::create_dir_all(&directory).and_then(|()| fs::write(&file, input));
    let shown = String::from_utf8_lossy(&input[..input.len().min(400)]).escape_debug().to_string();
    panic!(
        "{name}: the reason stands above; the input is in {} ({kept:?}); mend the fault, and move the file to fuzz/corpus/{name}/\n\
         it begins: {shown}",
        file.display()
    );
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Every change may happen, and some of them break what they are made to break.
    #[test]
    fn changes_reach_every_part_of_an_input() {
        let seed = br#"{"name": "a", "numbers": [1, 2, 3], "inner": {"deep": 1.5}}"#;
        let (mut broken, mut emptied, mut foreign, mut deep) = (0, 0, 0, 0);
        for what in 0..=u8::MAX {
            for (at, with) in (0..8).flat_map(|at| (0..30).map(move |with| (at, with))) {
                let bytes = changed(seed, Form::Json, &[(what, at, with)]);
                let Ok(value) = serde_json::from_slice::<serde_json::Value>(&bytes) else {
                    broken += 1;
                    continue;
                };
                emptied += u32::from(value.get("numbers").is_none());
                foreign += u32::from(value["name"].as_str().is_some_and(|name| name.contains('\u{202e}')));
                deep += u32::from(value.is_object() && value["inner"]["deep"] != 1.5);
            }
        }
        assert!(broken > 0 && emptied > 0 && foreign > 0 && deep > 0, "{broken} {emptied} {foreign} {deep}");
    }

    fn seeds() -> Vec<Vec<u8>> {
        vec![b"any words that are longer than ten".to_vec()]
    }

    #[test]
    fn a_target_gets_its_whole_time() {
        let (tried, time) = (Cell::new(0), Duration::from_millis(500));
        let begun = Instant::now();
        run_on("self-test", Form::Bytes, &seeds(), Extent::Time(time), |_| {
            tried.set(tried.get() + 1);
            true
        });
        assert!(begun.elapsed() >= time && tried.get() > 2 * CASES, "{}", tried.get());
    }

    /// The same inputs on a fast machine and on a slow one.
    #[test]
    fn without_a_time_a_target_tries_the_same_inputs_each_time() {
        let inputs = || {
            let tried = RefCell::new(Vec::new());
            run_on("self-test", Form::Bytes, &seeds(), Extent::Inputs(CASES + 1), |bytes| {
                tried.borrow_mut().push(bytes.to_vec());
                true
            });
            tried.into_inner()
        };
        let first = inputs();
        assert_eq!((first.len(), &first), (1 + 2 * CASES as usize, &inputs()));
    }

    #[test]
    fn a_target_that_fails_is_caught_and_its_input_kept() {
        let failing = |bytes: &[u8]| {
            assert!(bytes.len() < 10 || bytes[3] == b' ', "found it");
            true
        };
        let fails = || run_on("self-test", Form::Bytes, &seeds(), Extent::Inputs(100_000), failing);
        let caught = catch_unwind(fails).unwrap_err();
        let said = caught.downcast_ref::<String>().map(String::as_str).unwrap_or_default();
        let file = said.split_once("the input is in ").and_then(|(_, rest)| rest.split_once(" (Ok"));
        let input = fs::read(file.unwrap_or_else(|| panic!("{said}")).0).unwrap();
        assert!(input.len() >= 10 && input[3] != b' ', "{input:?}");
    }

    #[test]
    fn a_target_that_takes_nothing_fails() {
        let deaf = || run_on("self-test", Form::Bytes, &seeds(), Extent::Inputs(0), |_| false);
        assert!(catch_unwind(deaf).is_err());
    }
}
