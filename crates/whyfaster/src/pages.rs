//! The pages about probes, as they stand in the book. They are part of the program, so that `prices --explain` needs no
//! network and always speaks of what is measured here.

/// The page about a probe.
pub fn page(name: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_has_a_page_that_names_its_variants_and_parameters() {
        for probe in whyfaster_probe::descriptions().iter().filter(|probe| probe.group != "selftest") {
            let page = page(&probe.name).unwrap_or_else(|| panic!("no docs/src/probes/{}.md", probe.name));
            assert!(page.starts_with(&format!("# {}\n", probe.name)), "{}", probe.name);
            assert!(page.contains(&probe.unit) && page.contains(&probe.needs), "{}", probe.name);
            for variant in &probe.variants {
                assert!(page.contains(&format!("`{variant}`")), "{} {variant}", probe.name);
            }
            for parameter in &probe.parameters {
                assert!(
                    page.contains(&format!("parameter `{}`", parameter.key)),
                    "{} {}",
                    probe.name,
                    parameter.key
                );
            }
        }
    }

    #[test]
    fn every_page_has_a_probe() {
        let probes = whyfaster_probe::descriptions();
        for (name, _) in PAGES {
            assert!(probes.iter().any(|probe| probe.name == *name), "{name}");
        }
    }
}
