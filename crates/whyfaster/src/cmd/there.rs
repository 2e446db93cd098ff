//! A verb as it runs on another machine: for its record alone, which goes into one file. All else is made where the record comes home.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;

use whyfaster_store as store;
use whyfaster_words::display::Style;
use whyfaster_words::exit::{Exit, Failure};

use super::elsewhere::said;
use super::{compare, doctor, prices, rights, trace};
use crate::cli::args::{
    DisplayArgs, FileArgs, KeepArgs, OnArgs, OutputArgs, PageArgs, SaveArgs, TraceOutputArgs, ViewArgs,
};
use crate::cli::{self, Verb};

const KEEP: KeepArgs = KeepArgs { no_keep: true, saved: SaveArgs { save: false, label: None, store: None } };

/// Runs it: the words of the process are the program's, the one that brought us here, the file, and the verb with its own.
pub fn run(mut words: Vec<OsString>) -> anyhow::Result<Exit> {
    if words.len() < 4 {
        return Err(
            Failure::usage("there is no verb", "this is what whyfaster calls on other machines").into()
        );
    }
    let file = PathBuf::from(words.remove(2));
    words.remove(1);
    let args =
        cli::parse(words).map_err(|answer| Failure::usage(said(&answer), "both sides have one program"))?;
    match args.verb {
        Some(Verb::Compare(mut args)) => {
            rights::of_caller(args.user.as_root)?;
            args.elsewhere = OnArgs::default();
            args.output = OutputArgs {
                record: Some(file),
                keep: KEEP,
                page: PageArgs::default(),
                json: false,
                ..args.output
            };
            args.export = FileArgs::default();
            args.display = DisplayArgs { style: Some(Style::None), ..args.display };
            compare::run(&args)
        }
        Some(Verb::Prices(mut args)) => {
            rights::give_up(args.user.as_root)?;
            args.elsewhere = OnArgs::default();
            (args.record, args.keep, args.json) = (Some(file), KEEP, false);
            (args.export_csv, args.page) = (None, PageArgs::default());
            args.view = ViewArgs { style: Some(Style::None), ..args.view };
            prices::run(&args)
        }
        Some(Verb::Trace(mut args)) => {
            rights::of_caller(args.user.as_root)?;
            let keep_schedule = args.output.keep_schedule;
            args.output = TraceOutputArgs {
                record: Some(file),
                keep: KEEP,
                keep_schedule,
                ..TraceOutputArgs::default()
            };
            args.show.style = Some(Style::None);
            args.streams.output.get_or_insert_with(|| "null".to_owned());
            trace::run(&args)
        }
        Some(Verb::Doctor(mut args)) => {
            rights::of_caller(false)?;
            args.json = true;
            // In a directory of the run's own, which is empty.
            let out = File::create_new(&file).map_err(|error| store::cannot_write(&file, &error))?;
            rustix::stdio::dup2_stdout(&out)?;
            doctor::run(&args)
        }
        _ => Err(Failure::usage("this verb does not measure", "compare, prices, trace and doctor do").into()),
    }
}
