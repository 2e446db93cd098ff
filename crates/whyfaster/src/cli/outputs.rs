//! Where results go: files, standard output, the screen, the exit status. The part of the command line that is no plan.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use whyfaster_render::export::{CSV, Exporter};
use whyfaster_store::OutputFile;
use whyfaster_store::database::{Address, Entry, HeldStore};
use whyfaster_words::display::{Detail, Hyperfine, Registered, Sort, Style, TimeUnit};
use whyfaster_words::exit::Failure;
use whyfaster_words::metric::Chosen;

use super::args::{
    DemoArgs, DisplayArgs, ExportFormatArgs, FileArgs, FleetDiffArgs, FleetFileArgs, FleetReportArgs,
    KeepArgs, MachinesArgs, OutputArgs, PageArgs, PricesArgs, ReportArgs, SaveArgs, ShowArgs, StudyArgs,
    TraceOutputArgs, TraceShowArgs, ViewArgs,
};

/// Where an export goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// This file.
    File(OutputFile),
}

/// Files for people to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// The page.
    pub html: Option<OutputFile>,
    /// The picture as SVG.
    pub svg: Option<OutputFile>,
    /// The picture as PNG.
    pub png: Option<OutputFile>,
    /// The page is opened when it is written.
    pub open: bool,
}

impl Pages {
    fn of(args: &PageArgs) -> Self {
        let pictures = &args.pictures;
        Self {
            html: html(args.html.as_ref(), pictures.open),
            svg: pictures.svg.as_ref().map(OutputFile::new),
            png: pictures.png.as_ref().map(OutputFile::new),
            open: pictures.open,
        }
    }

    /// Whether anything is written or opened.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

/// A store, and the label that a record is added under. Two are equal if their addresses and labels are.
#[derive(Clone, Debug)]
pub struct Save {
    /// Where the store is.
    pub address: Address,
    /// The label; empty for none.
    pub label: String,
    /// The store from [`Save::hold`] on.
    held: Arc<Mutex<Option<HeldStore>>>,
}

impl Save {
    /// As it was asked for.
    pub fn of(args: &SaveArgs) -> Result<Option<Self>, Failure> {
        if !args.save {
            return Ok(None);
        }
        let address = Address::or_usual(args.store.as_deref())?;
        let label = args.label.clone().unwrap_or_default();
        Ok(Some(Self { address, label, held: Arc::default() }))
    }

    /// Finds out whether records can be added, and holds a store that is a file. A server would end a connection that rests for hours.
    ///
    /// # Errors
    /// Records cannot be added to it, with the reason and the next step.
    pub fn hold(&self) -> Result<(), Failure> {
        let held = HeldStore::of(&self.address)?;
        if let Address::File(_) = self.address {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        }
        Ok(())
    }

    /// Adds a record.
    ///
    /// # Errors
    /// The store does not take it, with the reason and the next step.
    pub fn add(&self, entry: Entry) -> Result<(), Failure> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        let held = held.map_or_else(|| HeldStore::of(&self.address), Ok)?;
        held.open(&self.address)?.add(vec![entry], &self.label).map(drop)
    }
}

impl PartialEq for Save {
    fn eq(&self, other: &Self) -> bool {
        (&self.address, &self.label) == (&other.address, &other.label)
    }
}

/// What to do with a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outputs {
    /// Exports in hyperfine's formats.
    pub exports: Vec<(&'static Exporter, Target)>,
    /// File for the record.
    pub record: Option<OutputFile>,
    /// The record is kept for `show`.
    pub keep: bool,
    /// The record is added to a store.
    pub save: Option<Save>,
    /// Further files that a verb writes by itself.
    pub others: Vec<OutputFile>,
    /// The page, and the picture.
    pub pages: Pages,
    /// The record goes to standard output, the report does not.
    pub json: bool,
    /// Colour and movement.
    pub style: Style,
    /// How much is printed.
    pub detail: Detail,
    /// Order of results.
    pub sort: Sort,
    /// Unit of times; `None` picks one that fits.
    pub time_unit: Option<TimeUnit>,
    /// By whose name we are called, if not our own: its report is on the screen.
    pub called: Option<Hyperfine>,
    /// Whose formats the exports have.
    pub hyperfine: Hyperfine,
    /// Metrics that are shown and exported, with their units; empty where none were asked for.
    pub metrics: Vec<Chosen>,
    /// Gate: slower by more than this fraction.
    pub fail_if_slower: Option<f64>,
    /// Whether an undecided gate fails.
    pub fail_on_inconclusive: bool,
    /// Lines that the verb prints beside the screen.
    pub around: usize,
    /// Only what would run is printed.
    pub dry_run: bool,
    /// What the reader should be told on standard error before anything runs.
    pub notes: Vec<String>,
}

impl Outputs {
    /// The outputs of `show`.
    pub fn of_show(args: &ShowArgs) -> Result<Self, Failure> {
        let others = paths(&args.files);
        let hyperfine = args.export_format.export_format.unwrap_or_default();
        Self { json: args.json, exports: exports(&args.export), hyperfine, others, ..Self::default() }
            .displayed(&args.display)
            .checked()
    }

    /// The outputs of `study`.
    pub fn of_study(args: &StudyArgs) -> Result<Self, Failure> {
        let pages = Pages::of(&args.page);
        Self { json: args.json, pages, ..Self::default() }
            .kept(&args.keep)?
            .recorded(args.record.as_deref())
            .displayed(&args.display)
            .checked()
    }

    /// The outputs of `report`.
    pub fn of_report(args: &ReportArgs) -> Result<Self, Failure> {
        let pictures = &args.pictures;
        let alone = args.output.is_none() && (pictures.svg.is_some() || pictures.png.is_some());
        let html = args.output.clone().or_else(|| (!alone || pictures.open).then(|| "report.html".into()));
        let pages = Pages {
            html: html.map(OutputFile::new),
            svg: pictures.svg.as_ref().map(OutputFile::new),
            png: pictures.png.as_ref().map(OutputFile::new),
            open: pictures.open,
        };
        Self { pages, time_unit: args.time_unit, ..Self::default() }.checked()
    }

    /// The outputs of `demo`.
    pub fn of_demo(args: &DemoArgs) -> Result<Self, Failure> {
        Self { json: args.json, ..Self::default() }
            .kept(&args.keep)?
            .recorded(args.record.as_deref())
            .viewed(args.view)
            .checked()
    }

    /// The outputs of `prices`.
    pub fn of_prices(args: &PricesArgs) -> Result<Self, Failure> {
        let csv = args.export_csv.iter().map(|path| (&CSV, target(path))).collect();
        let pages = Pages::of(&args.page);
        Self { json: args.json, exports: csv, pages, ..Self::default() }
            .kept(&args.keep)?
            .recorded(args.record.as_deref())
            .viewed(args.view)
            .checked()
    }

    /// The outputs of `trace`.
    pub(super) fn of_trace(output: &TraceOutputArgs, show: &TraceShowArgs) -> Result<Self, Failure> {
        let others = paths(&output.files);
        Self {
            json: output.json,
            others,
            pages: Pages::of(&output.page),
            time_unit: show.time_unit,
            ..Self::default()
        }
        .kept(&output.keep)?
        .recorded(output.record.as_deref())
        .viewed(ViewArgs { style: show.style, time_unit: show.time_unit, detail: show.detail })
        .checked()
    }

    /// The outputs of `machines`.
    pub fn of_machines(args: &MachinesArgs) -> Result<Self, Failure> {
        Self { json: args.json, pages: Pages::of(&args.page), ..Self::default() }.viewed(args.view).checked()
    }

    /// The outputs of `compare`, gates left out: they need the plan's delta.
    pub(super) fn of_compare(
        output: &OutputArgs,
        display: &DisplayArgs,
        export: &FileArgs<Exporter>,
        format: ExportFormatArgs,
    ) -> Result<Self, Failure> {
        Self {
            json: output.json,
            pages: Pages::of(&output.page),
            exports: exports(export),
            hyperfine: format.export_format.unwrap_or_default(),
            fail_on_inconclusive: output.fail_on_inconclusive,
            ..Self::default()
        }
        .kept(&output.keep)?
        .recorded(output.record.as_deref())
        .displayed(display)
        .checked()
    }

    /// The outputs of the verbs of many machines that write no files of their own.
    pub fn of_fleet(json: bool, view: ViewArgs) -> Result<Self, Failure> {
        Self { json, ..Self::default() }.viewed(view).checked()
    }

    /// The outputs of `fleet report`.
    pub fn of_fleet_report(args: &FleetReportArgs) -> Result<Self, Failure> {
        let comparisons = [&args.export_comparisons_csv, &args.export_comparisons_parquet];
        Self::of_fleet_files(args.json, &args.outputs, &comparisons, args.view)
    }

    /// The outputs of `fleet diff`.
    pub fn of_fleet_diff(args: &FleetDiffArgs) -> Result<Self, Failure> {
        Self::of_fleet_files(args.json, &args.outputs, &[], args.view)
    }

    fn of_fleet_files(
        json: bool,
        files: &FleetFileArgs,
        comparisons: &[&Option<PathBuf>],
        view: ViewArgs,
    ) -> Result<Self, Failure> {
        let tables =
            [&files.export_csv, &files.export_parquet].into_iter().chain(comparisons.iter().copied());
        let exports = tables.flatten().map(|path| (&CSV, target(path))).collect();
        let pages =
            Pages { html: html(files.html.as_ref(), files.open), open: files.open, ..Pages::default() };
        Self { json, exports, pages, ..Self::default() }.viewed(view).checked()
    }

    /// Every file that will be written.
    pub fn files(&self) -> impl Iterator<Item = &OutputFile> {
        let exports = self.exports.iter().filter_map(|(_, target)| match target {
            Target::File(file) => Some(file),
            Target::Stdout => None,
        });
        let pages = [&self.pages.html, &self.pages.svg, &self.pages.png].into_iter().flatten();
        let pages = pages.filter(|file| ***file != *Path::new("-"));
        self.record.iter().chain(exports).chain(&self.others).chain(pages)
    }

    /// What goes to standard output instead of the report or behind it. Exports may stand one below the other, as in hyperfine.
    fn documents(&self) -> Vec<&'static str> {
        let stdout = |file: &Option<OutputFile>| file.as_deref() == Some(Path::new("-"));
        let all = [
            ("--json", self.json),
            ("an export to '-'", self.exports.iter().any(|(_, target)| *target == Target::Stdout)),
            ("the page to '-'", stdout(&self.pages.html)),
            ("the picture as SVG to '-'", stdout(&self.pages.svg)),
            ("the picture as PNG to '-'", stdout(&self.pages.png)),
        ];
        all.into_iter().filter(|(_, there)| *there).map(|(what, _)| what).collect()
    }

    fn kept(mut self, args: &KeepArgs) -> Result<Self, Failure> {
        self.keep = !args.no_keep;
        self.save = Save::of(&args.saved)?;
        Ok(self)
    }

    fn displayed(mut self, display: &DisplayArgs) -> Self {
        self.style = display.style.unwrap_or_default();
        self.detail = display.detail.detail();
        self.sort = display.sort;
        self.time_unit = display.time_unit;
        self
    }

    fn viewed(mut self, view: ViewArgs) -> Self {
        self.style = view.style.unwrap_or_default();
        self.detail = view.detail.detail();
        self.time_unit = view.time_unit;
        self
    }

    fn recorded(mut self, path: Option<&Path>) -> Self {
        match path {
            Some(path) if path == Path::new("-") => self.json = true,
            path => self.record = path.map(OutputFile::new),
        }
        self
    }

    /// Two documents in one stream can be read by nothing, and two documents in one file lose the first.
    fn checked(self) -> Result<Self, Failure> {
        if let [one, other, ..] = self.documents().as_slice() {
            return Err(Failure::usage(
                format!("{one} and {other} would both go to standard output"),
                "Write one of them to a file.",
            ));
        }
        let files: Vec<&Path> = self.files().map(|file| &**file).collect();
        let twice = files.iter().enumerate().find(|(i, file)| files[..*i].contains(file) && !is_device(file));
        if let Some((_, file)) = twice {
            return Err(Failure::usage(
                format!("two outputs would go to the same file '{}'", file.display()),
                "Give each output a file of its own.",
            ));
        }
        Ok(self)
    }
}

/// Devices take as many documents as one likes.
fn is_device(path: &Path) -> bool {
    path.starts_with("/dev") && !path.starts_with("/dev/shm")
}

/// The file of the page: one that is only opened has a name of ours.
fn html(named: Option<&PathBuf>, open: bool) -> Option<OutputFile> {
    named.map(OutputFile::new).or_else(|| open.then(|| OutputFile::temporary(".html")))
}

fn target(path: &PathBuf) -> Target {
    if path == Path::new("-") { Target::Stdout } else { Target::File(OutputFile::new(path)) }
}

fn exports(args: &FileArgs<Exporter>) -> Vec<(&'static Exporter, Target)> {
    args.0.iter().map(|(exporter, path)| (*exporter, target(path))).collect()
}

fn paths<T: Registered>(files: &FileArgs<T>) -> Vec<OutputFile> {
    files.0.iter().map(|(_, path)| OutputFile::new(path)).collect()
}
