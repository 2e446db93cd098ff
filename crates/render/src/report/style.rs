//! How a report looks: the colours in one table, the style of the page and of a picture that stands alone.

/// A colour by its name: in light and in dark.
type Colour = (&'static str, &'static str, &'static str);

/// All colours. Text on paper has a contrast of at least 4.5 to 1, marks and lines that carry meaning at least 3 to 1: a test counts.
const PALETTE: [Colour; 23] = [
    ("paper", "#ffffff", "#14171c"),
    ("card", "#f6f7f9", "#1c2027"),
    ("ink", "#16191d", "#e8eaee"),
    ("soft", "#555d69", "#a7afbb"),
    ("rule", "#d9dde3", "#343a44"),
    ("grid", "#e6e9ee", "#2a303a"),
    ("link", "#1457b8", "#82b4ff"),
    ("good", "#146c2e", "#6fd08c"),
    ("bad", "#b3261e", "#ff9c91"),
    ("unsure", "#8a5300", "#f0b35a"),
    ("c0", "#1f5fc4", "#74a9ff"),
    ("c1", "#b4470b", "#ff9e5e"),
    ("c2", "#157347", "#5fcf94"),
    ("c3", "#7a2bbf", "#c79bff"),
    ("c4", "#b0236f", "#ff8ac0"),
    ("c5", "#0c6b76", "#5cc9d6"),
    ("k-user", "#3d6fb6", "#6d9fe8"),
    ("k-kernel", "#8a4f9e", "#c08ad6"),
    ("k-start", "#2f7f78", "#5fc0b6"),
    ("k-wait", "#c0581c", "#f0975c"),
    ("k-block", "#7b8593", "#8f99a8"),
    ("k-io", "#9a7b12", "#d8b64a"),
    ("k-none", "#a3343f", "#e88a92"),
];

/// The rules of pictures. `var(--NAME)` stands for a colour.
const PICTURE: &str = include_str!("../../assets/picture.css");
/// The rules of the page.
const PAGE: &str = include_str!("../../assets/report.css");
/// Those of uPlot, as it is published.
const UPLOT: &str = include_str!("../../assets/uplot/uPlot.min.css");

/// The style of a page.
pub(super) fn page() -> String {
    let all = |pick: fn(&Colour) -> &'static str| -> String {
        PALETTE.iter().map(|colour| format!("--{}:{};", colour.0, pick(colour))).collect()
    };
    let (light, dark) = (all(|it| it.1), all(|it| it.2));
    format!(
        ":root{{color-scheme:light;{light}}}\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\
         :root[data-theme=dark]{{color-scheme:dark;{dark}}}\
         @media print{{:root,:root[data-theme=dark]{{color-scheme:light;{light}}}}}\
         {UPLOT}{PICTURE}{PAGE}"
    )
}

/// The style of a picture that stands alone: light, on paper of its own, with colours as they are written.
pub(super) fn alone() -> String {
    PALETTE
        .iter()
        .fold(PICTURE.to_owned(), |style, colour| style.replace(&format!("var(--{})", colour.0), colour.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (a, b) = (luminance(one), luminance(other));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_colour_can_be_seen_and_text_can_be_read() {
        for pick in [|it: &Colour| it.1, |it: &Colour| it.2] {
            let of = |name: &str| PALETTE.iter().find(|it| it.0 == name).map(pick).unwrap();
            for colour in PALETTE.iter().filter(|it| !["paper", "card", "rule", "grid"].contains(&it.0)) {
                let least = if colour.0.starts_with("k-") { 3.0 } else { 4.5 };
                for paper in ["paper", "card"] {
                    let ratio = contrast(pick(colour), of(paper));
                    assert!(ratio >= least, "{} on {paper}: {ratio:.2}", pick(colour));
                }
            }
        }
    }

    #[test]
    fn a_picture_alone_needs_no_variables() {
        assert!(!alone().contains("var("), "{}", alone());
    }
}
