//! Parameters of `-P` and `-L`: their values, and how they are put into a text. A step of the command line.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use whyfaster_words::exit::Failure;

/// Most values of one parameter, and most alternatives of one plan: hyperfine's own limit.
pub const MAX_VALUES: usize = 100_000;

/// One parameter and its values, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name that stands in braces.
    pub name: String,
    /// What it is replaced by, one alternative each.
    pub values: Vec<String>,
}

/// `-P NAME MIN MAX [-D STEP]`. Decimal numbers, so that 0.1 + 0.2 is 0.3 and `0.50` keeps its digits.
pub fn scan(name: &str, min: &str, max: &str, step: Option<&str>) -> Result<Parameter, Failure> {
    let read = |option: &str, text: &str| {
        text.parse::<Decimal>().map_err(|_| {
            Failure::usage(
                format!("{option}: '{text}' is not a number"),
                "Give whole or decimal numbers, such as: --parameter-scan threads 1 8",
            )
        })
    };
    let (low, high) = (read("--parameter-scan", min)?, read("--parameter-scan", max)?);
    if step.is_none() && (low.scale() > 0 || high.scale() > 0) {
        return Err(Failure::usage(
            format!(
                "--parameter-scan {name} {min} {max} needs a step, because its bounds are no whole numbers"
            ),
            "Add --parameter-step-size, such as: -D 0.1",
        ));
    }
    let step = step.map_or(Ok(Decimal::ONE), |text| read("--parameter-step-size", text))?;
    if step <= Decimal::ZERO {
        return Err(Failure::usage(
            format!("--parameter-step-size: {step} is not above 0"),
            "Give a step above 0.",
        )
        .in_hyperfine("Parameter step size must be positive"));
    }
    if high < low {
        return Err(Failure::usage(
            format!("--parameter-scan {name} {min} {max} holds no value, because {max} is below {min}"),
            format!("Write the smaller bound first: --parameter-scan {name} {max} {min}"),
        ));
    }
    let mut values = Vec::new();
    let mut value = Some(low);
    while let Some(current) = value.filter(|v| *v <= high) {
        if values.len() == MAX_VALUES {
            return Err(Failure::usage(
                format!("--parameter-scan {name} {min} {max} has more than {MAX_VALUES} values"),
                "Take a larger step with --parameter-step-size.",
            ));
        }
        values.push(current.to_string());
        value = current.checked_add(step);
    }
    Ok(Parameter { name: name.to_owned(), values })
}

/// `-L NAME VALUES [-L NAME VALUES]...` as a flat list of names and values.
pub fn lists(words: &[String]) -> Result<Vec<Parameter>, Failure> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for pair in words.chunks_exact(2) {
        let (name, values) = (&pair[0], &pair[1]);
        if parameters.iter().any(|p| p.name == *name) {
            return Err(Failure::usage(
                format!("--parameter-list: the parameter '{name}' is given twice"),
                "Give each parameter once, with all its values separated by commas.",
            )
            .in_hyperfine(format!("Duplicate parameter names: {name}")));
        }
        parameters.push(Parameter { name: name.clone(), values: split_list(values) });
    }
    Ok(parameters)
}

/// Splits at commas. `\,` is a comma in a value and `\\` a backslash; other backslashes stand for themselves.
fn split_list(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == ',' {
            values.push(String::new());
            continue;
        }
        let escaped = if c == '\\' { chars.next_if(|next| matches!(next, ',' | '\\')) } else { None };
        if let Some(value) = values.last_mut() {
            value.push(escaped.unwrap_or(c));
        }
    }
    values
}

/// Puts the values into a text, all at once: a value that itself holds `{other}` is left as it is.
pub fn substitute(text: &str, parameters: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(brace) = rest.find('{') {
        out.push_str(&rest[..brace]);
        rest = &rest[brace..];
        let found = parameters.iter().find_map(|(name, value)| {
            rest[1..]
                .strip_prefix(name.as_str())
                .and_then(|r| r.strip_prefix('}'))
                .map(|after| (value, after))
        });
        match found {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a text mentions a parameter.
pub fn mentions(text: &str, name: &str) -> bool {
    text.contains(&format!("{{{name}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(min: &str, max: &str, step: Option<&str>) -> Vec<String> {
        scan("x", min, max, step).unwrap().values
    }

    #[test]
    fn a_scan_counts_in_decimals() {
        assert_eq!(values("1", "4", None), ["1", "2", "3", "4"]);
        assert_eq!(values("-1", "1", None), ["-1", "0", "1"]);
        assert_eq!(values("0.3", "0.7", Some("0.2")), ["0.3", "0.5", "0.7"]);
        assert_eq!(values("0", "1", Some("0.25")), ["0", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(values("1", "10", Some("4")), ["1", "5", "9"]);
    }

    #[test]
    fn a_scan_that_cannot_be_is_refused_with_the_reason() {
        let say = |min, max, step| scan("x", min, max, step).unwrap_err().message;
        assert!(say("5", "1", None).contains("holds no value"));
        assert!(say("0.5", "1", None).contains("needs a step"));
        assert!(say("0", "1", Some("0")).contains("not above 0"));
        assert!(say("0", "1", Some("-1")).contains("not above 0"));
        assert!(say("0", "99999999999", None).contains("more than"));
        assert!(say("a", "1", None).contains("'a' is not a number"));
        assert!(say("0", "nan", None).contains("'nan' is not a number"));
    }

    #[test]
    fn the_largest_decimal_ends_the_scan_instead_of_overflowing() {
        let max = Decimal::MAX.to_string();
        assert_eq!(values(&max, &max, None), [max]);
    }

    #[test]
    fn lists_are_split_at_bare_commas() {
        let split = |text: &str| split_list(text);
        assert_eq!(split("a,b"), ["a", "b"]);
        assert_eq!(split(r"a\,b,c"), ["a,b", "c"]);
        assert_eq!(split(r"\\,\n"), [r"\", r"\n"]);
        assert_eq!(split(""), [""]);
        assert_eq!(split(",a,"), ["", "a", ""]);
        assert_eq!(split("a\\"), ["a\\"]);
        let twice = ["x", "1", "x", "2"].map(String::from);
        assert!(lists(&twice).unwrap_err().message.contains("'x' is given twice"));
    }

    #[test]
    fn values_are_put_in_at_once() {
        let parameters: BTreeMap<String, String> =
            [("foo", "{bar} baz"), ("bar", "quux")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        assert_eq!(substitute("echo {foo} {bar} {none} {", &parameters), "echo {bar} baz quux {none} {");
        assert_eq!(substitute("{{foo}}", &parameters), "{{bar} baz}");
    }

    proptest! {
        #[test]
        fn a_text_without_the_parameter_is_unchanged(text in "[^{]*", value in any::<String>()) {
            let parameters = BTreeMap::from([("p".to_owned(), value)]);
            prop_assert_eq!(substitute(&text, &parameters), text);
        }

        #[test]
        fn every_mention_is_replaced_once(before in "[a-z]*", value in "[a-z{}]*", after in "[a-z]*") {
            let parameters = BTreeMap::from([("p".to_owned(), value.clone())]);
            let text = format!("{before}{{p}}{after}");
            prop_assert_eq!(substitute(&text, &parameters), format!("{before}{value}{after}"));
        }
    }
}
