//! What the book and the README show of stored records of real runs: the screens that `whyfaster show` prints of them.

use std::path::Path;

use anyhow::Result;
use whyfaster::cmd::show::retraced;
use whyfaster_core::plan::{Loads, Plan};
use whyfaster_core::record::Record;
use whyfaster_render::prices;
use whyfaster_render::screen::screen;
use whyfaster_render::trace::{self as traced, Shown};
use whyfaster_store::again::reanalysed;
use whyfaster_store::{self as store, Recorded};
use whyfaster_words::display::{Detail, Style};
use whyfaster_words::exit::Failure;
use whyfaster_words::look::{Environment, Look};

use crate::files::Files;
use crate::picture;

/// The comparison.
const RECORD: &str = "tests/records/0.1.0-flip.json";
/// The files that pages include.
const SCREEN: &str = "docs/src/outputs/flip.txt";
const TABLES: &str = "docs/src/outputs/flip-v.txt";
const WHY: &str = "docs/src/outputs/flip-why.txt";

/// Columns of the terminal.
pub(crate) const COLUMNS: usize = 80;

/// A trace, with its pages: the first screen, and the tables.
const TRACE: &str = "tests/records/0.1.0-trace.json";
const TRACED: [(&str, Detail); 2] =
    [("docs/src/outputs/trace.txt", Detail::Screen), ("docs/src/outputs/trace-v.txt", Detail::Tables)];

/// The prices that people ask for, of one machine.
const PRICES: &str = "tests/records/0.1.0-ordinary-prices.json";
const PRICED: &str = "docs/src/outputs/prices.txt";

/// All of them, and the picture.
pub(crate) fn all(root: &Path) -> Result<Files> {
    let mut files = of_comparison(root)?;
    let trace = match recorded(root, TRACE)? {
        Recorded::Trace(trace) => retraced(*trace, Path::new(TRACE)).map_err(told)?,
        _ => anyhow::bail!("{TRACE} is no trace"),
    };
    for (file, detail) in TRACED {
        let asked = if detail == Detail::Screen { "trace" } else { "trace -v" };
        let text = traced::screen(&trace.report, &Shown::of_record(&trace), &look(detail, Style::Basic));
        let command = trace.plan.target.words();
        files.insert(file.into(), format!("$ whyfaster {asked} '{command}'\n{text}").into_bytes());
    }
    let Recorded::Prices(list) = recorded(root, PRICES)? else { anyhow::bail!("{PRICES} is no price list") };
    let text = prices::report(&list, &look(Detail::Screen, Style::Basic));
    files.insert(PRICED.into(), format!("$ whyfaster prices\n{text}").into_bytes());
    Ok(files)
}

fn recorded(root: &Path, file: &str) -> Result<Recorded> {
    store::read_recorded(&root.join(file)).map_err(told)
}

fn told(failure: Failure) -> anyhow::Error {
    anyhow::anyhow!("{}", failure.message)
}

fn of_comparison(root: &Path) -> Result<Files> {
    let Recorded::Comparison(record) = recorded(root, RECORD)? else {
        anyhow::bail!("{RECORD} is no comparison")
    };
    let record = reanalysed(*record);
    let typed = typed(&record.plan);
    let text = |detail| shown(&record, detail, Style::Basic);
    let command = typed.join("\n");
    let tables = text(Detail::Tables);
    let mut files = Files::new();
    files.insert(SCREEN.into(), format!("{command}\n{}", text(Detail::Screen)).into_bytes());
    files.insert(TABLES.into(), format!("$ whyfaster show -v\n{tables}").into_bytes());
    files.insert(WHY.into(), format!("$ whyfaster show -v\n...\n{}", explanation(&tables)).into_bytes());
    let coloured = shown(&record, Detail::Screen, Style::Color);
    files.insert(picture::FILE.into(), picture::draw(&typed, &coloured).into_bytes());
    Ok(files)
}

fn shown(record: &Record, detail: Detail, style: Style) -> String {
    screen(record, &look(detail, style))
}

fn look(detail: Detail, style: Style) -> Look {
    let environment = Environment { locale: Some("C.UTF-8".to_owned()), ..Environment::default() };
    Look { width: COLUMNS, kept: true, detail, ..Look::detect(style, false, &environment) }
}

/// The paragraphs that explain, from the first "why ... takes longer" up to what follows them all.
fn explanation(tables: &str) -> String {
    let parts: Vec<&str> = tables.split("\n\n").collect();
    let first = parts.iter().position(|part| part.starts_with("why ")).unwrap_or(parts.len());
    let said = |part: &&&str| !part.starts_with("alone: ") && !part.starts_with("noise floor");
    let parts: Vec<&str> = parts[first..].iter().take_while(said).copied().collect();
    parts.join("\n\n") + "\n"
}

/// The command line of the run, as it is typed.
fn typed(plan: &Plan) -> Vec<String> {
    let loads = match &plan.loads {
        Loads::Auto => " --load auto".to_owned(),
        Loads::Fixed(loads) if *loads == [1] => String::new(),
        Loads::Fixed(loads) => {
            let loads: Vec<String> = loads.iter().map(u32::to_string).collect();
            format!(" --load {}", loads.join(","))
        }
    };
    let quoted = |command: &str| match command.contains('\'') {
        true => format!("\"{}\"", command.replace('\\', "\\\\").replace('"', "\\\"")),
        false => format!("'{command}'"),
    };
    let mut lines = vec![format!("$ whyfaster compare{loads} \\")];
    let last = plan.alternatives.len().saturating_sub(1);
    for (at, alternative) in plan.alternatives.iter().enumerate() {
        let on = if at == last { "" } else { " \\" };
        lines.push(format!("    {}{on}", quoted(&alternative.command)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explanation_is_taken_out_of_the_tables() {
        let tables = "B is faster.\n\nwhy A takes longer\n  x\n\nspan: y\n\nnoise floor: z\n\nwarning: w\n";
        assert_eq!(explanation(tables), "why A takes longer\n  x\n\nspan: y\n");
        assert_eq!(explanation("B is faster.\n"), "\n");
    }
}
