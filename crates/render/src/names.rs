//! What the alternatives are called on a screen, and what these names stand for.

use whyfaster_core::plan::Alternative;
use whyfaster_core::short;
use whyfaster_words::called::{apart, labels, letter, named};
use whyfaster_words::clean::{clean, command};
use whyfaster_words::look::Look;
use whyfaster_words::text::{for_look, gap, isolated, width, wrap};

/// The names of the alternatives as they are shown: safe, distinct and whole.
#[derive(Clone, Debug)]
pub struct Names {
    names: Vec<(String, String)>,
}

impl Names {
    /// What these alternatives are called.
    pub fn of(alternatives: &[Alternative], look: &Look) -> Self {
        // A column of names leaves room for numbers, also on a narrow screen.
        let room = look.width / 3;
        let safe = |(at, label): (usize, &String)| {
            if width(label) > room { letter(at) } else { for_look(label, look) }
        };
        let safe = labels(alternatives).iter().enumerate().map(safe).collect();
        let shown = apart(safe).into_iter().map(isolated);
        Self { names: alternatives.iter().map(|it| it.name.clone()).zip(shown).collect() }
    }

    /// The shown form of a name; a name that is not among the alternatives is made safe and shown whole.
    pub fn show(&self, name: &str) -> String {
        let known = self.names.iter().find(|(full, _)| full == name);
        known.map_or_else(|| clean(name), |(_, shown)| shown.clone())
    }

    /// The shown form of the name at this place.
    pub fn at(&self, index: usize) -> Option<String> {
        self.names.get(index).map(|(_, shown)| shown.clone())
    }

    /// Whether the text begins with a shown name.
    pub fn begins(&self, text: &str) -> bool {
        self.names.iter().any(|(_, shown)| text.starts_with(shown.as_str()))
    }
}

/// What a name stands for: the command line, with the parameters that it does not show where it was given no name.
fn meant(it: &Alternative) -> &str {
    if named(it) { &it.command } else { &it.name }
}

/// What these names stand for, where they are not the command lines themselves; each command in at most so many lines.
pub(super) fn legend(of: &[&Alternative], names: &Names, look: &Look, lines: usize) -> Vec<String> {
    if of.iter().all(|it| names.show(&it.name) == meant(it)) {
        return Vec::new();
    }
    let widest = of.iter().map(|it| width(&names.show(&it.name))).max().unwrap_or(0);
    let room = look.width.saturating_sub(widest + 4);
    let commands: Vec<String> = of.iter().map(|it| for_look(&command(meant(it)), look)).collect();
    let known: Vec<&str> = commands.iter().map(String::as_str).collect();
    let cut = short::apart(&known, room, gap(look.unicode));
    let mut legend = Vec::new();
    for ((it, command), cut) in of.iter().zip(&known).zip(cut) {
        let wrapped = wrap(command, room, 0);
        let fits = wrapped.len() <= lines && wrapped.iter().all(|line| width(line) <= room);
        let text = if fits { wrapped } else { vec![cut.text] };
        for (at, line) in text.into_iter().map(isolated).enumerate() {
            let name = if at == 0 { names.show(&it.name) } else { String::new() };
            let pad = " ".repeat(widest - width(&name));
            legend.push(format!("  {name}{pad}  {line}").trim_end().to_owned());
        }
    }
    legend
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;

    #[test]
    fn a_legend_tells_apart_what_parameters_tell_apart() {
        let of = |branch: &str| Alternative {
            name: format!("sh main.sh (branch = {branch})"),
            ..Alternative::new("sh main.sh")
        };
        let (all, look) = ([of("main"), of("fast")], look(80, true));
        let lines = legend(&[&all[0], &all[1]], &Names::of(&all, &look), &look, 1);
        assert_eq!(lines, ["  A  sh main.sh (branch = main)", "  B  sh main.sh (branch = fast)"]);
    }

    #[test]
    fn names_stay_distinct() {
        let shown = |full: [&str; 2], unicode| {
            let names = Names::of(&full.map(Alternative::new), &look(80, unicode));
            full.map(|name| names.show(name))
        };
        assert_eq!(shown(["日", "本"], true), ["日", "本"]);
        assert_eq!(shown(["日", "本"], false), ["A", "B"]);
        assert_eq!(shown(["gzip --keep -1 input.txt", "true"], true), ["A", "B"]);
    }
}
