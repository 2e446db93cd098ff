//! A place: some machines, by the words that name them.
//!
//! Each kind is a file and a line in [`PLACES`]. What is no kind is a file with one place a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::iter;
use std::str::FromStr;

use whyfaster_core::fleet::visit::Trouble;
use whyfaster_words::exit::{Exit, Failure};

use super::machine::{Machine, PlaceKind};
use super::{k8s, ray, slurm, ssh};

/// The kinds, in the order of the help.
pub static PLACES: [&PlaceKind; 4] = [&ssh::KIND, &slurm::KIND, &k8s::KIND, &ray::KIND];

/// A place as it was asked for.
#[derive(Clone, Debug)]
pub enum Place {
    /// One of the kinds, and what stands behind the colon.
    Kind(&'static PlaceKind, String),
    /// A file with a place a line.
    File(String),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kind = |word: &str| PLACES.into_iter().find(|kind| kind.word == word);
        let parts = text.split_once(':').and_then(|(word, rest)| Some((word, kind(word)?, rest.trim())));
        match parts {
            Some((word, kind, "")) => Err(format!("'{word}:' needs {}", kind.form)),
            Some((_, kind, rest)) => (kind.read)(rest).map(|()| Self::Kind(kind, rest.to_owned())),
            None if kind(text).is_some() => Err(format!("'{text}' needs ':' and what it is")),
            None if text.is_empty() => Err("it names no place".to_owned()),
            None => Ok(Self::File(text.to_owned())),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind, rest) => write!(f, "{}:{rest}", kind.word),
            Self::File(file) => f.write_str(file),
        }
    }
}

impl Place {
    /// The machines of these places, each with a name of its own. One that is named twice by the same words counts once.
    pub fn machines(places: &[Self]) -> Result<Vec<Machine>, Failure> {
        let mut found: Vec<Machine> = Vec::new();
        for place in places {
            for machine in place.open()? {
                if found.iter().all(|it| it.asked != machine.asked) {
                    found.push(machine);
                }
            }
        }
        let mut taken = BTreeSet::new();
        for machine in &mut found {
            let others = (2..).map(|time: usize| format!("{}-{time}", machine.name));
            let mut names = iter::once(machine.name.clone()).chain(others);
            machine.name = names.find(|name| taken.insert(name.clone())).unwrap_or_default();
        }
        Ok(found)
    }

    /// The machines of a run that is taken up again, each by its name and the words that led to it. One that is not to be had any more is out,
    /// and holds no other. An engine is asked once for all of its machines: it may not answer, or have somebody log in.
    pub fn again(machines: &[(String, String)]) -> Vec<Machine> {
        let mut told = BTreeMap::new();
        let again = |(name, asked): &(String, String)| match asked.parse::<Self>().map(Self::all) {
            Ok(all) => one_again(name, asked, told.entry(all.to_string()).or_insert_with(|| all.open())),
            Err(why) => Machine::lost(name, asked, gone(why)),
        };
        machines.iter().map(again).collect()
    }

    /// All of which its engine tells together with it.
    fn all(self) -> Self {
        match self {
            Self::Kind(kind, rest) => Self::Kind(kind, (kind.all)(&rest)),
            Self::File(file) => Self::File(file),
        }
    }

    fn open(&self) -> Result<Vec<Machine>, Failure> {
        match self {
            Self::Kind(kind, rest) => (kind.machines)(rest),
            Self::File(file) => of_file(file),
        }
    }
}

fn one_again(name: &str, asked: &str, told: &Result<Vec<Machine>, Failure>) -> Machine {
    let trouble = match told {
        Ok(machines) => match machines.iter().find(|it| it.asked == asked) {
            Some(machine) => return machine.clone().called(name),
            None => gone("its engine no longer has it".to_owned()),
        },
        Err(failure) if failure.exit == Exit::Usage => gone(failure.message.clone()),
        Err(failure) => Trouble::Unreachable { said: vec![failure.message.clone()], status: None },
    };
    Machine::lost(name, asked, trouble)
}

fn gone(reason: String) -> Trouble {
    Trouble::Down { state: "gone".to_owned(), reason }
}

/// The machine as its engine tells of it now: a node that broke down would be waited for in vain.
pub(super) fn as_it_is_now(machine: Machine) -> Machine {
    let found = machine.asked.parse::<Place>().ok().and_then(|place| place.open().ok());
    match found.and_then(|mut machines| machines.pop()) {
        // Its job is one of those that were asked for together.
        Some(now) => Machine { out: now.out, ..machine },
        // Who tells of machines does not answer: the next try says why.
        None => machine,
    }
}

/// The places in a file: one a line, `#` begins a comment, and a bare word is a host for ssh.
fn of_file(file: &str) -> Result<Vec<Machine>, Failure> {
    let kinds = PLACES.map(|kind| format!("{}:{}", kind.word, kind.form)).join(", ");
    let text = fs::read_to_string(file).map_err(|error| {
        let message = format!("'{file}' is no place, and as a file with places it cannot be read: {error}");
        Failure::usage(message, format!("a place is {kinds}, or a file with one of them, or a host, a line"))
    })?;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let place = line.parse().and_then(|place| match place {
            // A file in a file could lead in a circle.
            Place::File(host) => format!("ssh:{host}").parse(),
            place => Ok(place),
        });
        let place: Place = place.map_err(|why| {
            Failure::usage(
                format!("'{file}', line {}: {why}", at + 1),
                format!("a line is a host, or one of {kinds}"),
            )
        })?;
        found.extend(place.open()?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_written() {
        for text in
            ["ssh:user@host", "ssh:10.0.0.1", "k8s:bench/pool=a@debian:13+root", "hosts.txt", "./hosts:1"]
        {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        }
        for (text, why) in [
            ("ssh:", "needs HOST"),
            ("ssh", "needs ':'"),
            ("ssh:-oProxyCommand=x", "no host"),
            ("ssh:a b", "no host"),
            ("k8s:all+no", "'+no'"),
            ("", "no place"),
        ] {
            let said = text.parse::<Place>().map(drop).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn an_engine_tells_of_all_its_machines_at_once() {
        for (one, all) in [
            ("ssh:user@host", "ssh:user@host"),
            ("slurm:p:n1", "slurm:p"),
            ("k8s:bench/n1@debian:13+root", "k8s:bench/all@debian:13+root"),
            ("ray:ray://head:10001/10.0.0.2", "ray:ray://head:10001"),
        ] {
            assert_eq!(one.parse::<Place>().unwrap().all().to_string(), all);
        }
    }

    #[test]
    fn a_file_names_a_machine_a_line_and_each_has_a_file_name_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("hosts.txt");
        fs::write(
            &file,
            "# ours\nalpha\n\nssh:beta  # the other\nalpha\nssh:a/b\nssh:a_b\nssh:a_b-2\nssh:.x\n",
        )
        .unwrap();
        let places = [Place::File(file.to_str().unwrap().to_owned()), "ssh:beta".parse().unwrap()];
        let machines = Place::machines(&places).unwrap();
        let names: Vec<&str> = machines.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["alpha", "beta", "a_b", "a_b-2", "a_b-2-2", "_x"]);
        fs::write(&file, "fine\n-oProxyCommand=x\n").unwrap();
        assert!(
            Place::machines(&places).unwrap_err().message.contains("line 2: '-oProxyCommand=x' is no host")
        );
        let again = [("a", "ssh:alpha"), ("b", "k8s:"), ("c", "ssh:beta")];
        let again = Place::again(&again.map(|(name, asked)| (name.to_owned(), asked.to_owned())));
        let stands: Vec<_> = again.iter().map(|it| (it.name.as_str(), it.out.is_some())).collect();
        assert_eq!(stands, [("a", false), ("b", true), ("c", false)]);
        let missing = Place::machines(&["nowhere".parse().unwrap()]).unwrap_err();
        assert!(missing.message.contains("'nowhere' is no place"), "{missing}");
    }
}
