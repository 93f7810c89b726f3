//! Means with confidence intervals, as the papers give them.
//!
//! Problem: seeds 000 and 002 show means of ten runs with 95 % confidence intervals, not medians. Design:
//! Student's t for the number of samples, from a table, since no more than some dozens are taken. Invariant:
//! an interval needs two samples. Example: of 1, 2 and 3 the mean is 2 ± 2.48.

/// A mean, and how far from it the true one may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half of the 95 % confidence interval.
    pub half: f64,
}

/// 97.5 % quantiles of Student's t distribution for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// What the quantiles approach.
const NORMAL: f64 = 1.96;

/// The mean of some samples; nothing of fewer than two.
pub fn mean(samples: &[f64]) -> Option<Mean> {
    if samples.len() < 2 {
        return None;
    }
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum();
    let quantile = STUDENT.get(samples.len() - 2).copied().unwrap_or(NORMAL);
    Some(Mean { mean, half: quantile * (squares / (count - 1.0) / count).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_student() {
        assert_eq!(mean(&[1.0]), None);
        let three = mean(&[1.0, 2.0, 3.0]).expect("three are enough");
        assert!((three.mean - 2.0).abs() < 1e-12 && (three.half - 4.303 / 3f64.sqrt()).abs() < 1e-3);
        // Ten samples: nine degrees of freedom.
        let ten: Vec<f64> = (0..10).map(f64::from).collect();
        let ten = mean(&ten).expect("ten are enough");
        assert!((ten.half - 2.262 * (55.0f64 / 6.0 / 10.0).sqrt()).abs() < 1e-9, "{ten:?}");
        assert_eq!(mean(&[4.0; 40]), Some(Mean { mean: 4.0, half: 0.0 }));
    }
}
