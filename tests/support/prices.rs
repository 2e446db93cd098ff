//! What the tests of `prices` share: the list that words measure, a row of it.

use serde_json::Value;

use super::{Ran, Sandbox};

pub(crate) fn run(words: &[&str]) -> Ran {
    Sandbox::new().run(words)
}

/// The price list that these words measure.
pub(crate) fn list(words: &[&str]) -> Value {
    list_of(&run(&[&["prices", "--json"], words].concat()))
}

/// The price list that a run of `prices --json` printed.
pub(crate) fn list_of(ran: &Ran) -> Value {
    let list = ran.json();
    for price in list["prices"].as_array().unwrap() {
        assert!(price["median_ns"].is_f64() != price["not_measured"].is_string(), "{price}");
    }
    list
}

pub(crate) fn price<'a>(list: &'a Value, name: &str, variant: &str) -> &'a Value {
    let all = list["prices"].as_array().unwrap();
    let found = all.iter().find(|price| price["name"] == name && price["variant"] == variant);
    found.unwrap_or_else(|| {
        panic!("no {name}/{variant} in {:?}", all.iter().map(|p| &p["variant"]).collect::<Vec<_>>())
    })
}

pub(crate) fn floor(list: &Value, name: &str, variant: &str) -> f64 {
    let price = price(list, name, variant);
    price["floor_ns"].as_f64().unwrap_or_else(|| panic!("{price}"))
}

/// Why a row has no price.
pub(crate) fn why<'a>(list: &'a Value, name: &str, variant: &str) -> &'a str {
    let price = price(list, name, variant);
    price["not_measured"].as_str().unwrap_or_else(|| panic!("it has a price: {price}"))
}

/// The row's price; none where other work on this machine left it none, which says nothing about the row.
pub(crate) fn priced<'a>(list: &'a Value, name: &str, variant: &str) -> Option<&'a Value> {
    let price = price(list, name, variant);
    let busy =
        ["all_disturbed", "not_resolvable"].contains(&price["reason"]["kind"].as_str().unwrap_or_default());
    assert!(price["median_ns"].is_f64() || busy, "{price}");
    price["median_ns"].is_f64().then_some(price)
}

/// Fails unless these rows can be priced here: at least one has a price, and the others lack it for other work on this machine.
pub(crate) fn assert_measurable(list: &Value, rows: &[(&str, &str)]) {
    let found = rows.iter().filter(|(name, variant)| priced(list, name, variant).is_some()).count();
    assert!(found > 0, "none of {rows:?} has a price");
}
