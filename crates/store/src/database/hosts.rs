//! What the machines of a store are called.

use std::collections::{HashMap, HashSet};

use super::open::Database;
use super::trouble::Trouble;

/// A machine: its name, and what tells it from others of that name, if its records say that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Host {
    name: String,
    machine_id: String,
}

/// How much of it is shown. `Chosen` takes the same for a name.
pub(super) const SHOWN: usize = 6;

impl Database {
    /// Every machine by its number.
    pub(super) fn hosts(&mut self) -> Result<HashMap<i64, Host>, Trouble> {
        let mut hosts = HashMap::new();
        self.sql.each("SELECT id, name, machine_id FROM machine", &[], &mut |row| {
            let text = |at: usize| row[at].text().unwrap_or_default().to_owned();
            hosts.insert(row[0].int().unwrap_or_default(), Host { name: text(1), machine_id: text(2) });
        })?;
        Ok(hosts)
    }
}

/// What to call the machines of these states of a fleet: each by its name, and where several in one state have that name, by what tells them
/// apart as well. A machine that is in two states is called the same in both.
pub(super) fn called(hosts: &HashMap<i64, Host>, states: &[Vec<i64>]) -> HashMap<i64, String> {
    let mut shared: HashSet<&str> = HashSet::new();
    for state in states {
        let mut seen = HashSet::new();
        let names = state.iter().filter_map(|id| hosts.get(id)).map(|it| it.name.as_str());
        shared.extend(names.filter(|name| !seen.insert(*name)));
    }
    let name = |Host { name, machine_id }: &Host| match machine_id.get(..SHOWN).unwrap_or(machine_id) {
        short if shared.contains(name.as_str()) && !short.is_empty() => format!("{name} ({short})"),
        _ => name.clone(),
    };
    states.iter().flatten().filter_map(|id| Some((*id, name(hosts.get(id)?)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_of_one_name_are_told_apart_where_a_state_has_both() {
        let host = |name: &str, id: &str| Host { name: name.to_owned(), machine_id: id.to_owned() };
        let hosts = HashMap::from([
            (1, host("n1", "aaaaaaaa")),
            (2, host("n1", "bbbbbbbb")),
            (3, host("n2", "cccccccc")),
            (4, host("n2", "")),
        ]);
        let names = |states: &[&[i64]]| {
            let states: Vec<Vec<i64>> = states.iter().map(|it| it.to_vec()).collect();
            let names = called(&hosts, &states);
            states.concat().iter().map(|id| names[id].clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&[&[1, 3]]), ["n1", "n2"]);
        assert_eq!(names(&[&[1, 2]]), ["n1 (aaaaaa)", "n1 (bbbbbb)"]);
        assert_eq!(names(&[&[3, 4]]), ["n2 (cccccc)", "n2"]);
        // A machine that was set up anew is the one of that name, and a clone that joined it takes nobody's place.
        assert_eq!(names(&[&[1], &[2]]), ["n1", "n1"]);
        assert_eq!(names(&[&[1], &[1, 2]]), ["n1 (aaaaaa)", "n1 (aaaaaa)", "n1 (bbbbbb)"]);
    }
}
