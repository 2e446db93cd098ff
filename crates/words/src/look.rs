//! How output looks: width, colour, characters, unit and order. Decided once, from inputs that a test can make.

use whyfaster_core::metric::Dimension;
use whyfaster_core::plan::Plan;
use whyfaster_core::price::Unit;

use crate::display::{Detail, Hyperfine, Sort, Style, TimeUnit};
use crate::metric;
use crate::metric::Chosen;

/// How output looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Columns that a line may take.
    pub width: usize,
    /// Whether to colour.
    pub color: bool,
    /// Whether characters outside ASCII may be used.
    pub unicode: bool,
    /// Unit of all times; `None` chooses one per column.
    pub time_unit: Option<TimeUnit>,
    /// What prices are; a list decides it.
    pub price_unit: Unit,
    /// How much is printed.
    pub detail: Detail,
    /// What is shown can be shown again by `whyfaster show`.
    pub kept: bool,
    /// Order of the alternatives.
    pub sort: Sort,
    /// Metrics that were asked for, with their units.
    pub metrics: Vec<Chosen>,
    /// Whose formats exports have.
    pub hyperfine: Hyperfine,
    /// Whether progress may move (it does so only if standard error is a terminal too).
    pub interactive: bool,
    /// Lines that a first screen may have.
    pub lines: usize,
    /// Print nothing (`--style none`).
    pub quiet: bool,
}

/// What the look depends on besides the options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `CLICOLOR_FORCE` is set, not empty and not 0.
    pub clicolor_force: bool,
    /// `CLICOLOR`, if set: whether it is not 0.
    pub clicolor: Option<bool>,
    /// `TERM`.
    pub term: Option<String>,
    /// The first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set and not empty.
    pub locale: Option<String>,
    /// `COLUMNS`, if it is a number above 0.
    pub columns: Option<usize>,
    /// Width of the terminal, if there is one.
    pub terminal_width: Option<usize>,
}

/// Width of output that goes to no terminal.
const DEFAULT_WIDTH: usize = 80;
/// Lines that a first screen may have unless something stands around it.
const LINES: usize = 20;
/// Below this nothing is readable; narrower terminals wrap.
const MIN_WIDTH: usize = 30;

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let width = |winsize: Result<rustix::termios::Winsize, _>| {
            winsize.ok().map(|w| usize::from(w.ws_col)).filter(|w| *w > 0)
        };
        let terminal_width = width(rustix::termios::tcgetwinsize(rustix::stdio::stdout()))
            .or_else(|| width(rustix::termios::tcgetwinsize(rustix::stdio::stderr())));
        Self::from_variables(|name| std::env::var_os(name)?.into_string().ok(), terminal_width)
    }

    /// The environment that these variables describe.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>, terminal_width: Option<usize>) -> Self {
        let set = |name: &str| get(name).filter(|value| !value.is_empty());
        Self {
            no_color: set("NO_COLOR").is_some(),
            clicolor_force: set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            clicolor: set("CLICOLOR").map(|value| value != "0"),
            term: set("TERM"),
            // POSIX: LC_ALL, then the category, then LANG; an empty value counts as unset.
            locale: ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| set(name)),
            columns: set("COLUMNS").and_then(|value| value.parse().ok()).filter(|columns| *columns > 0),
            terminal_width,
        }
    }

    fn dumb(&self) -> bool {
        matches!(self.term.as_deref(), None | Some("dumb" | "unknown"))
    }

    /// The order of precedence is that of `anstream`: `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`, then the terminal.
    fn wants_color(&self, terminal: bool) -> bool {
        if self.no_color {
            return false;
        }
        self.clicolor_force || (self.clicolor != Some(false) && terminal && !self.dumb())
    }

    /// A locale that is not set is the C locale, which is ASCII.
    fn utf8(&self) -> bool {
        self.locale.as_deref().is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        })
    }
}

impl Look {
    /// A look without colours that asks nothing of the surroundings: tables, this wide.
    pub fn plain(width: usize, unicode: bool) -> Self {
        let detected = Self::detect(Style::NoColor, false, &Environment::default());
        Self { width, unicode, detail: Detail::Tables, ..detected }
    }

    /// The look of output in this style to a stream that is, or is not, a terminal.
    pub fn detect(style: Style, terminal: bool, environment: &Environment) -> Self {
        let color = match style {
            Style::Auto => environment.wants_color(terminal),
            Style::Full | Style::Color => true,
            Style::Basic | Style::NoColor | Style::None => false,
        };
        let interactive = match style {
            Style::Auto => !environment.dumb(),
            Style::Full | Style::NoColor => true,
            Style::Basic | Style::Color | Style::None => false,
        };
        let width = environment.columns.or(environment.terminal_width.filter(|_| terminal));
        Self {
            width: width.unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH),
            color,
            unicode: environment.utf8(),
            time_unit: None,
            price_unit: Unit::Nanoseconds,
            detail: Detail::default(),
            kept: false,
            sort: Sort::Auto,
            metrics: Vec::new(),
            hyperfine: Hyperfine::One,
            interactive,
            lines: LINES,
            quiet: style == Style::None,
        }
    }

    /// The metrics to show of a measurement: those that were asked for now, else when it was made, else hyperfine's.
    pub fn metrics_of(&self, plan: &Plan) -> Vec<Chosen> {
        let mut metrics = match (self.metrics.as_slice(), plan.metrics.as_slice()) {
            ([], []) => metric::usual(),
            ([], planned) => planned.iter().copied().map(Chosen::from).collect(),
            (chosen, _) => chosen.to_vec(),
        };
        for chosen in metrics.iter_mut().filter(|it| it.metric.dimension() == Dimension::Time) {
            chosen.unit = chosen.unit.or(self.time_unit.map(metric::Unit::from));
        }
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let get = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| v.to_string());
        Environment::from_variables(get, Some(132))
    }

    #[test]
    fn a_terminal_with_utf8_gets_everything() {
        let look = Look::detect(
            Style::Auto,
            true,
            &environment(&[("TERM", "xterm-256color"), ("LANG", "en_US.UTF-8")]),
        );
        assert!(look.color && look.unicode && look.interactive && !look.quiet);
        assert_eq!(look.width, 132);
    }

    #[test]
    fn no_terminal_gets_no_colour_and_the_default_width() {
        let environment = environment(&[("TERM", "xterm"), ("LANG", "C.utf8")]);
        let look = Look::detect(Style::Auto, false, &environment);
        assert!(!look.color && look.unicode);
        assert_eq!(look.width, 80);
    }

    #[test]
    fn no_color_wins_over_force_and_force_over_a_file() {
        let both = environment(&[("TERM", "xterm"), ("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]);
        assert!(!Look::detect(Style::Auto, true, &both).color);
        let force = environment(&[("CLICOLOR_FORCE", "1")]);
        assert!(Look::detect(Style::Auto, false, &force).color);
        let empty = environment(&[("TERM", "xterm"), ("NO_COLOR", "")]);
        assert!(Look::detect(Style::Auto, true, &empty).color, "an empty NO_COLOR is no wish");
        let off = environment(&[("TERM", "xterm"), ("CLICOLOR", "0")]);
        assert!(!Look::detect(Style::Auto, true, &off).color);
    }

    #[test]
    fn a_dumb_terminal_gets_neither_colour_nor_motion() {
        for variables in [&[("TERM", "dumb")][..], &[]] {
            let look = Look::detect(Style::Auto, true, &environment(variables));
            assert!(!look.color && !look.interactive);
        }
    }

    #[test]
    fn the_locale_is_read_in_the_order_of_posix() {
        let unicode =
            |variables: &[(&str, &str)]| Look::detect(Style::Auto, true, &environment(variables)).unicode;
        assert!(!unicode(&[]));
        assert!(!unicode(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
        assert!(unicode(&[("LC_ALL", ""), ("LC_CTYPE", "ja_JP.utf8"), ("LANG", "C")]));
    }

    #[test]
    fn styles_mean_what_they_mean_in_hyperfine() {
        let environment = environment(&[("TERM", "xterm"), ("LANG", "C.UTF-8")]);
        let look = |style, terminal| {
            let look = Look::detect(style, terminal, &environment);
            (look.color, look.interactive, look.quiet)
        };
        assert_eq!(look(Style::Basic, true), (false, false, false));
        assert_eq!(look(Style::Full, false), (true, true, false));
        assert_eq!(look(Style::NoColor, true), (false, true, false));
        assert_eq!(look(Style::Color, true), (true, false, false));
        assert_eq!(look(Style::None, true), (false, false, true));
    }

    #[test]
    fn columns_wins_over_the_terminal_and_has_a_floor() {
        let width = |columns| Look::detect(Style::Auto, true, &environment(&[("COLUMNS", columns)])).width;
        assert_eq!(width("100"), 100);
        assert_eq!(width("5"), 30);
        assert_eq!(width("zero"), 132);
    }
}
