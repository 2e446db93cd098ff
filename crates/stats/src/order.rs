//! The order of rows, the largest first.

/// Brings the largest first, as `f64::total_cmp` orders them; equal ones stay in the order that they have.
///
/// Places are sorted and not the things themselves: a sort of the standard library is 7 kB of the program for every kind of thing, and reports have
/// dozens of them.
pub fn largest_first<T>(all: &mut [T], size: impl Fn(&T) -> f64) {
    let sizes: Vec<f64> = all.iter().map(size).collect();
    let mut to = places(&sizes);
    for at in 0..all.len() {
        while to[at] != at {
            let there = to[at];
            all.swap(at, there);
            to.swap(at, there);
        }
    }
}

/// The place that each of them gets.
fn places(sizes: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, at)| places[*at] = place);
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_order_of_the_standard_library(sizes in prop::collection::vec(prop_oneof![Just(f64::NAN), Just(-f64::NAN), Just(0.0), -3.0..3.0], 0..40)) {
            let mut ours: Vec<(usize, f64)> = sizes.into_iter().enumerate().collect();
            let mut theirs = ours.clone();
            largest_first(&mut ours, |it| it.1);
            theirs.sort_by(|a, b| b.1.total_cmp(&a.1));
            prop_assert_eq!(ours.iter().map(|it| it.0).collect::<Vec<_>>(), theirs.iter().map(|it| it.0).collect::<Vec<_>>());
        }
    }
}
