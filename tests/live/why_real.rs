//! Explanations of programs that nobody prepared, each of which was explained wrongly or not at all: compilers, locales, shells, `env`.
//! Counts and kinds, not times.

use std::fmt::Write as _;

use crate::support::needs::{Need, full, needs, provided, tool};
use crate::support::{Sandbox, list, number};
use serde_json::Value;

/// The comparison with its explanation, as JSON.
fn explained(place: &Sandbox, options: &[&str], slow: &str, fast: &str) -> Value {
    let words = [&["compare", "--json", "--no-check-output"], options, &[slow, fast]].concat();
    place.undisturbed(&words).json()
}

/// The first cause, which is that of the slower one, given first.
#[track_caller]
fn first<'a>(record: &'a Value, cause: &str) -> &'a Value {
    let found = &record["findings"][0];
    let name = &record["plan"]["alternatives"][0]["name"];
    let told = (found["cause"].as_str(), &found["alternative"]);
    assert_eq!(told, (Some(cause), name), "{:#} {:#}", record["findings"], record["refused"]);
    found
}

/// C functions that keep an optimiser busy.
fn source(functions: u32) -> String {
    let mut text = String::new();
    for i in 0..functions {
        let _ = writeln!(
            text,
            "int f{i}(int *a, int n) {{ int s = {i}; for (int j = 0; j < n; j++) {{ if (a[j] % {m} == 0) s += a[j] * {i}; \
             else s ^= a[j] << {k}; }} return s; }}",
            m = i % 13 + 2,
            k = i % 7
        );
    }
    text
}

#[test]
fn a_difference_of_many_times_leaves_time_for_its_cause_under_a_limit() {
    needs!(full());
    needs!(tool("gcc"));
    let place = Sandbox::new();
    place.write("f.c", source(250));
    let compile = |level: u32| format!("gcc -O{level} -c -o f{level}.o f.c");
    let record = explained(&place, &["--max-time", "25s"], &compile(2), &compile(0));
    let found = first(&record, "compute");
    assert!(number(&found["share"]) > 0.5 && record["refused"].is_null(), "{found:#} {}", record["refused"]);
    let file = found["functions"][0]["file"].as_str().unwrap();
    assert!(file.ends_with("cc1"), "{:#}", found["functions"]);
    assert!(list(&record["traced"]).len() >= 2, "at least one observed round of two");
}

/// The sources of a locale other than C's.
fn locale() -> Need {
    tool("localedef")?;
    provided(
        std::path::Path::new("/usr/share/i18n/locales/en_US").exists(),
        "the sources of locales (package locales)",
    )
}

#[test]
fn the_order_of_a_locale_is_named_by_the_function_that_compares() {
    needs!(full());
    needs!(locale());
    let place = Sandbox::new();
    std::fs::create_dir(place.path("locales")).unwrap();
    place.shell("localedef -i en_US -f UTF-8 locales/en_US.UTF-8").ok();
    let words: String =
        (0..100_000_u32).map(|i| format!("word {:x}\n", i.wrapping_mul(2_654_435_761))).collect();
    place.write("words", words);
    let slow = format!("LOCPATH={} LC_ALL=en_US.UTF-8 sort --parallel=1 words", place.file("locales"));
    let record = explained(&place, &["--why=observe"], &slow, "LC_ALL=C sort --parallel=1 words");
    let found = first(&record, "compute");
    let first = &found["functions"][0];
    assert!(first["symbol"].as_str().is_some_and(|it| it.contains("strcoll")), "{:#}", found["functions"]);
    assert!(found["sentence"].as_str().unwrap().contains("strcoll"), "{found:#}");
}

/// Looks for what is not there, over and over: `search N` N times, in the C library, which has no frame pointers and neither has this.
const SEARCH: &str = r#"
#include <stdlib.h>
#include <string.h>
static char text[1 << 20];
__attribute__((noinline)) static long searched(int times) {
    long found = 0;
    for (int i = 0; i < times; i++) {
        found += memchr(text, 'x', sizeof text) != 0;
        __asm__ volatile("" ::: "memory");
    }
    return found;
}
int main(int argc, char **argv) {
    memset(text, 'a', sizeof text);
    return (int)searched(argc > 1 ? atoi(argv[1]) : 1);
}
"#;

#[test]
fn who_asks_the_c_library_is_named_without_frame_pointers() {
    needs!(full());
    needs!(tool("gcc"));
    let place = Sandbox::new();
    place.write("search.c", SEARCH);
    place.shell("gcc -O2 -fomit-frame-pointer -o search search.c").ok();
    let options = ["--why=observe", "--why-rounds", "7"];
    let record = explained(&place, &options, "./search 8000", "./search 10");
    let found = first(&record, "compute");
    let function = &found["functions"][0];
    assert!(function["file"].as_str().is_some_and(|it| it.contains("libc.so")), "{function:#}");
    assert_eq!(function["called_from"], "searched", "{function:#}");
    let sentence = found["sentence"].as_str().unwrap_or_default();
    assert!(sentence.contains("called from `searched`"), "{sentence}");
    // Nearly every sample has its caller, not only some.
    for run in list(&record["traced"]).iter().filter(|it| it["alternative"] == 0) {
        let rows = list(&run["report"]["sampled"]["functions"]);
        let of = |wanted: &dyn Fn(&Value) -> bool| -> f64 {
            rows.iter().filter(|it| wanted(it)).map(|it| number(&it["samples"])).sum()
        };
        let in_libc =
            |it: &Value| it["kind"] == "user" && it["file"].as_str().is_some_and(|it| it.contains("libc.so"));
        let (all, called) = (of(&in_libc), of(&|it| in_libc(it) && it["called_from"] == "searched"));
        assert!(all >= 20.0 && called > 0.9 * all, "{called} of {all}: {rows:#?}");
    }
}

/// A PATH that has so many directories before the first that has the program.
fn searched(directories: u32) -> String {
    format!("PATH=$(printf '/nowhere/%s:' $(seq {directories}))$PATH; for i in $(seq 60); do env true; done")
}

#[test]
fn execs_that_find_nothing_are_a_search_of_path_and_no_computing() {
    needs!(full());
    let place = Sandbox::new();
    let options = ["--why=observe", "--why-rounds", "7"];
    let record = explained(&place, &options, &searched(400), "for i in $(seq 60); do env true; done");
    for run in list(&record["traced"]).iter().filter(|it| it["alternative"] == 0) {
        let failed = number(&run["report"]["processes"]["failed_execs"]);
        assert!((24_000.0..26_000.0).contains(&failed), "{failed}");
    }
    // A program that was not optimised makes them twice as dear to observe; then nothing may be told, and nothing else is.
    let causes = record["findings"].as_array().into_iter().flatten();
    let told: Vec<&str> = (causes.filter(|it| number(&it["share"]) >= 0.25 && it["cause"] != "unexplained"))
        .map(|it| it["cause"].as_str().unwrap())
        .collect();
    let first = told.first().is_none_or(|first| *first == "path_search");
    assert!(first && !told.contains(&"compute"), "{:#}", record["findings"]);
}

/// Two threads that work in turns, for each has to have the lock: `together 1` takes it for every piece of the work, `together 0` for none.
const TOGETHER: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locks;
static __thread volatile long sum;
__attribute__((noinline)) static void piece(void) {
    if (locks) pthread_mutex_lock(&lock);
    for (long i = 0; i < 3000000; i++) sum += i;
    if (locks) pthread_mutex_unlock(&lock);
}
static void *worker(void *of) { for (int i = 0; i < 20; i++) piece(); return of; }
int main(int argc, char **argv) {
    pthread_t others[2];
    locks = argc > 1 && atoi(argv[1]);
    for (int i = 0; i < 2; i++) pthread_create(&others[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(others[i], 0);
    return 0;
}
"#;

#[test]
fn a_lock_is_said_with_the_code_that_waits_for_it() {
    needs!(full());
    needs!(tool("gcc"));
    let place = Sandbox::new();
    place.write("together.c", TOGETHER);
    place.shell("gcc -O1 -fno-omit-frame-pointer -pthread -o together together.c").ok();
    let options = ["--why=observe", "--why-rounds", "7"];
    let record = explained(&place, &options, "./together 1", "./together 0");
    let mut waits = 0.0;
    for run in list(&record["traced"]).iter().filter(|it| it["alternative"] == 0) {
        let functions = list(&run["report"]["sampled"]["functions"]);
        let of_lock = functions.iter().filter(|it| it["kind"] == "lock");
        // The library's function that was asked for the lock, or the library, and who asked it.
        for it in of_lock.clone() {
            let file = it["file"].as_str().unwrap_or_default();
            assert!(file.contains("libc.so") || file.contains("libpthread"), "{it:#}");
        }
        waits += of_lock.map(|it| number(&it["samples"])).sum::<f64>();
    }
    assert!(waits >= 50.0, "{waits} ms of waits in seven runs");
    // On a machine with one free CPU both take as long.
    let Some(found) = record["findings"].as_array().into_iter().flatten().find(|it| it["cause"] == "lock")
    else {
        return;
    };
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.contains("by how long it waits"), "{sentence}");
}
