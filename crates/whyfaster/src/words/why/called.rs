//! How sentences call alternatives.

use whyfaster_core::plan::Plan;
use whyfaster_core::short;

use super::numbers::quoted;

/// The names of alternatives, with how sentences call them.
pub(super) struct Called(Vec<(String, String)>);

impl Called {
    pub(super) fn new(plan: &Plan) -> Self {
        let names = plan.alternatives.iter().enumerate();
        Self(names.map(|(at, it)| (it.name.clone(), label(plan, at))).collect())
    }

    /// How sentences call the alternative of this name.
    pub(super) fn of(&self, name: &str) -> String {
        let known = self.0.iter().find(|(known, _)| known == name);
        known.map_or_else(|| quoted(name), |(_, label)| label.clone())
    }
}

/// By its name or command line, of which what all alternatives have in common is left out where it is long; by its number
/// where what differs is long itself.
fn label(plan: &Plan, index: usize) -> String {
    numbered(plan, index).unwrap_or_else(|number| number)
}

/// The label; the error is a number, which says nothing of the command line.
fn numbered(plan: &Plan, index: usize) -> Result<String, String> {
    /// It may stand several times in one sentence.
    const SHORT: usize = 28;
    let all = plan.alternatives.iter();
    let names: Vec<&str> = all.map(|it| it.given_name.as_deref().unwrap_or(&it.name)).collect();
    let cut = short::apart(&names, SHORT, "...");
    match (cut.get(index), plan.alternatives.get(index).and_then(|it| it.given_name.as_deref())) {
        (Some(cut), _) if cut.whole => Ok(format!("'{}'", cut.text)),
        (_, Some(given)) => Ok(quoted(given)),
        _ => Err(format!("command {}", index + 1)),
    }
}

/// The number by which sentences call an alternative, if they do.
pub fn number(plan: &Plan, index: usize) -> Option<String> {
    numbered(plan, index).err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyfaster_core::plan::Alternative;

    #[test]
    fn alternatives_have_short_labels() {
        let long = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done";
        let plan = |lines| Plan::new(<[&str; 3]>::map(lines, Alternative::new).to_vec(), 1);
        let mut named = plan(["true", long, long]);
        named.alternatives[2].given_name = Some("loop".to_owned());
        assert_eq!([0, 1, 2].map(|i| label(&named, i)), ["'true'", "command 2", "'loop'"]);
        assert_eq!([0, 1, 2].map(|i| number(&named, i)), [None, Some("command 2".to_owned()), None]);
        let alike = plan(
            [1, 20, 300]
                .map(|n| format!("seq 100 | xargs -n {n} /bin/true > /dev/null"))
                .each_ref()
                .map(String::as_str),
        );
        let expected =
            ["'seq 100 | xargs ... 1 ...'", "'seq 100 | xargs ... 20 ...'", "'seq 100 | xargs ... 300 ...'"];
        assert_eq!([0, 1, 2].map(|i| label(&alike, i)), expected);
    }
}
