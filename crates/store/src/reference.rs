//! Price lists of others, as data: what articles measured. They stand in `reference/` and are part of the program.

use std::path::Path;

use crate as store;
use anyhow::Context;
use whyfaster_core::price::PriceList;
use whyfaster_words::exit::{Failure, nearest};

const EMBEDDED: [(&str, &str); 4] = [
    ("macosx-10.7", include_str!("../shared/reference/macosx-10.7.json")),
    ("debian-2.6.32", include_str!("../shared/reference/debian-2.6.32.json")),
    ("openindiana-151a2", include_str!("../shared/reference/openindiana-151a2.json")),
    ("athlon64-x2", include_str!("../shared/reference/athlon64-x2.json")),
];

/// Every built-in list with its name.
pub fn all() -> anyhow::Result<Vec<(&'static str, PriceList)>> {
    EMBEDDED.iter().map(|(name, text)| Ok((*name, read(text)?))).collect()
}

/// The built-in list of this name, if there is one.
pub fn find(name: &str) -> anyhow::Result<Option<PriceList>> {
    EMBEDDED.iter().find(|(known, _)| *known == name).map(|(_, text)| read(text)).transpose()
}

/// A list from a file, or a built-in one. A file wins, so that a list can always be named by its path.
pub fn open(path: &Path) -> anyhow::Result<PriceList> {
    let name = path.to_string_lossy();
    if !path.exists()
        && path != Path::new("-")
        && let Some(list) = find(&name)?
    {
        return Ok(list);
    }
    let known = EMBEDDED.iter().map(|(known, _)| *known);
    if !path.exists()
        && path.components().count() == 1
        && path.extension().is_none_or(|extension| extension != "json")
        && let Some(like) = nearest(&name, known)
    {
        return Err(Failure::usage(
            format!("'{}' is neither a file nor a built-in list", path.display()),
            format!("did you mean '{like}'? 'whyfaster machines' shows the built-in ones"),
        )
        .into());
    }
    Ok(store::read_prices(path)?)
}

fn read(text: &str) -> anyhow::Result<PriceList> {
    store::parse_prices(text.as_bytes())
        .map_err(anyhow::Error::msg)
        .context("a price list in this program cannot be read; please report it")
}

#[cfg(test)]
mod tests {
    use whyfaster_core::price::project::{parse, project};
    use whyfaster_core::price::sum::fork_execve;

    use super::*;

    #[test]
    fn every_list_is_sound_and_says_where_it_comes_from() {
        for (name, list) in all().unwrap() {
            assert!(list.source.as_deref().is_some_and(|source| source.len() > 20), "{name}");
            for price in &list.prices {
                let Some(given) = price.given else {
                    assert!(!price.is_measured(), "{name} {}", price.id());
                    continue;
                };
                let mean = price.mean_ns.unwrap();
                assert!(
                    (mean / (given.seconds / given.operations * 1e9) - 1.0).abs() < 1e-4,
                    "{name} {}",
                    price.id()
                );
                assert_eq!((price.median_ns, price.floor_ns, price.low_ns), (None, None, None));
            }
        }
    }

    /// The article's own sums: fork alone and execve alone against both together.
    #[test]
    fn the_articles_sums_come_back() {
        let seconds = |ns: f64| ns * 65_536.0 * 1e-9;
        for (name, difference, percent) in
            [("macosx-10.7", 10.35, 5.3), ("debian-2.6.32", -0.31, -1.0), ("openindiana-151a2", 4.31, 6.3)]
        {
            let check = fork_execve(&find(name).unwrap().unwrap()).unwrap();
            assert!((seconds(check.difference_ns) - difference).abs() < 0.006, "{name}: {check:?}");
            assert!((check.share * 100.0 - percent).abs() < 0.06, "{name}: {check:?}");
            assert_eq!(
                (check.low, check.high, check.verdict),
                (None, None, None),
                "a source tells no spread"
            );
        }
    }

    /// The article projects 81.92 s for half of its 65,536 processes; it says 30,000, and that is exact here.
    #[test]
    fn the_articles_projection_comes_back() {
        let lists: Vec<PriceList> =
            ["macosx-10.7", "debian-2.6.32"].iter().map(|name| find(name).unwrap().unwrap()).collect();
        let between = |counts: &str| {
            let found = project(&lists, &parse(counts).unwrap());
            found.machines[0].total_s.unwrap() - found.machines[1].total_s.unwrap()
        };
        assert!((between("32768 fork+execve") - 81.92).abs() < 0.01);
        assert!((between("30000 fork+execve") - 75.0).abs() < 0.01);
    }

    #[test]
    fn a_name_that_is_nearly_one_is_suggested() {
        let failure = open(Path::new("macosx-10.8")).unwrap_err().downcast::<Failure>().unwrap();
        assert!(failure.hint.unwrap().contains("'macosx-10.7'"));
        assert!(find("none").unwrap().is_none());
    }
}
