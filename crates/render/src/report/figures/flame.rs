//! Where the code was found, as blocks below each other: commands, and the functions that they were in by who called whom. Of two
//! alternatives, both and their difference.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::{Value, json};
use whyfaster_core::trace::report::{Code, Sampled, SampledRow, WorkKind};
use whyfaster_core::why::report::SideStacks;
use whyfaster_words::clean::clean;
use whyfaster_words::text::beginning;
use whyfaster_words::units::{count, percent};

use super::super::svg::{Picture, Px, WIDTH, advance};
use whyfaster_stats::order::largest_first;

const ROW: f64 = 24.0;
const TOP: f64 = 4.0;
/// Blocks narrower than this are drawn by scripts only, when somebody looks closer.
const LEAST: f64 = 1.0;

/// Samples at a place and below it: of the one and of the other.
#[derive(Debug, Default)]
pub(in super::super) struct Node {
    samples: [f64; 2],
    below: BTreeMap<String, Node>,
}

impl Node {
    fn add(&mut self, path: &[String], side: usize, samples: f64) {
        self.samples[side] += samples;
        if let Some((first, rest)) = path.split_first() {
            self.below.entry(first.clone()).or_default().add(rest, side, samples);
        }
    }

    fn value(&self, name: &str) -> Value {
        let below: Vec<Value> = self.ordered().iter().map(|(name, node)| node.value(name)).collect();
        json!({ "n": name, "v": self.samples, "c": below })
    }

    /// The largest first.
    fn ordered(&self) -> Vec<(&str, &Node)> {
        let mut below: Vec<(&str, &Node)> =
            self.below.iter().map(|(name, node)| (name.as_str(), node)).collect();
        let all = |node: &Node| node.samples[0] + node.samples[1];
        largest_first(&mut below, |it| all(it.1));
        below
    }

    /// Rows of blocks that are wide enough to be drawn.
    fn depth(&self, view: View, scale: f64) -> usize {
        let drawn = |below: &&Node| view.of(below) * scale >= LEAST;
        1 + self.below.values().filter(drawn).map(|below| below.depth(view, scale)).max().unwrap_or(0)
    }
}

/// Samples by the blocks that they are in, the uppermost first.
pub(in super::super) type Rows = Vec<(Vec<String>, f64)>;

/// The samples of one or two sides.
pub(in super::super) fn tree(sides: &[Rows]) -> Node {
    let mut root = Node::default();
    for (side, rows) in sides.iter().enumerate().take(2) {
        for (path, samples) in rows {
            root.add(path, side, *samples);
        }
    }
    root
}

/// Samples a run by whole stacks.
pub(in super::super) fn of_stacks(side: &SideStacks) -> Rows {
    let runs = f64::from(side.runs.max(1));
    let of = |row: &whyfaster_core::trace::stacks::StackRow| {
        let (first, last) = match row.kind {
            Some(WorkKind::User) => (None, None),
            Some(WorkKind::Startup) => (Some(WorkKind::Startup.words()), None),
            Some(WorkKind::Lock) => (None, Some("waits for a lock")),
            Some(kind) => (None, Some(kind.words())),
            None => (None, Some("in a system call")),
        };
        let frames = side.stacks.frames(row).map(function);
        let path = std::iter::once(clean(&row.command)).chain(first.map(str::to_owned)).chain(frames);
        (path.chain(last.map(str::to_owned)).collect(), row.samples as f64 / runs)
    };
    let mut rows: Rows = side.stacks.stacks.iter().map(of).collect();
    if side.stacks.left_out_samples > 0 {
        rows.push((vec!["(stacks of few samples)".to_owned()], side.stacks.left_out_samples as f64 / runs));
    }
    rows
}

/// Samples a run of records without stacks: command, what it did, what called, function.
pub(in super::super) fn of_functions(runs: &[&Sampled]) -> Rows {
    let of = |row: &SampledRow| {
        let (kind, from) = (row.kind.words().to_owned(), row.code.called_from.as_deref().map(clean));
        let path = [Some(clean(&row.command)), Some(kind), from, Some(function(&row.code))];
        (path.into_iter().flatten().collect(), row.samples as f64 / runs.len().max(1) as f64)
    };
    runs.iter().flat_map(|it| &it.functions).map(of).collect()
}

fn function(code: &Code) -> String {
    let file = code.file.as_deref().map(|file| clean(file.rsplit('/').next().unwrap_or(file)));
    match (&code.symbol, file) {
        (Some(symbol), _) => clean(symbol),
        (None, Some(file)) => format!("[{file}]"),
        (None, None) => "[made at run time]".to_owned(),
    }
}

/// What scripts draw.
pub(in super::super) fn plot(root: &Node, names: &[String], unit: &str) -> Value {
    json!({ "kind": "flame", "names": names, "unit": unit, "root": root.value("all") })
}

/// What a picture shows: one side, or where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum View {
    Side(usize),
    Difference,
}

/// A difference below this part of both is none that a colour or a mark would tell.
const EQUAL: f64 = 0.1;

impl View {
    /// How wide a block is.
    fn of(self, node: &Node) -> f64 {
        match self {
            Self::Side(side) => node.samples.get(side).copied().unwrap_or(0.0),
            Self::Difference => node.samples.iter().sum(),
        }
    }

    /// Its class of colour, and the mark that says the same: which side has more of it.
    fn paint(self, node: &Node, depth: usize) -> (String, &'static str) {
        let [first, second] = node.samples;
        let lean = (first - second) / (first + second).max(1e-9);
        let (class, mark) = match self {
            Self::Side(_) => return (format!("block b{}", depth % 4), ""),
            Self::Difference if depth == 0 || lean.abs() < EQUAL => ("k-block", ""),
            Self::Difference if lean > 0.0 => ("k-none", "+"),
            Self::Difference => ("k-user", "\u{2212}"),
        };
        (format!("block {class}"), mark)
    }

    /// How many samples a block has.
    fn samples(self, node: &Node, root: &Node) -> String {
        let of = |side: usize| {
            let (here, all) = (node.samples[side], root.samples[side].max(1e-9));
            format!("{} samples, {}", count(here.round()), percent(here / all))
        };
        match self {
            Self::Side(side) => of(side),
            Self::Difference => format!("{}; {}", of(0), of(1)),
        }
    }
}

/// The picture of one side, or of the difference.
pub(in super::super) fn picture(root: &Node, view: View, title: String) -> Option<Picture> {
    let all = view.of(root);
    if all <= 0.0 {
        return None;
    }
    let scale = (WIDTH - 8.0) / all;
    let height = TOP + ROW * root.depth(view, scale) as f64;
    let mut said: Vec<String> = Vec::new();
    for (name, node) in root.ordered().into_iter().take(4) {
        said.push(format!("{name} {}", percent(view.of(node) / all)));
    }
    let drawing = Drawing { root, view, scale };
    let body = html! { (drawing.block("all", root, (4.0, 0))) };
    Some(Picture { title, text: said.join(", "), height: height + 4.0, body })
}

struct Drawing<'a> {
    root: &'a Node,
    view: View,
    scale: f64,
}

impl Drawing<'_> {
    fn block(&self, name: &str, node: &Node, (x, depth): (f64, usize)) -> Markup {
        let Self { root, view, scale } = *self;
        let wide = view.of(node) * scale;
        let y = TOP + ROW * depth as f64;
        let (class, mark) = view.paint(node, depth);
        let mut from = x;
        html! {
            @if wide >= LEAST {
                rect class=(class) x=(Px(x)) width=(Px((wide - 1.0).max(0.6))) y=(Px(y)) height=(Px(ROW - 2.0)) {
                    title { (name) ": " (view.samples(node, root)) }
                }
                @if wide > 40.0 {
                    text class="inside" x=(Px(x + 4.0)) y=(Px(y + 15.0)) {
                        (beginning(&format!("{mark}{name}"), ((wide - 8.0) / 7.2) as usize, true))
                    }
                }
                @for (name, below) in node.ordered() {
                    @let here = advance(&mut from, view.of(below) * scale);
                    (self.block(name, below, (here, depth + 1)))
                }
            }
        }
    }
}
