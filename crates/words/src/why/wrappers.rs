//! Scripts that stand before the real program, in words.

use std::collections::BTreeMap;

use whyfaster_core::why::report::Wrapper;

use super::called::Called;
use super::numbers::{count, quoted, time};

/// A part of the time below which a wrapper is not spoken of.
const MATTERS: f64 = 0.05;

/// What stands before the program, in one short sentence without its end.
pub(super) fn short(it: &Wrapper) -> String {
    let name = it.script.rsplit('/').next().unwrap_or(&it.script);
    let another = if name == it.program { "another " } else { "" };
    format!("{} is a {} script here that begins {another}{}", quoted(name), it.interpreter, it.program)
}

/// A sentence for each script that has a part of the time of any alternative.
pub(super) fn sentences(wrappers: &[Wrapper], called: &Called) -> Vec<String> {
    let mut scripts: BTreeMap<_, Vec<&Wrapper>> = BTreeMap::new();
    for it in wrappers.iter().filter(|it| it.seconds >= MATTERS * it.of_s) {
        scripts.entry((&it.script, &it.interpreter, &it.program)).or_default().push(it);
    }
    scripts
        .into_iter()
        .map(|((script, interpreter, program), all)| {
            let part = |it: &&Wrapper| {
                let name = called.of(&it.alternative);
                match it.times > 1.0 {
                    // They may run at the same time.
                    true => format!("{} in {}, {} times", time(it.seconds / it.times), name, count(it.times)),
                    false => format!("{} of the {} of {name}", time(it.seconds), time(it.of_s)),
                }
            };
            let parts: Vec<String> = all.iter().map(part).collect();
            let name = script.rsplit('/').next().unwrap_or(script);
            let another = if name == program { "another " } else { "" };
            format!(
                "{} is a {interpreter} script here ({script}) that begins {another}{program}: it takes {}.",
                quoted(name),
                parts.join(" and ")
            )
        })
        .collect()
}
