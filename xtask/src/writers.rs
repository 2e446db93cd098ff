//! Lists the places that make, change or remove files, and those that use root's rights to files. Outputs of the user go through
//! `crates/store/src/atomic.rs`, which holds their places from the start. Every other place is listed here with its reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, ItemUse, Lit, UseName, UseRename, UseTree};

use crate::prose::{collect, of_tests};

/// The crates of the program. Build scripts and tests may write anywhere.
const CRATES: &str = "crates";

/// Functions that make, change or remove what has a name, by the last parts of their paths.
const WRITERS: &[&str] = &[
    "File::create",
    "File::create_new",
    "fs::write",
    "fs::copy",
    "fs::create_dir",
    "fs::create_dir_all",
    "fs::remove_file",
    "fs::remove_dir",
    "fs::remove_dir_all",
    "fs::rename",
    "fs::hard_link",
    "fs::set_permissions",
    "fs::symlink",
    "fs::chown",
    "fs::lchown",
    "DirBuilder::new",
    "tempfile::Builder::new",
    "tempfile::tempdir",
    "tempfile::tempfile",
    "fs::openat",
    "fs::linkat",
    "fs::renameat",
    "fs::unlinkat",
    "fs::mkdirat",
    "fs::symlinkat",
    "fs::chmod",
    "libc::chown",
    "libc::chmod",
    "OFlags::CREATE",
    "OFlags::TMPFILE",
    "libc::O_CREAT",
];

/// Methods of options for opening that let a file be written.
const OPTIONS: [&str; 5] = ["write", "append", "create", "create_new", "truncate"];

/// The other places that write files, each with its reason.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/store/src/atomic.rs", "the one way in which outputs are written"),
    ("crates/store/src/place.rs", "follows the path of an output, and holds its directory"),
    ("crates/store/src/recent.rs", "the records that are kept: in a directory that nobody else can exchange"),
    ("crates/store/src/scratch.rs", "a directory of our own, in one in which nobody else can exchange it"),
    (
        "crates/store/src/database/sqlite.rs",
        "makes a store in a directory that is held; SQLite opens it by path, with the caller's rights",
    ),
    ("crates/trace/src/boot.rs", "a directory of this user's alone, below /run for root"),
    ("crates/run/src/elsewhere/collection.rs", "the directory of a fleet run, when root is given up"),
    ("crates/run/src/elsewhere/far.rs", "the directory of a run on another machine, which is that run's own"),
    (
        "crates/run/src/inside",
        "a scratch directory and the cache of kernels and workers, when root is given up",
    ),
    (
        "crates/run/src/ladder/mod.rs",
        "a scratch directory, when root is given up; no file that was there is opened",
    ),
    ("crates/run/src/launcher/mod.rs", "--output of the commands: opened with their user's rights"),
    ("crates/run/src/output_check.rs", "a file without a name"),
    ("crates/run/src/probe/worker.rs", "the worker, in a scratch directory"),
    ("crates/run/src/real.rs", "/proc/sys/vm/drop_caches"),
    ("crates/run/src/terminal.rs", "/dev/tty"),
    ("crates/whyfaster/src/cmd/elsewhere.rs", "the directory of a fleet run, when root is given up"),
    (
        "crates/whyfaster/src/cmd/fleet/files.rs",
        "the directory of --export-prometheus, when root is given up",
    ),
    (
        "crates/whyfaster/src/cmd/study/commands.rs",
        "the directory of --flamegraphs, with the caller's rights before anything runs",
    ),
    (
        "crates/whyfaster/src/cmd/there.rs",
        "the record of a run on another machine, in that run's own directory",
    ),
    ("crates/whyfaster/src/study/place.rs", "a file system that root mounts in a directory of its own"),
    ("crates/whyfaster/src/study/workdir.rs", "the input of a study, with the caller's rights"),
];

/// The function that lends root's rights to files.
const AS_ROOT: &str = "with_root";

/// The places that use root's rights to files, each with its files. The caller cannot exchange their names.
const ROOTS: &[(&str, &str)] = &[
    ("crates/trace/src/boot.rs", "/run, or root's directory in /tmp"),
    ("crates/trace/src/full/found.rs", "/proc: what the tasks of other users have open"),
    ("crates/trace/src/full/trial.rs", "/run and /proc/self/exe"),
    ("crates/whyfaster/src/study/place.rs", "/run, loop devices, and the file system that is mounted there"),
];

/// Lists writers and users of root's rights that are on no list, and entries that nothing needs.
pub(crate) fn wrong(root: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(CRATES)).with_context(|| format!("cannot read '{CRATES}'"))? {
        let sources = entry?.path().join("src");
        if sources.is_dir() {
            collect(root, &sources, &mut files)?;
        }
    }
    let mut found = Vec::new();
    for file in files {
        let source = fs::read_to_string(root.join(&file))?;
        let calls = calls(&source).with_context(|| format!("cannot understand '{}'", file.display()))?;
        found.extend(calls.into_iter().map(|call| (file.clone(), call)));
    }
    Ok(judged(&found, ALLOWED, ROOTS))
}

fn judged(found: &[(PathBuf, Call)], allowed: &[(&str, &str)], roots: &[(&str, &str)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for (file, Call { line, name }) in found {
        let (list, why) = match name == AS_ROOT {
            true => (roots, "uses root's rights to files"),
            false => (allowed, "writes files: outputs go through OutputFile of crates/store/src/atomic.rs"),
        };
        match list.iter().find(|(place, _)| file.starts_with(place)) {
            Some((place, _)) => drop(used.insert((name == AS_ROOT, *place))),
            None => wrong
                .push(format!("{}:{line}: {name} {why}; or list it in xtask/src/writers.rs", file.display())),
        }
    }
    let listed =
        allowed.iter().map(|(place, _)| (false, *place)).chain(roots.iter().map(|(place, _)| (true, *place)));
    let idle = listed.filter(|entry| !used.contains(entry));
    wrong.extend(idle.map(|(_, place)| format!("xtask/src/writers.rs: {place} needs its entry no more")));
    wrong
}

/// A call that writes, or that uses root's rights.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    line: usize,
    name: String,
}

fn calls(source: &str) -> syn::Result<Vec<Call>> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(source)?);
    Ok(reader.calls)
}

#[derive(Default)]
struct Reader {
    calls: Vec<Call>,
}

impl Reader {
    /// Notes the path if it leads to a writer, or to what lends root's rights.
    fn note(&mut self, parts: &[String], line: usize) {
        let whole = parts.join("::");
        let writes = |writer: &&&str| whole == **writer || whole.ends_with(&format!("::{writer}"));
        let name = match parts.last() {
            Some(last) if last == AS_ROOT => Some(AS_ROOT),
            _ => WRITERS.iter().find(writes).copied(),
        };
        self.calls.extend(name.map(|name| Call { line, name: name.to_owned() }));
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Fn(it) => &it.attrs,
            Item::Mod(it) => &it.attrs,
            Item::Impl(it) => &it.attrs,
            _ => &[],
        };
        if !attributes.iter().any(of_tests) {
            visit::visit_item(self, item);
        }
    }

    /// Counts imports, because an imported function is called by its bare name.
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut trees = vec![(Vec::new(), &item.tree)];
        while let Some((mut path, tree)) = trees.pop() {
            match tree {
                UseTree::Path(it) => {
                    path.push(it.ident.to_string());
                    trees.push((path, &it.tree));
                }
                UseTree::Group(it) => trees.extend(it.items.iter().map(|tree| (path.clone(), tree))),
                UseTree::Name(UseName { ident }) | UseTree::Rename(UseRename { ident, .. }) => {
                    path.push(ident.to_string());
                    self.note(&path, ident.span().start().line);
                }
                UseTree::Glob(_) => {}
            }
        }
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let parts: Vec<String> = path.path.segments.iter().map(|part| part.ident.to_string()).collect();
        if let Some(last) = path.path.segments.last() {
            self.note(&parts, last.ident.span().start().line);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let set = |argument: &Expr| matches!(argument, Expr::Lit(it) if matches!(&it.lit, Lit::Bool(value) if value.value));
        if OPTIONS.iter().any(|name| call.method == name) && call.args.iter().any(set) {
            let name = format!("{}(true)", call.method);
            self.calls.push(Call { line: call.method.span().start().line, name });
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str) -> Vec<String> {
        calls(source).unwrap().into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn writers_are_found_however_they_are_called() {
        let source = "fn f() { std::fs::write(p, b).and_then(fs::remove_file); File::options().read(true).write(true); }";
        assert_eq!(names(source), ["fs::write", "fs::remove_file", "write(true)"]);
        assert_eq!(names("use rustix::fs::{Mode, openat as o}; use std::fs;"), ["fs::openat"]);
        assert_eq!(names("fn f() { rights::with_root(|| fs::chown(p, u, g)) }"), ["with_root", "fs::chown"]);
    }

    #[test]
    fn readers_and_tests_are_none() {
        for source in [
            "fn f() { File::open(p); File::options().read(true); out.write(bytes); }",
            "#[cfg(test)]\nmod tests { fn f() { fs::write(p, b); } }",
            "#[test]\nfn f() { fs::write(p, b); }",
        ] {
            assert_eq!(names(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn a_writer_is_listed_or_wrong_and_a_list_has_no_idle_entry() {
        let call = |name: &str| (PathBuf::from("crates/a/src/b.rs"), Call { line: 3, name: name.to_owned() });
        let found = [call("fs::write"), call(AS_ROOT)];
        let (b, a) = (("crates/a/src/b.rs", "reason"), ("crates/a", "reason"));
        assert_eq!(judged(&found, &[b], &[a]), [""; 0]);
        let wrong = judged(&found, &[], &[a]);
        assert!(
            wrong.len() == 1 && wrong[0].starts_with("crates/a/src/b.rs:3: fs::write writes"),
            "{wrong:?}"
        );
        assert!(judged(&found, &[b], &[])[0].contains("root's rights"));
        assert_eq!(judged(&found[..1], &[b], &[a]).len(), 1, "nobody uses root's rights");
    }
}
