//! What was run: the commands, how many, in which order, with which seed.

use maud::{Markup, html};
use whyfaster_core::plan::{Alternative, Input, Plan, Shell};
use whyfaster_core::record::Record;
use whyfaster_words as words;
use whyfaster_words::clean::clean;
use whyfaster_words::text::capitalise;
use whyfaster_words::units::{duration, percent};

use super::super::notes::meta;
use super::table;

/// The plan of a comparison.
pub(super) fn plan(record: &Record) -> Markup {
    let plan = &record.plan;
    html! {
        p { (capitalise(&words::plan::announcement(plan))) "." }
        p { (capitalise(&meta(record))) "." }
        @for (at, it) in plan.alternatives.iter().enumerate() { (command(plan, at, it)) }
        (table::facts(facts(record)))
    }
}

fn command(plan: &Plan, at: usize, it: &Alternative) -> Markup {
    let hooks = [
        ("setup", &it.setup),
        ("prepare", &it.prepare),
        ("conclude", &it.conclude),
        ("cleanup", &it.cleanup),
    ];
    html! {
        div class="command" {
            p { b { (words::called::letter(at)) } " " (clean(&it.name)) @if at == plan.baseline { " (baseline)" } }
            (table::lines(&it.command))
            @for (name, hook) in hooks { @if let Some(hook) = hook { p { (name) ": " (table::code(hook)) } } }
            @for (name, value) in &it.parameters { p { "parameter " (table::code(&format!("{name}={value}"))) } }
            @for (name, value) in &it.env { p { "environment " (table::code(&format!("{name}={value}"))) } }
        }
    }
}

fn facts(record: &Record) -> Vec<(String, String)> {
    let plan = &record.plan;
    let shell = match &plan.shell {
        Shell::None => "none: split into words".to_owned(),
        Shell::Command(words) => words.join(" "),
    };
    let input = match &plan.input {
        Input::Null => "/dev/null".to_owned(),
        Input::File(path) => path.display().to_string(),
        Input::Inherit => "that of whyfaster".to_owned(),
    };
    let yes = |it: bool| if it { "yes" } else { "no" }.to_owned();
    let all = [
        ("seed", Some(plan.seed.to_string())),
        ("confidence", Some(percent(plan.confidence))),
        ("counts as the same", Some(format!("less than {}", percent(plan.delta)))),
        ("time-out", plan.timeout_s.map(duration)),
        ("shell", Some(shell)),
        ("standard input", Some(input)),
        ("outputs compared", Some(yes(plan.check_output))),
        ("page cache emptied", Some(yes(plan.drop_caches))),
        ("began", Some(record.started.clone())),
        ("took", Some(duration(record.took_s))),
        ("study", record.study.clone()),
        ("version", Some(record.tool_version.clone())),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
