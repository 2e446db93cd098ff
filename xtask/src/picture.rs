//! The picture of a terminal that the README shows, as SVG.

use whyfaster_core::short::width;

use crate::shown::COLUMNS;

pub(crate) const FILE: &str = "docs/src/images/terminal.svg";

/// Of a character and of a line, in pixels; the size of the letters.
const CHARACTER: f64 = 8.4;
const LINE: f64 = 19.0;
const SIZE: f64 = 14.0;
/// Around the text, and above it where a window has its buttons.
const MARGIN: f64 = 18.0;
const BAR: f64 = 34.0;

/// Draws the command line that was typed, and what it printed, with the colours of a terminal.
pub(crate) fn draw(typed: &[String], screen: &str) -> String {
    let mut lines: Vec<String> = typed.to_vec();
    lines.extend(screen.lines().map(str::to_owned));
    svg(typed.first().map_or("", String::as_str), &lines)
}

/// Text of one look, and the column where it begins.
#[derive(Debug, PartialEq)]
struct Run {
    column: usize,
    class: &'static str,
    text: String,
}

/// The runs of a line. A character that a font may lack, and take from another one of another width, stands alone.
fn runs(line: &str) -> Vec<Run> {
    let (mut runs, mut class, mut column): (Vec<Run>, &str, usize) = (Vec::new(), "", 0);
    for (at, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m').filter(|_| at > 0) {
            Some((code, text)) => {
                class = match code {
                    "1" => "strong",
                    "2" => "quiet",
                    "31" => "bad",
                    "32" => "good",
                    "33" => "unsure",
                    _ => "",
                };
                text
            }
            None => part,
        };
        for c in text.chars() {
            let joins = runs
                .last()
                .is_some_and(|run: &Run| run.class == class && c.is_ascii() && run.text.is_ascii());
            match runs.last_mut().filter(|_| joins) {
                Some(run) => run.text.push(c),
                None => runs.push(Run { column, class, text: c.to_string() }),
            }
            column += width(c.encode_utf8(&mut [0; 4]));
        }
    }
    runs.retain(|run| !run.text.trim().is_empty());
    runs
}

fn svg(title: &str, lines: &[String]) -> String {
    let wide = CHARACTER * COLUMNS as f64 + 2.0 * MARGIN;
    let height = LINE * lines.len() as f64 + BAR + MARGIN;
    let said: Vec<String> = lines.iter().map(|line| plain(line)).collect();
    let mut text = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0} {height:.0}" width="{wide:.0}" height="{height:.0}" role="img" aria-labelledby="title text">
<title id="title">{}</title>
<desc id="text">{}</desc>
<style>
text {{ font: {SIZE}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #e6e6e6; white-space: pre; }}
.strong {{ font-weight: bold; fill: #ffffff; }} .quiet {{ fill: #a8a8a8; }} .good {{ fill: #7ddf8f; }} .bad {{ fill: #ff9b9b; }} .unsure {{ fill: #f2d479; }}
</style>
<rect width="100%" height="100%" rx="8" fill="#1c1f26"/>
<circle cx="20" cy="17" r="5" fill="#5b616e"/><circle cx="38" cy="17" r="5" fill="#5b616e"/><circle cx="56" cy="17" r="5" fill="#5b616e"/>
"##,
        escaped(&plain(title)),
        escaped(&said.join("\n")),
    );
    for (at, line) in lines.iter().enumerate() {
        let y = BAR + LINE * at as f64 + SIZE;
        for run in runs(line) {
            let x = MARGIN + CHARACTER * run.column as f64;
            let length = CHARACTER * width(&run.text) as f64;
            let class =
                if run.class.is_empty() { String::new() } else { format!(" class=\"{}\"", run.class) };
            text += &format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\"{class} xml:space=\"preserve\">{}</text>\n",
                escaped(&run.text)
            );
        }
    }
    text + "</svg>\n"
}

/// A line without its colours.
fn plain(line: &str) -> String {
    runs_of_text(line).collect()
}

fn runs_of_text(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split("\u{1b}[").enumerate();
    parts.map(|(at, part)| if at == 0 { part } else { part.split_once('m').map_or(part, |(_, text)| text) })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_stands_in_its_column() {
        let found = runs("a \u{1b}[32mB<\u{1b}[0m ●─ c");
        let run = |column, class, text: &str| Run { column, class, text: text.to_owned() };
        assert_eq!(
            found,
            [run(0, "", "a "), run(2, "good", "B<"), run(5, "", "●"), run(6, "", "─"), run(7, "", " c")]
        );
        let drawn = svg("$ x", &["a \u{1b}[32mB<\u{1b}[0m".to_owned()]);
        assert!(drawn.contains("class=\"good\" xml:space=\"preserve\">B&lt;</text>"), "{drawn}");
        assert!(!drawn.contains('\u{1b}') && drawn.contains("<desc id=\"text\">a B&lt;</desc>"), "{drawn}");
    }
}
