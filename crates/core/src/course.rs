//! How far the whole of a measurement is: a share that never falls.
//!
//! What is left is an estimate that changes with every batch. The share therefore moves on from where it is and is never computed
//! anew: in each step the time that passed is held against that time and what is left now. Where the estimates are right, the
//! share is the part of the time that is over; where they grow, it goes on more slowly; and it comes to 1 only at the end.

/// The share of a measurement, or of one part of several, that is done.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    from: f64,
    to: f64,
    /// Of this part.
    done: f64,
    now_s: f64,
}

impl Default for Course {
    fn default() -> Self {
        Self::part(0, 1)
    }
}

impl Course {
    /// The part with this number, from 0, of as many equal ones.
    pub fn part(number: usize, of: usize) -> Self {
        let of = of.max(1) as f64;
        Self { from: number as f64 / of, to: (number + 1) as f64 / of, done: 0.0, now_s: 0.0 }
    }

    /// It is so late now, in seconds since the beginning, and so much is left, as far as one can tell. Gives the share of the whole.
    pub fn advance(&mut self, now_s: f64, left_s: f64) -> f64 {
        let passed_s = now_s - self.now_s;
        if passed_s > 0.0 {
            self.now_s = now_s;
            // An unknown rest moves nothing.
            let left_s = if left_s.is_nan() { f64::INFINITY } else { left_s.max(0.0) };
            self.done += (1.0 - self.done) * passed_s / (passed_s + left_s);
        }
        self.share()
    }

    /// The share of the whole, below 1.
    pub fn share(&self) -> f64 {
        self.from + (self.to - self.from) * self.done.min(1.0 - 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn with_right_estimates_it_is_the_part_of_the_time() {
        let mut course = Course::default();
        for second in 1..10 {
            let share = course.advance(f64::from(second), f64::from(10 - second));
            assert!((share - f64::from(second) / 10.0).abs() < 1e-9, "{share} after {second} s of 10");
        }
        let mut second_half = Course::part(1, 2);
        assert_eq!(second_half.share(), 0.5);
        assert!((second_half.advance(1.0, 1.0) - 0.75).abs() < 1e-9);
    }

    #[test]
    fn what_turns_out_longer_goes_on_more_slowly() {
        let mut course = Course::default();
        let before = course.advance(9.0, 1.0);
        let after = course.advance(10.0, 90.0);
        assert!(after > before && after < before + 0.01, "{before} {after}");
    }

    proptest! {
        #[test]
        fn it_never_falls_and_never_comes_to_the_end(
            steps in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 1..200)
        ) {
            let mut course = Course::default();
            let mut shown = 0.0;
            for (now_s, left_s) in steps {
                let share = course.advance(now_s, left_s);
                prop_assert!(share >= shown && share < 1.0, "{shown} then {share}");
                shown = share;
            }
        }
    }
}
