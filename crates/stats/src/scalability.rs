//! The universal scalability law, fitted to throughput at several loads.
//!
//! X(N) = g * N / (1 + a (N - 1) + b N (N - 1)): with contention `a` a part of every copy does not run beside the others
//! (CPUs that are full are such a part), with coherency `b` every copy costs every other one something (N. J. Gunther,
//! "Guerrilla Capacity Planning", 2007, chapters 4 and 5). N / X is linear in 1, N - 1 and N (N - 1), so that the fit is
//! one of least squares, weighted by relative error, with coefficients that are not negative.

/// Fewer levels than this fit any law.
pub const LEAST_LEVELS: usize = 4;

/// What was fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// Throughput of one copy alone, g.
    pub alone: f64,
    /// Contention, a.
    pub contention: f64,
    /// Coherency, b.
    pub coherency: f64,
    /// Largest relative error of the fit at the levels.
    pub error: f64,
}

impl Scalability {
    /// Throughput at a load.
    pub fn throughput(&self, load: f64) -> f64 {
        self.alone * load / (1.0 + self.contention * (load - 1.0) + self.coherency * load * (load - 1.0))
    }
}

/// Fits the law to pairs of load and throughput. `None` with too few different loads, or with a number that is not positive.
pub fn fit(points: &[(f64, f64)]) -> Option<Scalability> {
    let mut loads: Vec<f64> = points.iter().map(|point| point.0).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    if loads.len() < LEAST_LEVELS
        || points.iter().any(|(n, x)| !(n.is_finite() && x.is_finite() && *n >= 1.0 && *x > 0.0))
    {
        return None;
    }
    // Coefficients that are not negative: of all choices of which may be other than 0, the best that keeps to it.
    let choices = [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
    let fits = choices.iter().filter_map(|used| least_squares(points, *used));
    let (c, _) = fits.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let mut fitted =
        Scalability { alone: 1.0 / c[0], contention: c[1] / c[0], coherency: c[2] / c[0], error: 0.0 };
    fitted.error = points.iter().map(|(n, x)| (fitted.throughput(*n) / x - 1.0).abs()).fold(0.0, f64::max);
    Some(fitted)
}

/// Coefficients and the sum of squared relative errors; `None` if one that is used comes out negative.
fn least_squares(points: &[(f64, f64)], used: [bool; 3]) -> Option<([f64; 3], f64)> {
    let row = |n: f64, x: f64| {
        // Divided by N / X, so that errors are relative.
        let y = n / x;
        [1.0 / y, (n - 1.0) / y, n * (n - 1.0) / y]
    };
    let columns: Vec<usize> = (0..3).filter(|&at| used[at]).collect();
    let size = columns.len();
    let mut system = [[0.0; 4]; 3];
    for (n, x) in points {
        let terms = row(*n, *x);
        for (i, &a) in columns.iter().enumerate() {
            for (j, &b) in columns.iter().enumerate() {
                system[i][j] += terms[a] * terms[b];
            }
            system[i][3] += terms[a];
        }
    }
    let solution = solve(&mut system, size)?;
    let mut coefficients = [0.0; 3];
    for (value, &at) in solution.iter().zip(&columns) {
        coefficients[at] = *value;
    }
    if coefficients[0] <= 0.0 || coefficients.iter().any(|c| *c < 0.0) {
        return None;
    }
    let error = |(n, x): &(f64, f64)| {
        let terms = row(*n, *x);
        (terms.iter().zip(&coefficients).map(|(term, c)| term * c).sum::<f64>() - 1.0).powi(2)
    };
    Some((coefficients, points.iter().map(error).sum()))
}

/// Solves `size` equations in the upper left, right-hand sides in column 3, by elimination with scaled pivots.
fn solve(system: &mut [[f64; 4]; 3], size: usize) -> Option<Vec<f64>> {
    for row in system.iter_mut().take(size) {
        let largest = row[..size].iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        if largest <= 0.0 {
            return None;
        }
        row.iter_mut().for_each(|x| *x /= largest);
    }
    for at in 0..size {
        let pivot = (at..size).max_by(|&a, &b| system[a][at].abs().total_cmp(&system[b][at].abs()))?;
        system.swap(at, pivot);
        // Relative to the scaled rows, below this the columns are the same.
        if system[at][at].abs() < 1e-14 {
            return None;
        }
        for below in at + 1..size {
            let factor = system[below][at] / system[at][at];
            let above = system[at];
            system[below].iter_mut().zip(above).for_each(|(x, y)| *x -= factor * y);
        }
    }
    let mut solution = vec![0.0; size];
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|j| system[at][j] * solution[j]).sum();
        solution[at] = (system[at][3] - known) / system[at][at];
    }
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn too_little_fits_nothing() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0), (4.0, 3.0)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0), (4.0, 3.0), (4.0, 3.1)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 0.0), (4.0, 3.0), (8.0, 3.0)]), None);
    }

    #[test]
    fn linear_growth_has_neither() {
        let law = fit(&[(1.0, 5.0), (2.0, 10.0), (4.0, 20.0), (8.0, 40.0)]).unwrap();
        assert!((law.alone - 5.0).abs() < 1e-9 && law.contention.abs() < 1e-9 && law.coherency.abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn a_law_is_found_again(alone in 0.1..100.0f64, a in 0.0..1.0f64, b in 0.0..0.1f64, noise in 0.0..0.001f64) {
            let law = Scalability { alone, contention: a, coherency: b, error: 0.0 };
            let loads = [1.0, 2.0, 4.0, 10.0, 100.0, 1000.0];
            let points: Vec<(f64, f64)> = loads.iter().enumerate()
                .map(|(at, n)| (*n, law.throughput(*n) * (1.0 + noise * if at % 2 == 0 { 1.0 } else { -1.0 })))
                .collect();
            let found = fit(&points).unwrap();
            prop_assert!(found.error <= 2.0 * noise + 1e-6, "{found:?}");
            prop_assert!((found.alone / alone - 1.0).abs() <= 4.0 * noise + 1e-6);
        }
    }
}
