//! The commands of the book run, as they stand there. A block that is run follows a comment on a line of its own:
//!
//! ```text
//! <!-- run -->                                    the commands succeed
//! <!-- run status 3 -->                           the last one ends with 3
//! <!-- run says "faster" "why: " -->              what is printed has these words; that of the book has them too
//! ```
//!
//! Lines that begin with `$ ` are commands, lines below one that begin with `> ` continue it, all others are what was printed once.
//! The blocks of a page run one after the other in one directory. Times are never compared.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{PROGRAM, Sandbox};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src");

/// All of them together, on a quiet machine; the harness bounds each on a busy one.
const PATIENCE: Duration = Duration::from_secs(600);

/// A block that is to be run.
#[derive(Debug)]
struct Block {
    line: usize,
    commands: Vec<String>,
    printed: String,
    status: i32,
    says: Vec<String>,
}

/// The blocks of a page.
fn blocks(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let asked = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at, line.strip_prefix("<!-- run")?.strip_suffix("-->")?)));
    asked.map(|(at, asked)| block(&lines, at, asked)).collect()
}

fn block(lines: &[&str], at: usize, asked: &str) -> Block {
    let words = shell_words::split(asked).unwrap();
    let mut words = words.iter();
    let (mut status, mut says) = (0, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "status" => status = words.next().unwrap().parse().unwrap(),
            "says" => says = words.by_ref().cloned().collect(),
            other => panic!("line {}: '{other}' is neither status nor says", at + 1),
        }
    }
    let fence = lines[at + 1..].iter().position(|line| line.starts_with("```console")).unwrap() + at + 1;
    assert_eq!(fence, at + 1, "line {}: no ```console block follows", at + 1);
    let body = lines[fence + 1..].iter().take_while(|line| !line.starts_with("```"));
    let (mut commands, mut printed): (Vec<String>, String) = (Vec::new(), String::new());
    for line in body {
        match (line.strip_prefix("$ "), line.strip_prefix("> "), commands.last_mut()) {
            (Some(command), ..) => commands.push(command.to_owned()),
            (None, Some(more), Some(command)) => *command += &format!("\n{more}"),
            _ => printed += &format!("{line}\n"),
        }
    }
    Block { line: fence + 1, commands, printed, status, says }
}

/// Runs the blocks of a page in a directory of its own, in which `whyfaster` is the program that was built.
fn run(page: &Path, blocks: &[Block]) {
    let place = Sandbox::new();
    fs::create_dir(place.path("bin")).unwrap();
    symlink(PROGRAM, place.path("bin/whyfaster")).unwrap();
    let path = format!("{}:{}", place.file("bin"), std::env::var("PATH").unwrap_or_default());
    for block in blocks {
        let mut said = String::new();
        for (at, command) in block.commands.iter().enumerate() {
            let mut shell = place.command("sh", &["-c", command]);
            shell.env("PATH", &path);
            let ran = place.finish(shell);
            let wanted = if at + 1 == block.commands.len() { block.status } else { 0 };
            assert_eq!(
                ran.code(),
                wanted,
                "{page:?}, line {}: {command}\n{}{}",
                block.line,
                ran.err,
                ran.out
            );
            said += &ran.flowing();
            said += " ";
        }
        let printed = block.printed.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in &block.says {
            assert!(said.contains(words.as_str()), "{page:?}, line {}: no '{words}': {said}", block.line);
            assert!(
                printed.contains(words.as_str()),
                "{page:?}, line {}: no '{words}' in the book",
                block.line
            );
        }
    }
}

#[test]
fn the_commands_of_the_book_run() {
    let began = Instant::now();
    let mut count = 0;
    for entry in fs::read_dir(BOOK).unwrap() {
        let page = entry.unwrap().path();
        if page.extension().is_none_or(|it| it != "md") {
            continue;
        }
        let blocks = blocks(&fs::read_to_string(&page).unwrap());
        count += blocks.len();
        if !blocks.is_empty() {
            run(&page, &blocks);
        }
    }
    assert!(count >= 8, "only {count} blocks of the book are run");
    assert!(began.elapsed() < PATIENCE, "they take {:?}", began.elapsed());
}

#[test]
fn a_block_is_read_as_it_is_written() {
    let text = "<!-- run status 3 says \"a b\" c -->\n```console\n$ one\n> two\nout a b\n$ three\nc\n```\n";
    let blocks = blocks(text);
    let only = &blocks[0];
    assert_eq!(only.commands, ["one\ntwo", "three"]);
    assert_eq!((only.printed.as_str(), only.status), ("out a b\nc\n", 3));
    assert_eq!((only.says.clone(), only.line), (vec!["a b".to_owned(), "c".to_owned()], 2));
}
