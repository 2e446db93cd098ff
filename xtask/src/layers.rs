//! Whether imports run one way: against the table of layers in CONTRIBUTING.md, and in no circle of files within a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::MetadataCommand;

use crate::imports::{Import, Modules};

/// Where the table stands, and how it begins.
const BOOK: &str = "CONTRIBUTING.md";
const HEADER: &str = "| Layer | Files | May import |";
/// What stands in the last column in place of names.
const NOTHING: &str = "nothing";
const ALL_ABOVE: &str = "all above";

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Layer {
    name: String,
    /// Files, and folders with all below them.
    paths: Vec<PathBuf>,
    /// Which of the rows above it may import, by their numbers.
    imports: BTreeSet<usize>,
}

/// Everything that is wrong, a line or some for each.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(root.join(BOOK)).with_context(|| format!("cannot read {BOOK}"))?;
    let modules = Modules::read(root, &crates(root)?)?;
    found(&table(&text)?, &modules)
}

/// The crates whose modules have layers: the name in code and the directory of each.
fn crates(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let directory = |package: &cargo_metadata::Package| {
        let directory = package.manifest_path.parent()?.as_std_path().strip_prefix(root).ok()?;
        directory.starts_with("crates").then(|| (package.name.replace('-', "_"), directory.to_owned()))
    };
    Ok(metadata.packages.iter().filter_map(directory).collect())
}

fn found(layers: &[Layer], modules: &Modules) -> Result<Vec<String>> {
    let imports: Vec<Import> = modules.imports().into_iter().filter(|import| !import.handed_on).collect();
    let mut wrong = missing(layers, modules);
    let mut unplaced = BTreeSet::new();
    for import in &imports {
        match (layer(layers, &import.from), layer(layers, &import.to)) {
            (Some(from), Some(to)) if from == to || layers[from].imports.contains(&to) => {}
            (Some(from), Some(to)) => wrong.push(format!(
                "{}:{}: {} may not import {}: {} of {}",
                import.from.display(),
                import.line,
                layers[from].name,
                layers[to].name,
                import.name,
                import.to.display()
            )),
            (from, _) => drop(unplaced.insert(if from.is_none() { &import.from } else { &import.to })),
        }
    }
    wrong.extend(unplaced.iter().map(|file| format!("{}: it is in no layer of {BOOK}", file.display())));
    wrong.extend(circles(&imports));
    Ok(wrong)
}

/// Paths of the table at which nothing is any more.
fn missing(layers: &[Layer], modules: &Modules) -> Vec<String> {
    let paths = layers.iter().flat_map(|layer| &layer.paths);
    let gone = paths.filter(|path| !modules.files().any(|file| file.starts_with(path)));
    gone.map(|path| format!("{BOOK}: there is no '{}'", path.display())).collect()
}

/// The layer of a file: the row with the longest path that leads to it.
fn layer(layers: &[Layer], file: &Path) -> Option<usize> {
    let rows = layers.iter().enumerate();
    let paths = rows
        .flat_map(|(at, layer)| layer.paths.iter().map(move |path| (path.components().count(), at, path)));
    paths.filter(|(.., path)| file.starts_with(path)).max().map(|(_, at, _)| at)
}

/// The table of a text.
fn table(text: &str) -> Result<Vec<Layer>> {
    let mut rows =
        text.lines().skip_while(|line| *line != HEADER).skip(2).take_while(|line| line.starts_with('|'));
    let mut layers: Vec<Layer> = Vec::new();
    rows.try_for_each(|row| -> Result<()> {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, paths, imports] = cells.as_slice() else {
            bail!("{BOOK}: a row of three cells is: {row}")
        };
        let named = |import: &str| {
            let at = layers.iter().position(|layer| layer.name == import);
            at.with_context(|| format!("{BOOK}: {name} imports '{import}', which is no row above it"))
        };
        let imports = match *imports {
            NOTHING => BTreeSet::new(),
            ALL_ABOVE => (0..layers.len()).collect(),
            names => names.split(',').map(|import| named(import.trim())).collect::<Result<_>>()?,
        };
        // Every second part stands between two backticks.
        let paths = paths.split('`').skip(1).step_by(2).map(PathBuf::from).collect();
        layers.push(Layer { name: (*name).to_owned(), paths, imports });
        Ok(())
    })?;
    ensure!(!layers.is_empty(), "{BOOK}: there is no table that begins with '{HEADER}'");
    Ok(layers)
}

/// Files of one crate that import each other, with the imports that tie them.
fn circles(imports: &[Import]) -> Vec<String> {
    let within: Vec<&Import> = imports.iter().filter(|import| import.within).collect();
    let mut behind: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for import in &within {
        behind.entry(&import.from).or_default().insert(&import.to);
    }
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        behind.keys().map(|file| (*file, reachable(file, &behind))).collect();
    let both = |a: &Path, b: &Path| {
        let leads = |a, b| reached.get(a).is_some_and(|all| all.contains(b));
        leads(a, b) && leads(b, a)
    };
    let mut circles: BTreeSet<Vec<&Path>> = BTreeSet::new();
    for file in reached.keys().filter(|file| both(file, file)) {
        circles.insert(reached.keys().copied().filter(|other| both(file, other)).collect());
    }
    let told =
        |circle: &Vec<&Path>| {
            let mut lines = vec![format!("a circle of {} files that import each other:", circle.len())];
            let tie = |import: &&&Import| {
                circle.contains(&import.from.as_path()) && circle.contains(&import.to.as_path())
            };
            lines.extend(within.iter().filter(tie).map(|it| {
                format!("  {}:{}: {} of {}", it.from.display(), it.line, it.name, it.to.display())
            }));
            lines.join("\n")
        };
    circles.iter().map(told).collect()
}

fn reachable<'a>(from: &'a Path, behind: &BTreeMap<&'a Path, BTreeSet<&'a Path>>) -> BTreeSet<&'a Path> {
    let mut found = BTreeSet::new();
    let mut next = vec![from];
    while let Some(file) = next.pop() {
        next.extend(behind.get(file).into_iter().flatten().copied().filter(|to| found.insert(*to)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "words\n\n| Layer | Files | May import |\n|---|---|---|\n\
                         | base | `crates/a/src/base.rs`, `crates/a/src/face` | nothing |\n\
                         | top | `crates/a/src/top.rs`, `crates/b` | base |\n";

    /// What is wrong with crates of these files.
    fn wrong(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let crates = ["a", "b"].map(|name| (name.to_owned(), Path::new("crates").join(name)));
        found(&table(TABLE).unwrap(), &Modules::read(root.path(), &crates).unwrap()).unwrap()
    }

    /// Two layers and a folder with a face, which hands on what its module defines.
    fn house(base: &str, top: &str) -> Vec<String> {
        wrong(&[
            ("crates/a/src/lib.rs", "pub mod base;\npub mod face;\npub mod top;\n"),
            ("crates/a/src/base.rs", base),
            ("crates/a/src/top.rs", top),
            ("crates/a/src/face/mod.rs", "mod inner;\npub use inner::Inner;\n"),
            ("crates/a/src/face/inner.rs", "pub struct Inner;\n"),
            ("crates/b/src/lib.rs", ""),
        ])
    }

    #[test]
    fn imports_along_the_table_are_right() {
        assert_eq!(house("pub struct Base;", "use crate::base::Base;\nuse crate::face::Inner;"), [""; 0]);
    }

    #[test]
    fn an_import_against_the_table_is_found_with_its_line() {
        let found = house("//! Doc.\n\nuse crate::top::Top;", "pub struct Top;");
        assert_eq!(found, ["crates/a/src/base.rs:3: base may not import top: Top of crates/a/src/top.rs"]);
        // Without a `use`, in a macro, in an attribute, of another crate.
        let path = house("fn f() {\n    let _ = crate::top::g();\n}", "pub fn g() {}");
        assert!(path[0].starts_with("crates/a/src/base.rs:2: base may not import top: g"), "{path:?}");
        let module =
            house("use crate::top;\n\nfn f() {\n    println!(\"{}\", top::G);\n}", "pub const G: u8 = 1;");
        assert!(module[0].starts_with("crates/a/src/base.rs:4: base may not import top: G"), "{module:?}");
        let attribute = house("#[serde(with = \"crate::top::g\")]\nstruct S;", "pub fn g() {}");
        assert!(attribute[0].starts_with("crates/a/src/base.rs:1: "), "{attribute:?}");
        let other = wrong(&[
            ("crates/a/src/lib.rs", "pub mod base;"),
            ("crates/a/src/base.rs", "use b::Theirs;"),
            ("crates/b/src/lib.rs", "pub struct Theirs;"),
        ]);
        assert!(other.iter().any(|line| line.contains("Theirs of crates/b/src/lib.rs")), "{other:?}");
    }

    #[test]
    fn a_name_counts_where_it_is_defined_however_it_is_handed_on() {
        // The face of `face` is of the layer below; what it hands on is of the layer above.
        let found = wrong(&[
            ("crates/a/src/lib.rs", "pub mod base;\nmod face;\nmod top;"),
            ("crates/a/src/base.rs", "use crate::face::Renamed;"),
            ("crates/a/src/face/mod.rs", "pub use crate::face::inner::*;\nmod inner;"),
            ("crates/a/src/face/inner.rs", "pub use crate::top::Top as Renamed;"),
            ("crates/a/src/top.rs", "pub struct Top;"),
            ("crates/b/src/lib.rs", ""),
        ]);
        assert!(found[0].starts_with("crates/a/src/base.rs:1: base may not import top: Top"), "{found:?}");
        assert!(found[1].starts_with("crates/a/src/face/inner.rs:1: base may not import top"), "{found:?}");
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn what_only_tests_import_is_left_out() {
        let base = "#[cfg(test)]\nuse crate::top::Top;\n#[cfg(all(test, unix))]\nmod tests { use crate::top::Top; }\n\
                    #[test]\nfn t() { crate::top::f(); }";
        assert_eq!(house(base, "pub struct Top;\npub fn f() {}"), [""; 0]);
        assert_eq!(house("#[cfg(not(test))]\nuse crate::top::Top;", "pub struct Top;").len(), 1);
    }

    #[test]
    fn a_circle_of_files_is_found_within_a_layer_too() {
        let around = |face: &str, inner: &str| {
            wrong(&[
                ("crates/a/src/lib.rs", "mod base;\npub mod face;\nmod top;"),
                ("crates/a/src/base.rs", ""),
                ("crates/a/src/top.rs", ""),
                ("crates/a/src/face/mod.rs", face),
                ("crates/a/src/face/inner.rs", inner),
                ("crates/b/src/lib.rs", ""),
            ])
        };
        let inner = "pub fn inner() {\n    let _ = super::Face;\n}";
        let circle = around("mod inner;\npub struct Face;\npub fn f() {\n    inner::inner();\n}", inner);
        assert_eq!(
            circle,
            ["a circle of 2 files that import each other:\n  \
              crates/a/src/face/inner.rs:2: Face of crates/a/src/face/mod.rs\n  \
              crates/a/src/face/mod.rs:4: inner of crates/a/src/face/inner.rs"]
        );
        // Handing on a name is no import, using what is handed on is one.
        assert_eq!(around("mod inner;\npub use inner::inner;\npub struct Face;", inner), [""; 0]);
        let used = around("mod inner;\npub use inner::inner;\npub struct Face;\nfn f() { inner(); }", inner);
        assert_eq!(used.len(), 1, "{used:?}");
    }

    #[test]
    fn a_table_names_rows_above_and_paths_that_are_there() {
        assert!(table("no table").is_err());
        let upwards = TABLE.replace("| nothing |", "| top |");
        assert!(table(&upwards).unwrap_err().to_string().contains("'top', which is no row above it"));
        let gone = wrong(&[("crates/a/src/lib.rs", "mod base;"), ("crates/a/src/base.rs", "")]);
        assert!(gone.iter().any(|line| line.ends_with("there is no 'crates/a/src/top.rs'")), "{gone:?}");
        let unplaced = wrong(&[
            ("crates/a/src/lib.rs", "mod base;\nmod odd;\nmod top;\nmod face;"),
            ("crates/a/src/base.rs", "pub struct Base;"),
            ("crates/a/src/odd.rs", "use crate::base::Base;"),
            ("crates/a/src/top.rs", ""),
            ("crates/a/src/face.rs", ""),
            ("crates/b/src/lib.rs", ""),
        ]);
        assert!(unplaced.iter().any(|line| line.starts_with("crates/a/src/odd.rs: it is in no layer")));
    }
}
