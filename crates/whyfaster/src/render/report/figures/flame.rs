//! Where the code was found, as blocks below each other: commands, who called, functions. Of two alternatives, both and their difference.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::{Value, json};
use whyfaster_core::trace::report::{Sampled, SampledRow};

use super::super::super::text::beginning;
use super::super::super::units::{count, percent};
use super::super::svg::{Picture, Px, WIDTH, advance};
use crate::clean::clean;

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
        below.sort_by(|a, b| all(b.1).total_cmp(&all(a.1)));
        below
    }

    fn depth(&self) -> usize {
        1 + self.below.values().map(Node::depth).max().unwrap_or(0)
    }
}

/// The samples of one or two sides, each over so many runs.
pub(in super::super) fn tree(sides: &[(&[&Sampled], f64)]) -> Node {
    let mut root = Node::default();
    for (side, (sampled, runs)) in sides.iter().enumerate().take(2) {
        for row in sampled.iter().flat_map(|it| &it.functions) {
            root.add(&path(row), side, row.samples as f64 / runs.max(1.0));
        }
    }
    root
}

/// Command, what called, function.
fn path(row: &SampledRow) -> Vec<String> {
    let file = row.code.file.as_deref().map(|file| clean(file.rsplit('/').next().unwrap_or(file)));
    let function = match (&row.code.symbol, &file) {
        (Some(symbol), _) => clean(symbol),
        (None, Some(file)) => format!("[{file}]"),
        (None, None) => "[made at run time]".to_owned(),
    };
    let kind = row.kind.words().to_owned();
    let from = row.code.called_from.as_deref().map(clean);
    [Some(clean(&row.command)), Some(kind), from, Some(function)].into_iter().flatten().collect()
}

/// What scripts draw.
pub(in super::super) fn plot(root: &Node, names: &[String], unit: &str) -> Value {
    json!({ "kind": "flame", "names": names, "unit": unit, "root": root.value("all") })
}

/// The picture of one side.
pub(in super::super) fn picture(root: &Node, side: usize, title: String) -> Option<Picture> {
    let all = root.samples.get(side).copied().filter(|all| *all > 0.0)?;
    let height = TOP + ROW * root.depth() as f64;
    let scale = (WIDTH - 8.0) / all;
    let mut said: Vec<String> = Vec::new();
    for (name, node) in root.ordered().into_iter().take(4) {
        said.push(format!("{name} {}", percent(node.samples[side] / all)));
    }
    let body = html! { (block("all", root, side, (4.0, 0), (scale, all))) };
    Some(Picture { title, text: said.join(", "), height: height + 4.0, body })
}

fn block(name: &str, node: &Node, side: usize, (x, depth): (f64, usize), (scale, all): (f64, f64)) -> Markup {
    let wide = node.samples[side] * scale;
    let y = TOP + ROW * depth as f64;
    let mut from = x;
    html! {
        @if wide >= LEAST {
            rect class={ "block b" (depth % 4) } x=(Px(x)) width=(Px((wide - 1.0).max(0.6))) y=(Px(y)) height=(Px(ROW - 2.0)) {
                title { (name) ": " (count(node.samples[side].round())) " samples, " (percent(node.samples[side] / all)) }
            }
            @if wide > 40.0 {
                text class="inside" x=(Px(x + 4.0)) y=(Px(y + 15.0)) { (beginning(name, ((wide - 8.0) / 7.2) as usize, true)) }
            }
            @for (name, below) in node.ordered() {
                @let here = advance(&mut from, below.samples[side] * scale);
                (block(name, below, side, (here, depth + 1), (scale, all)))
            }
        }
    }
}
