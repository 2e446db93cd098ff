//! Options that name files to be written, made of a registry of those who write them.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueHint, value_parser};
use whyfaster_words::display::Registered;

/// The entries of a registry that were asked for, in its order, and the files that they are to write.
#[derive(Debug)]
pub struct FileArgs<T: Registered>(pub Vec<(&'static T, PathBuf)>);

impl<T: Registered> Clone for FileArgs<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Registered> Default for FileArgs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Registered> FromArgMatches for FileArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let wanted = |it: &&'static T| Some((*it, matches.get_one::<PathBuf>(it.option().name)?.clone()));
        Ok(Self(T::all().iter().filter_map(wanted).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<T: Registered> Args for FileArgs<T> {
    fn augment_args(command: Command) -> Command {
        command.args(T::all().iter().map(|it| {
            let option = it.option();
            let arg = Arg::new(option.name).long(option.name).help(option.help).value_name("FILE");
            let arg = arg.value_parser(value_parser!(PathBuf)).value_hint(ValueHint::FilePath);
            let arg = arg.hide_short_help(!option.short);
            if option.more.is_empty() {
                arg
            } else {
                arg.long_help(format!("{}\n\n{}", option.help, option.more))
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
