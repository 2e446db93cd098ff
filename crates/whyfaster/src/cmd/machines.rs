//! `whyfaster machines`: price lists side by side.

use std::path::Path;

use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::Rule;
use whyfaster_render::machines as render;
use whyfaster_render::machines::Machines;
use whyfaster_store as store;
use whyfaster_store::reference;
use whyfaster_words::exit::{Exit, Failure, nearest};

use super::prices::counts;
use super::results;
use crate::cli::Outputs;
use crate::cli::args::MachinesArgs;

/// Runs the verb.
pub fn run(args: &MachinesArgs) -> anyhow::Result<Exit> {
    if !args.kernels.is_empty() {
        return super::kernels::run(args);
    }
    let outputs = Outputs::of_machines(args)?;
    results::check(&outputs)?;
    let look = results::look(&outputs);
    if args.lists.is_empty() {
        if args.json || args.project.is_some() || outputs.pages.any() {
            let hint = "name one or more; 'whyfaster machines' alone shows the built-in ones";
            return Err(Failure::usage("no list is named that could be compared", hint).into());
        }
        store::to_stdout(render::built_in(&reference::all()?, &look).as_bytes())?;
        return Ok(Exit::Ok);
    }
    let terms = args.project.as_deref().map(counts).transpose()?;
    let lists = open(&args.lists)?;
    if lists.len() == 1 && terms.is_none() {
        return Err(Failure::usage("one list alone has nothing beside it",
            "name a second one, such as 'macosx-10.7'; 'whyfaster machines' shows the built-in ones, and 'whyfaster show FILE' shows one list",
        )
        .into());
    }
    for term in terms.iter().flatten() {
        priced_somewhere(&lists, &term.name)?;
    }
    let mut rule = Rule::default();
    if let Some(delta) = args.delta {
        rule.delta = delta;
    }
    let machines = Machines::of(&lists, &rule, terms.as_deref());
    let bytes = if args.json {
        let mut bytes = serde_json::to_vec_pretty(&machines)?;
        bytes.push(b'\n');
        bytes
    } else if look.quiet {
        Vec::new()
    } else {
        render::report(&lists, &machines, args.all, &rule, &look).into_bytes()
    };
    store::to_stdout(&bytes)?;
    super::pages::of_lists(&lists, &machines, &rule, &outputs.pages, &look)?;
    Ok(Exit::Ok)
}

/// A count of what no list has is a slip of the pen.
fn priced_somewhere(lists: &[PriceList], name: &str) -> Result<(), Failure> {
    let names = || lists.iter().flat_map(|list| &list.prices).map(|price| price.name.as_str());
    if names().any(|known| known == name) {
        return Ok(());
    }
    let hint = match nearest(name, names()) {
        Some(like) => format!("did you mean '{like}'? --all shows every row"),
        None => "--all shows every row".to_owned(),
    };
    Err(Failure::usage(format!("--project: no list has a price of '{name}'"), hint))
}

/// Opens the lists; two of the same name are told apart by what they were called on the command line.
pub(super) fn open(paths: &[impl AsRef<Path>]) -> anyhow::Result<Vec<PriceList>> {
    let mut lists = paths
        .iter()
        .map(|path| reference::open(path.as_ref()))
        .collect::<anyhow::Result<Vec<PriceList>>>()?;
    let names: Vec<String> = lists.iter().map(|list| list.name.clone()).collect();
    for (at, (list, path)) in lists.iter_mut().zip(paths).enumerate() {
        if names.iter().enumerate().any(|(other, name)| other != at && *name == list.name) {
            let name = called(path.as_ref(), at);
            // One list twice, or files of one name in two directories.
            let twice = paths[..at].iter().any(|earlier| called(earlier.as_ref(), at) == name);
            list.name = if twice { format!("{name} (list {})", at + 1) } else { name };
        }
    }
    Ok(lists)
}

/// What a list was called on the command line: the name of its file without '.json', or a built-in name.
fn called(path: &Path, at: usize) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name.strip_suffix(".json").unwrap_or(&name) {
        "" | "-" => format!("list {}", at + 1),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_one_name_are_told_apart() {
        let names = |paths: &[&str]| -> Vec<String> {
            open(paths).unwrap().into_iter().map(|list| list.name).collect()
        };
        assert_eq!(names(&["debian-2.6.32", "debian-2.6.32"]), ["debian-2.6.32", "debian-2.6.32 (list 2)"]);
        assert_eq!(called(Path::new("a/here.json"), 0), "here");
        assert_eq!(called(Path::new("-"), 1), "list 2");
    }
}
