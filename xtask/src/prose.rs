//! English in core: statements are kinds with numbers there, and `words/` makes the text. A string of three words or more is
//! English; the text of an error, of an assertion and of documentation may be.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, LitStr};

/// The crates that hold no English. What may be left out is in the first.
const CORE: &str = "crates/core/src";
const STATS: &str = "crates/stats/src";
/// So many words are a sentence, or the beginning of one.
const WORDS: usize = 3;
/// Most places that may be left out.
const MOST_ALLOWED: usize = 20;

/// Where English stands all the same, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("record.rs", "errors: why a record is refused"),
    ("validate.rs", "errors: why a number is refused"),
    ("why/stored.rs", "errors: why a stored explanation is refused"),
    ("why/experiments", "command lines that a change is made of"),
    ("why/causes/small_io.rs", "a command line that a change is made of"),
    ("price/check.rs", "errors: why a price list is refused"),
    ("trace/record.rs", "errors: why a trace is refused"),
    ("trace/stored", "errors: why a stored stream is refused"),
    ("trace/stacks.rs", "errors: why stored stacks are refused"),
    ("studied.rs", "errors: why what a study knows is refused"),
    ("host.rs", "the name of a fact that could not be read, as records have it"),
    ("trace/assemble.rs", "names in the place of a command's, with their kind beside them"),
    ("trace/searches.rs", "a name in the place of a path that was not read"),
    ("trace/report/accounts.rs", "names of what a task did; the explanation still takes them from here"),
];

/// Macros whose text nobody reads unless the program is wrong.
const ASSERTIONS: [&str; 7] =
    ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "panic", "unreachable"];

/// A string that says something.
#[derive(Debug, PartialEq, Eq)]
struct Sentence {
    line: usize,
    text: String,
}

/// What is wrong: English that is not allowed, and allowances that nothing needs.
pub(crate) fn wrong(root: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut used = vec![false; ALLOWED.len()];
    let mut files = Vec::new();
    for directory in [CORE, STATS] {
        collect(root, &root.join(directory), &mut files)?;
    }
    for file in files {
        let sentences = sentences(&fs::read_to_string(root.join(&file))?)
            .with_context(|| format!("cannot understand '{}'", file.display()))?;
        let allowed = ALLOWED.iter().position(|(place, _)| file.starts_with(Path::new(CORE).join(place)));
        match allowed {
            Some(place) => used[place] |= !sentences.is_empty(),
            None => wrong.extend(sentences.iter().map(|it| {
                format!("{}:{}: English belongs in words/: {:?}", file.display(), it.line, it.text)
            })),
        }
    }
    let idle = ALLOWED.iter().zip(used).filter(|(_, used)| !used);
    wrong
        .extend(idle.map(|((place, _), _)| format!("{place} has no English any more: take it off the list")));
    if ALLOWED.len() > MOST_ALLOWED {
        wrong.push(format!("{} places may hold English, at most {MOST_ALLOWED} should", ALLOWED.len()));
    }
    Ok(wrong)
}

/// All files of a directory that are not tests by their name.
pub(crate) fn collect(root: &Path, directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read '{}'", directory.display()))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name == "tests" || name.ends_with("_tests") || name == "fixture" {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path.strip_prefix(root)?.to_owned());
        }
    }
    files.sort();
    Ok(())
}

/// The sentences of a source file.
fn sentences(source: &str) -> syn::Result<Vec<Sentence>> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(source)?);
    Ok(reader.sentences)
}

#[derive(Default)]
struct Reader {
    sentences: Vec<Sentence>,
}

impl Reader {
    fn text(&mut self, literal: &LitStr) {
        let text = literal.value();
        if words(&text) >= WORDS {
            self.sentences.push(Sentence { line: literal.span().start().line, text });
        }
    }

    /// The strings among the arguments of a macro, which are no expressions to the parser.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut attribute = false;
        for token in tokens {
            // Documentation is an attribute here, too.
            let within_attribute = std::mem::replace(
                &mut attribute,
                matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#'),
            );
            match token {
                TokenTree::Group(_) if within_attribute => {}
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(literal) = syn::parse2::<LitStr>(TokenTree::from(literal).into()) {
                        self.text(&literal);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(it) => &it.attrs,
            Item::Mod(it) => &it.attrs,
            Item::Impl(it) => &it.attrs,
            Item::Const(it) => &it.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !attributes.iter().any(of_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {
        // Documentation, the messages of errors, reasons of lints.
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        match call.method == "expect" || call.method == "expect_err" {
            true => self.visit_expr(&call.receiver),
            false => visit::visit_expr_method_call(self, call),
        }
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        let name = called.path.segments.last().map(|segment| segment.ident.to_string());
        if !name.is_some_and(|name| ASSERTIONS.contains(&name.as_str())) {
            self.tokens(called.tokens.clone());
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast LitStr) {
        self.text(literal);
    }
}

pub(crate) fn of_tests(attribute: &Attribute) -> bool {
    let test = |text: &str| text == "test" || text.ends_with("(test)");
    attribute.path().is_ident("test")
        || attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| test(&list.tokens.to_string()))
}

/// How many words there are. What is put in for a placeholder is none.
fn words(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Vec<String> {
        sentences(source).unwrap().into_iter().map(|it| it.text).collect()
    }

    #[test]
    fn a_planted_sentence_is_found_wherever_it_stands() {
        let plain = r#"fn f() -> &'static str { "less work was done" }"#;
        assert_eq!(sentences(plain).unwrap(), [Sentence { line: 1, text: "less work was done".to_owned() }]);
        let formatted = "fn f(n: u32) -> String {\n    format!(\"{n} of the rounds\")\n}";
        assert_eq!(sentences(formatted).unwrap()[0].line, 2);
        assert_eq!(found(r#"const WHY: [&str; 1] = ["it never ran"];"#), ["it never ran"]);
        assert_eq!(found(r#"impl A { fn f() { g(vec!["one two three"; 2]) } }"#), ["one two three"]);
    }

    #[test]
    fn names_and_short_texts_are_no_sentences() {
        assert_eq!(
            found(r#"const A: &[&str] = &["clock_nanosleep", "per cent", "{a} {b} {c}", "1 2 3"];"#),
            [""; 0]
        );
    }

    #[test]
    fn errors_documentation_assertions_and_tests_may_speak() {
        for source in [
            "/// Says what it is.\nfn f() {}",
            r#"#[derive(Error)] enum E { #[error("the list is empty")] Empty }"#,
            r#"fn f() { assert!(true, "this can not be"); unreachable!("it is never here") }"#,
            r#"fn f() { Some(1).expect("it was put there"); }"#,
            "#[cfg(test)]\nmod tests { const A: &str = \"this is a test\"; }",
            "#[test]\nfn f() { g(\"this is a test\") }",
            "made! {\n    /// Says what it is.\n    Kind,\n}",
        ] {
            assert_eq!(found(source), [""; 0], "{source}");
        }
        // What is asserted on is code.
        assert_eq!(found(r#"fn f() { f("is this seen").expect("it is well known"); }"#), ["is this seen"]);
    }
}
