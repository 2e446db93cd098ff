//! Who imports whom: the modules of the crates as the compiler finds them, and every name that one file takes from another.
//!
//! A name counts for the file that defines it, through however many `pub use` it comes. What a file hands on of its own
//! submodules (`pub use child::Name`) is no import as long as it does not use the name itself. Code that only tests see
//! (`#[cfg(test)]`, `#[test]`) is left out. Methods are not followed: their types are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Item, UseTree};

/// One file takes a name from another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    /// The file that imports, below the root of the repository.
    pub(crate) from: PathBuf,
    /// The file that defines the name.
    pub(crate) to: PathBuf,
    /// The line in `from`.
    pub(crate) line: usize,
    /// What is imported.
    pub(crate) name: String,
    /// Both are of one crate.
    pub(crate) within: bool,
    /// It is only handed on to others, by the module above it.
    pub(crate) handed_on: bool,
}

/// A path in the code.
#[derive(Debug)]
struct Mention {
    segments: Vec<String>,
    line: usize,
    /// The name that a `pub use` gives it.
    public: Option<String>,
}

/// One file.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    krate: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Names that are defined here.
    items: BTreeSet<String>,
    /// Names that a `use` brings here, with what they stand for.
    bound: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    mentions: Vec<Mention>,
    /// Words that stand alone or begin a path, outside of `use`.
    used: BTreeSet<String>,
}

/// All files of the crates, below the root of the repository.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    modules: Vec<Module>,
    /// The library of each crate, by its name in code.
    roots: BTreeMap<String, usize>,
}

impl Modules {
    /// Reads crates: the name in code and the directory of each.
    pub(crate) fn read(root: &Path, crates: &[(String, PathBuf)]) -> Result<Self> {
        let mut all = Self::default();
        for (name, directory) in crates {
            let source = directory.join("src");
            let library = source.join("lib.rs");
            if root.join(&library).exists() {
                let at = all.file(root, &library, name, None)?;
                all.roots.insert(name.clone(), at);
            }
            let program = source.join("main.rs");
            if root.join(&program).exists() {
                all.file(root, &program, name, None)?;
            }
        }
        Ok(all)
    }

    /// Every file that was read.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.modules.iter().map(|module| module.file.as_path())
    }

    /// Every import of another file, each name once a file.
    pub(crate) fn imports(&self) -> Vec<Import> {
        let mut imports: BTreeMap<(PathBuf, PathBuf, String), Import> = BTreeMap::new();
        for (at, module) in self.modules.iter().enumerate() {
            for mention in &module.mentions {
                let Some((to, name)) = self.defines(at, &mention.segments, 0) else { continue };
                let target = &self.modules[to];
                let Some(name) = name.filter(|_| target.file != module.file) else { continue };
                let unused = mention.public.as_ref().is_some_and(|name| !module.used.contains(name));
                let import = Import {
                    from: module.file.clone(),
                    to: target.file.clone(),
                    line: mention.line,
                    name: name.clone(),
                    within: target.krate == module.krate,
                    handed_on: unused && self.is_below(to, at),
                };
                let known = imports.entry((import.from.clone(), import.to.clone(), name)).or_insert(import);
                known.handed_on &= unused && self.is_below(to, at);
            }
        }
        imports.into_values().collect()
    }

    /// Reads a file and all files that it declares as modules.
    fn file(&mut self, root: &Path, file: &Path, krate: &str, parent: Option<usize>) -> Result<usize> {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("cannot read '{}'", file.display()))?;
        let parsed =
            syn::parse_file(&text).with_context(|| format!("cannot understand '{}'", file.display()))?;
        let mut reader = Reader::default();
        reader.visit_file(&parsed);
        let at = self.modules.len();
        let Reader { module, declared } = reader;
        self.modules.push(Module { file: file.to_owned(), krate: krate.to_owned(), parent, ..module });
        let directory = directory(file);
        for name in declared {
            let candidates = [directory.join(format!("{name}.rs")), directory.join(&name).join("mod.rs")];
            let Some(child) = candidates.iter().find(|path| root.join(path).exists()) else {
                bail!("'{}' declares a module '{name}' that has no file", file.display());
            };
            let child = self.file(root, child, krate, Some(at))?;
            self.modules[at].children.insert(name, child);
        }
        Ok(at)
    }

    /// Where a path that stands in a module leads: the module, and the name in it; `None` as name: the module itself.
    fn defines(&self, from: usize, path: &[String], depth: usize) -> Option<(usize, Option<String>)> {
        // Names that are brought in by each other in a circle lead nowhere.
        if depth > 16 {
            return None;
        }
        let (mut at, mut rest) = self.first(from, path)?;
        while let Some((name, behind)) = rest.split_first() {
            let module = &self.modules[at];
            if let Some(child) = module.children.get(name) {
                (at, rest) = (*child, behind);
                continue;
            }
            if module.items.contains(name) {
                return Some((at, Some(name.clone())));
            }
            if let Some(bound) = module.bound.get(name).filter(|bound| at != from || *bound != path) {
                match self.defines(at, bound, depth + 1)? {
                    (module, None) => (at, rest) = (module, behind),
                    found => return Some(found),
                }
                continue;
            }
            let through = |glob: &Vec<String>| {
                let path: Vec<String> = glob.iter().chain([name]).cloned().collect();
                self.defines(at, &path, depth + 1)
            };
            return module.globs.iter().filter(|_| rest.len() < path.len()).find_map(through);
        }
        Some((at, None))
    }

    /// The module in which a path begins, and what of the path is left.
    fn first<'a>(&self, from: usize, path: &'a [String]) -> Option<(usize, &'a [String])> {
        let (first, mut rest) = path.split_first()?;
        let module = &self.modules[from];
        let mut at = from;
        match first.as_str() {
            "crate" => {
                while let Some(parent) = self.modules[at].parent {
                    at = parent;
                }
            }
            "self" => {}
            "super" => {
                at = module.parent?;
                while rest.first().is_some_and(|next| next == "super") {
                    (at, rest) = (self.modules[at].parent?, &rest[1..]);
                }
            }
            name if module.children.contains_key(name) || module.bound.contains_key(name) => rest = path,
            name => at = *self.roots.get(name)?,
        }
        Some((at, rest))
    }

    fn is_below(&self, module: usize, above: usize) -> bool {
        std::iter::successors(self.modules[module].parent, |at| self.modules[*at].parent)
            .any(|at| at == above)
    }
}

/// Where the files of a module's own modules are.
fn directory(file: &Path) -> PathBuf {
    match file.file_name().and_then(|name| name.to_str()) {
        Some("lib.rs" | "main.rs" | "mod.rs") => file.parent().unwrap_or(file).to_owned(),
        _ => file.with_extension(""),
    }
}

/// Collects what a file says.
#[derive(Debug, Default)]
struct Reader {
    module: Module,
    /// Modules that are files of their own.
    declared: Vec<String>,
}

impl Reader {
    fn mention(&mut self, segments: Vec<String>, line: usize, public: Option<String>) {
        if segments.len() > 1 {
            self.module.mentions.push(Mention { segments, line, public });
        }
    }

    /// The names of a `use`. `before`: the segments that stand before this tree.
    fn names(&mut self, tree: &UseTree, before: &[String], public: bool) {
        let with = |ident: &Ident| before.iter().cloned().chain([ident.to_string()]).collect::<Vec<_>>();
        let (path, name) = match tree {
            UseTree::Path(path) => return self.names(&path.tree, &with(&path.ident), public),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.names(tree, before, public));
            }
            UseTree::Glob(_) => return self.module.globs.push(before.to_owned()),
            UseTree::Name(name) if name.ident == "self" => {
                (before.to_owned(), before.last().cloned().unwrap_or_default())
            }
            UseTree::Name(name) => (with(&name.ident), name.ident.to_string()),
            UseTree::Rename(rename) if rename.ident == "self" => {
                (before.to_owned(), rename.rename.to_string())
            }
            UseTree::Rename(rename) => (with(&rename.ident), rename.rename.to_string()),
        };
        self.mention(path.clone(), tree.span().start().line, public.then(|| name.clone()));
        self.module.bound.insert(name, path);
    }

    /// A path among tokens is over.
    fn ends(&mut self, path: &mut Vec<String>, line: usize) {
        self.module.used.extend(path.first().cloned());
        self.mention(std::mem::take(path), line, None);
    }

    /// Paths among the tokens of a macro or an attribute, and in their texts (`#[serde(with = "a::b")]`).
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        // 0: a word may begin a path; 1 and 2: so many colons stand behind the word.
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons < 2 {
                        self.ends(&mut path, line);
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(mut text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        text.set_span(literal.span());
                        text.parse().iter().for_each(|path| self.visit_path(path));
                    }
                }
                TokenTree::Punct(_) => {}
            }
            self.ends(&mut path, line);
            colons = 0;
        }
        self.ends(&mut path, line);
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_file(&mut self, file: &'ast syn::File) {
        if !file.attrs.iter().any(only_tests) {
            file.items.iter().for_each(|item| {
                let (attributes, name) = head(item);
                if let Some(name) = name.filter(|_| !attributes.iter().any(only_tests)) {
                    self.module.items.insert(name.to_string());
                }
            });
            visit::visit_file(self, file);
        }
    }

    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, _) = head(item);
        if attributes.iter().any(only_tests) {
            return;
        }
        match item {
            Item::Mod(module) if module.content.is_none() => {
                self.module.items.remove(&module.ident.to_string());
                self.declared.push(module.ident.to_string());
            }
            Item::Use(it) => {
                let public = !matches!(it.vis, syn::Visibility::Inherited);
                self.names(&it.tree, &[], public);
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !function.attrs.iter().any(only_tests) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.module.used.extend(segments.first().cloned());
        self.mention(segments, path.span().start().line, None);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        self.visit_path(&it.path);
        self.tokens(it.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }
}

/// Whether only tests see what carries this attribute: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, ...))]`.
fn only_tests(attribute: &Attribute) -> bool {
    fn needs_test(tokens: TokenStream) -> bool {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        match tokens.as_slice() {
            [TokenTree::Ident(word)] => word == "test",
            [TokenTree::Ident(word), TokenTree::Group(group)] if word == "all" => {
                let parts: Vec<TokenTree> = group.stream().into_iter().collect();
                parts
                    .split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','))
                    .any(|part| needs_test(part.iter().cloned().collect()))
            }
            _ => false,
        }
    }
    let path = attribute.path();
    match &attribute.meta {
        syn::Meta::List(list) if path.is_ident("cfg") => needs_test(list.tokens.clone()),
        _ => path.is_ident("test"),
    }
}

/// The attributes of an item, and the name that it defines.
fn head(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(it) => (&it.attrs[..], Some(&it.ident)),
        Item::Enum(it) => (&it.attrs[..], Some(&it.ident)),
        Item::Fn(it) => (&it.attrs[..], Some(&it.sig.ident)),
        Item::Macro(it) => (&it.attrs[..], it.ident.as_ref()),
        Item::Mod(it) => (&it.attrs[..], Some(&it.ident)),
        Item::Static(it) => (&it.attrs[..], Some(&it.ident)),
        Item::Struct(it) => (&it.attrs[..], Some(&it.ident)),
        Item::Trait(it) => (&it.attrs[..], Some(&it.ident)),
        Item::Type(it) => (&it.attrs[..], Some(&it.ident)),
        Item::Union(it) => (&it.attrs[..], Some(&it.ident)),
        Item::Impl(it) => (&it.attrs[..], None),
        Item::Use(it) => (&it.attrs[..], None),
        _ => (&[][..], None),
    }
}
