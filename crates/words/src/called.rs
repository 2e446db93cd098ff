//! What alternatives are called, in sentences and tables alike: a name is never cut.

use whyfaster_core::plan::Alternative;
use whyfaster_core::short::width;

/// The longest command line that is a name of its own.
const COMMAND: usize = 20;
/// The longest name that was given and is used as it is.
const GIVEN: usize = 28;

/// The letter of an alternative by its place, from Z on its number, for where there is no room for its name.
pub fn letter(at: usize) -> String {
    let letter = u8::try_from(at).ok().filter(|at| *at < 26).map(|at| char::from(b'A' + at));
    letter.map_or_else(|| (at + 1).to_string(), String::from)
}

/// What each alternative is called: by its name or its short command line, or by a letter, for which a legend is needed. Where
/// one command line without a name is too long, all of them have letters.
pub fn labels(alternatives: &[Alternative]) -> Vec<String> {
    let long = alternatives.iter().any(|it| !named(it) && width(&it.name) > COMMAND);
    let lettered =
        |it: &Alternative| it.name.is_empty() || if named(it) { width(&it.name) > GIVEN } else { long };
    let label = |(at, it): (usize, &Alternative)| if lettered(it) { letter(at) } else { it.name.clone() };
    apart(alternatives.iter().enumerate().map(label).collect())
}

/// The labels, or letters for all of them where two are alike.
pub fn apart(labels: Vec<String>) -> Vec<String> {
    let alike = labels.iter().enumerate().any(|(at, it)| it.is_empty() || labels[..at].contains(it));
    if alike { (0..labels.len()).map(letter).collect() } else { labels }
}

/// Whether somebody gave it a name. Records of earlier versions do not say so.
pub fn named(it: &Alternative) -> bool {
    it.given_name.is_some() || !it.name.starts_with(&it.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_commands_have_letters() {
        let long = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done";
        let mut all = ["true", long, long].map(Alternative::new);
        (all[2].name, all[2].given_name) = ("loop".to_owned(), Some("loop".to_owned()));
        assert_eq!(labels(&all), ["A", "B", "loop"]);
        assert_eq!(labels(&["true", "sleep 0.01"].map(Alternative::new)), ["true", "sleep 0.01"]);
        all[2].name = "A".to_owned();
        assert_eq!(labels(&all), ["A", "B", "C"], "a name that is a letter already");
        all[2].name = "x".repeat(29);
        assert_eq!(labels(&all)[2], "C");
        let many = vec![Alternative::new(long); 28];
        assert_eq!(labels(&many)[25..], ["Z", "27", "28"]);
    }
}
