//! Commands, names, parameters and hooks to the alternatives of a plan. A step of the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{Metadata, metadata};
use std::os::unix::fs::MetadataExt;

use whyfaster_core::plan::{Alternative, Output};
use whyfaster_words::exit::Failure;

use super::args::HyperfineArgs;
use super::output_policy;
use super::parameters::{self, MAX_VALUES, Parameter, mentions, substitute};

/// An alternative before parameters are put in.
struct Draft<'a> {
    name: Option<&'a str>,
    command: &'a str,
    parameters: BTreeMap<String, String>,
}

impl Draft<'_> {
    /// Puts the parameters into the text of an option. The reference has no parameters: where its text mentions one of `names`, nothing could be put in.
    fn put_in(&self, names: &BTreeSet<String>, option: &str, text: &str) -> Result<String, Failure> {
        let lacks = |name: &&String| !self.parameters.contains_key(*name) && mentions(text, name);
        let Some(name) = names.iter().find(lacks) else { return Ok(substitute(text, &self.parameters)) };
        let hint = match option {
            "--reference" | "--reference-name" => {
                format!("Write a value in place of {{{name}}}: the parameters are for the other commands.")
            }
            "--setup" | "--cleanup" => {
                format!(
                    "Leave out --reference: then {{{name}}} has a value for each command, and the first one is the baseline."
                )
            }
            _ => format!(
                "Give {option} once for each command, first for the reference and without {{{name}}}."
            ),
        };
        Err(Failure::usage(
            format!("{option} '{text}' mentions {{{name}}}, and the reference has no value for it"),
            hint,
        ))
    }
}

/// The alternatives in their order: the reference if there is one, then the commands.
pub(super) fn resolve(commands: &[String], args: &HyperfineArgs) -> Result<Vec<Alternative>, Failure> {
    let mut drafts = Vec::new();
    if let Some(command) = &args.reference {
        drafts.push(Draft { name: args.reference_name.as_deref(), command, parameters: BTreeMap::new() });
    }
    if let Some(words) = &args.parameter_scan {
        drafts.extend(scanned(commands, args, words)?);
    } else if !args.parameter_list.is_empty() {
        drafts.extend(listed(commands, args)?);
    } else {
        drafts.extend(plain(commands, args)?);
    }
    complete(drafts, args)
}

fn plain<'a>(commands: &'a [String], args: &'a HyperfineArgs) -> Result<Vec<Draft<'a>>, Failure> {
    let names = &args.command_name;
    if names.len() > commands.len() {
        return Err(Failure::usage(
            format!("--command-name is given {} times for {} command(s)", names.len(), commands.len()),
            "Give at most one name for each command; the reference is named with --reference-name.",
        )
        .in_hyperfine("Too many --command-name options"));
    }
    let draft = |(i, command): (usize, &'a String)| Draft {
        name: names.get(i).map(String::as_str),
        command,
        parameters: BTreeMap::new(),
    };
    Ok(commands.iter().enumerate().map(draft).collect())
}

/// hyperfine's order: for every value all commands.
fn scanned<'a>(
    commands: &'a [String],
    args: &'a HyperfineArgs,
    words: &[String],
) -> Result<Vec<Draft<'a>>, Failure> {
    let [name, min, max] = words else {
        return Err(Failure::usage(
            "--parameter-scan takes a name and two bounds",
            "Write: --parameter-scan VAR MIN MAX",
        ));
    };
    let parameter = parameters::scan(name, min, max, args.parameter_step_size.as_deref())?;
    let pairs =
        parameter.values.iter().flat_map(|value| commands.iter().map(move |command| (value, command)));
    let drafts = pairs.enumerate().map(|(i, (value, command))| Draft {
        name: name_of(&args.command_name, i),
        command,
        parameters: BTreeMap::from([(name.clone(), value.clone())]),
    });
    limited(drafts.take(MAX_VALUES + 1).collect(), args)
}

/// hyperfine's order: the command changes fastest, then the first parameter, then the second, and so on.
fn listed<'a>(commands: &'a [String], args: &'a HyperfineArgs) -> Result<Vec<Draft<'a>>, Failure> {
    let parameters = parameters::lists(&args.parameter_list)?;
    let sizes = parameters.iter().map(|p| p.values.len());
    let total = sizes.fold(commands.len(), usize::saturating_mul);
    let drafts = (0..total.min(MAX_VALUES + 1)).map(|i| Draft {
        name: name_of(&args.command_name, i),
        command: &commands[i % commands.len()],
        parameters: combination(&parameters, i / commands.len()),
    });
    limited(drafts.collect(), args)
}

/// The combination with this number; the first parameter is the lowest digit.
fn combination(parameters: &[Parameter], mut number: usize) -> BTreeMap<String, String> {
    let mut chosen = BTreeMap::new();
    for parameter in parameters {
        let size = parameter.values.len();
        chosen.insert(parameter.name.clone(), parameter.values[number % size].clone());
        number /= size;
    }
    chosen
}

/// With parameters one name holds for all alternatives.
fn name_of(names: &[String], index: usize) -> Option<&str> {
    names.get(index).or(names.first()).map(String::as_str)
}

fn limited<'a>(drafts: Vec<Draft<'a>>, args: &HyperfineArgs) -> Result<Vec<Draft<'a>>, Failure> {
    if drafts.len() > MAX_VALUES {
        return Err(Failure::usage(
            format!("the parameters make more than {MAX_VALUES} alternatives"),
            "Give fewer values, or a larger --parameter-step-size.",
        ));
    }
    let names = args.command_name.len();
    if names > 1 && names != drafts.len() {
        return Err(Failure::usage(
            format!("--command-name is given {names} times for {} alternatives", drafts.len()),
            "With parameters give it once for all (it may hold '{VAR}'), or once for each alternative.",
        ));
    }
    Ok(drafts)
}

/// Puts parameters in and adds hooks, environment, outputs and unique names.
fn complete(drafts: Vec<Draft<'_>>, args: &HyperfineArgs) -> Result<Vec<Alternative>, Failure> {
    let total = drafts.len();
    let prepare = Shared::new("--prepare", &args.prepare, total)?;
    let conclude = Shared::new("--conclude", &args.conclude, total)?;
    let output = Shared::new("--output", &args.output, total)?;
    let environments: Vec<BTreeMap<String, String>> =
        args.start.env.iter().map(|text| output_policy::environment(text)).collect::<Result<_, _>>()?;
    let env = Shared::new("--env", &environments, total)?;

    let names: BTreeSet<String> = drafts.iter().flat_map(|draft| draft.parameters.keys().cloned()).collect();
    let mut taken = BTreeSet::new();
    let mut alternatives = Vec::with_capacity(total);
    for (i, draft) in drafts.into_iter().enumerate() {
        let put_in = |option: &str, text: &str| draft.put_in(&names, option, text);
        let command = put_in("--reference", draft.command)?;
        if command.trim().is_empty() {
            return Err(Failure::usage(format!("command {} is empty", i + 1), "Give a command line to run."));
        }
        let given_name = draft.name.map(|name| put_in("--reference-name", name)).transpose()?;
        let env = env.of(i);
        let filled = |(name, value): (&String, &String)| -> Result<(String, String), Failure> {
            Ok((name.clone(), put_in("--env", value)?))
        };
        let name = given_name.as_deref().unwrap_or(&command);
        let name = unique(&mut taken, shown_name(name, &draft, env));
        let hook = |option: &str, line: Option<&String>| line.map(|line| put_in(option, line)).transpose();
        alternatives.push(Alternative {
            name,
            given_name,
            setup: hook("--setup", args.setup.as_ref())?,
            prepare: hook("--prepare", prepare.of(i))?,
            conclude: hook("--conclude", conclude.of(i))?,
            cleanup: hook("--cleanup", args.cleanup.as_ref())?,
            output: match output.of(i) {
                _ if args.show_output => Output::Inherit,
                Some(word) => output_policy::output(&put_in("--output", word)?)?,
                None => Output::Auto,
            },
            env: env.into_iter().flatten().map(filled).collect::<Result<_, Failure>>()?,
            named_bytes: named_bytes(&command),
            command,
            parameters: draft.parameters,
        });
    }
    Ok(alternatives)
}

/// Bytes of the files that a command line names, behind `<` too, without its programs.
fn named_bytes(command: &str) -> Option<u64> {
    let words: BTreeSet<String> = shell_words::split(&command.replace('<', " ")).ok()?.into_iter().collect();
    let data = |file: &Metadata| file.is_file() && file.mode() & 0o111 == 0;
    let files = words.iter().filter_map(|word| metadata(word).ok()).filter(data);
    Some(files.map(|file| file.len()).sum()).filter(|bytes| *bytes > 0)
}

/// An option that is given once for all alternatives or once for each.
struct Shared<'a, T>(&'a [T]);

impl<'a, T> Shared<'a, T> {
    fn new(option: &str, values: &'a [T], total: usize) -> Result<Self, Failure> {
        if values.len() > 1 && values.len() != total {
            return Err(Failure::usage(
                format!("{option} is given {} times for {total} alternative(s)", values.len()),
                "Give it once for all, or once for each in their order (a reference stands first).",
            )
            .in_hyperfine(format!(
                "The '{option}' option has to be provided just once or N times, where N={total}"
            )));
        }
        Ok(Self(values))
    }

    fn of(&self, index: usize) -> Option<&'a T> {
        if self.0.len() == 1 { self.0.first() } else { self.0.get(index) }
    }
}

/// The name with those parameters that neither the command line nor its environment mentions, as hyperfine shows it.
fn shown_name(name: &str, draft: &Draft<'_>, env: Option<&BTreeMap<String, String>>) -> String {
    let in_env =
        |parameter: &str| env.is_some_and(|env| env.values().any(|value| mentions(value, parameter)));
    let unused: Vec<String> = draft
        .parameters
        .iter()
        .filter(|(parameter, _)| !mentions(draft.command, parameter) && !in_env(parameter))
        .map(|(parameter, value)| format!("{parameter} = {value}"))
        .collect();
    if unused.is_empty() { name.to_owned() } else { format!("{name} ({})", unused.join(", ")) }
}

fn unique(taken: &mut BTreeSet<String>, name: String) -> String {
    let numbered = (2_u64..).map(|n| format!("{name} ({n})"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|candidate| !taken.contains(candidate));
    let free = free.unwrap_or(name);
    taken.insert(free.clone());
    free
}
