//! `command:WORDS`: the worker behind any program that starts another one: taskset, chroot, nsenter, docker run.

use std::process::Command;

use whyfaster_words::exit::Failure;

use super::guest::{Asked, Guest, Kind, Options, directory, write};
use super::process::Start;
use super::workers;

pub(super) static KIND: Kind = Kind {
    word: "command",
    form: ":WORDS",
    help: "behind a launcher such as taskset, chroot or docker run, where '{}' stands for the worker's path, which otherwise comes last",
    needs: "a program that starts another one",
    read: |text| {
        shell_words::split(text).map(shell_words::join).map_err(|error| format!("'{text}': {error}"))
    },
    open,
};

/// `{}` is replaced by the path of the worker, `{name}` by its name without directories; without either the path comes last.
fn open(asked: &Asked, options: &Options) -> Result<Guest, Failure> {
    let directory = directory()?;
    let path = directory.path().join("worker");
    write(&path, &workers::own_or_given(options)?, 0o755)?;
    // Whoever the launcher becomes must get to the worker.
    workers::open_to_all(directory.path())?;
    let path = path.to_string_lossy().into_owned();
    let name = directory.path().file_name().unwrap_or_default().to_string_lossy().into_owned() + "/worker";
    let words = shell_words::split(&asked.behind).unwrap_or_default();
    let placed = words.iter().any(|word| word.contains("{}") || word.contains("{name}"));
    let mut words: Vec<String> =
        words.iter().map(|word| word.replace("{}", &path).replace("{name}", &name)).collect();
    if !placed {
        words.push(path);
    }
    let launcher = words.remove(0);
    let mechanism = format!("behind '{launcher}'");
    let guest = Guest::new(asked, options, move |plan, _| {
        let _worker = &directory;
        let mut command = Command::new(&launcher);
        command.args(&words);
        Ok(Some(Start::new(command, format!("'{launcher}'"), plan)))
    });
    Ok(Guest { mechanism, own_kernel: true, ..guest })
}
