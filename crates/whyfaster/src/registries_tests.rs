//! Every registry beside the book and the help: what is registered stands in both, and nothing else does.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use whyfaster_render::export::Exporter;
use whyfaster_render::trace::outputs::TraceFile;
use whyfaster_run::elsewhere::PLACES;
use whyfaster_run::inside::KINDS;
use whyfaster_words::display::Registered;

use crate::cli::Args;

/// A page of the book.
fn page(name: &str) -> String {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    fs::read_to_string(book.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What `--help-all` says of a verb.
fn help(verb: &str) -> String {
    let mut command = Args::command();
    command.build();
    command.find_subcommand_mut(verb).unwrap().render_long_help().to_string()
}

/// Each entry has an option in the help of these verbs and a row in a table of this page.
fn stands<T: Registered>(name: &str, verbs: &[&str]) {
    let page = page(name);
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    for entry in T::all() {
        let option = format!("--{} ", entry.option().name);
        assert!(rows.iter().any(|row| row.contains(&format!("`{option}FILE`"))), "{name} lacks {option}");
        for verb in verbs {
            assert!(help(verb).contains(&option), "the help of {verb} lacks {option}");
        }
    }
}

#[test]
fn exports_stand_in_the_book_and_in_the_help() {
    stands::<Exporter>("compare.md", &["compare", "show"]);
    let told = page("compare.md").matches("`--export-").count();
    assert_eq!(told, Exporter::all().len(), "compare.md tells of {told} exports");
}

#[test]
fn files_of_a_trace_stand_in_the_book_and_in_the_help() {
    stands::<TraceFile>("trace.md", &["trace", "show"]);
}

#[test]
fn places_stand_in_the_book_and_in_the_help() {
    let (page, help) = (page("places.md"), help("compare"));
    for kind in PLACES {
        let (row, form) = (format!("\n| `{}:", kind.word), format!("{}:{}: ", kind.word, kind.form));
        assert!(page.contains(&row) && help.contains(&form), "places.md or the help lacks {}", kind.word);
    }
}

#[test]
fn kinds_of_inside_stand_in_the_book_and_in_the_help() {
    let (page, help) = (page("inside.md"), help("prices").split_whitespace().collect::<Vec<_>>().join(" "));
    for kind in KINDS {
        let row = format!("\n| `{}", kind.word);
        let rest: Vec<&str> = page.split(&row).skip(1).collect();
        assert!(rest.iter().any(|rest| rest.starts_with(['`', ':'])), "inside.md lacks {}", kind.word);
        assert!(help.contains(&format!("{}{}: ", kind.word, kind.form)), "the help lacks {}", kind.word);
    }
}

#[test]
fn probes_stand_in_the_book() {
    let summary = page("SUMMARY.md");
    for probe in whyfaster_probe::descriptions().iter().filter(|probe| probe.group != "selftest") {
        let line = format!("[{0}](probes/{0}.md)", probe.name);
        assert!(summary.contains(&line), "SUMMARY.md lacks {line}");
    }
}
