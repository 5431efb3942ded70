//! Solves a few linear equations, some of whose unknowns may be fixed: the core of each step of a fit.

use std::array::from_fn;

pub(in crate::analysis) type Vector = [f64; 3];
pub(in crate::analysis) type Matrix = [Vector; 3];

pub(in crate::analysis) fn dot<const N: usize>(a: [f64; N], b: [f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse over the free rows and columns, zero elsewhere; `None` if it does not exist. Scaled to a unit diagonal
/// first.
pub(in crate::analysis) fn inverse<const N: usize>(matrix: &[[f64; N]; N], free: [bool; N]) -> Option<[[f64; N]; N]> {
    let scale: [f64; N] = from_fn(|i| if free[i] { matrix[i][i].sqrt() } else { 1.0 });
    if scale.iter().any(|scale| !scale.is_finite() || *scale <= 0.0) {
        return None;
    }
    let mut left = [[0.0; N]; N];
    let mut right = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..N {
            let inside = free[i] && free[j];
            left[i][j] = if inside { matrix[i][j] / scale[i] / scale[j] } else { f64::from(u8::from(i == j)) };
            right[i][j] = f64::from(u8::from(i == j && free[i]));
        }
    }
    for pivot in 0..N {
        let largest = (pivot..N).max_by(|a, b| left[*a][pivot].abs().total_cmp(&left[*b][pivot].abs()))?;
        left.swap(pivot, largest);
        right.swap(pivot, largest);
        let value = left[pivot][pivot];
        if value.abs() < 1e-15 {
            return None;
        }
        left[pivot] = left[pivot].map(|cell| cell / value);
        right[pivot] = right[pivot].map(|cell| cell / value);
        for row in (0..N).filter(|row| *row != pivot) {
            let factor = left[row][pivot];
            for column in 0..N {
                left[row][column] -= factor * left[pivot][column];
                right[row][column] -= factor * right[pivot][column];
            }
        }
    }
    Some(from_fn(|i| from_fn(|j| right[i][j] / scale[i] / scale[j])))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const MATRIX: Matrix = [[4e12, 2e6, 1.0], [2e6, 3.0, 0.0], [1.0, 0.0, 2e-6]];

    #[test]
    fn a_matrix_times_its_inverse_is_one_whatever_its_scales() {
        let inverse = inverse(&MATRIX, [true; 3]).unwrap();
        for (i, row) in MATRIX.into_iter().enumerate() {
            for j in 0..3 {
                let cell = dot(row, inverse.map(|row| row[j]));
                let scale = (MATRIX[i][i] / MATRIX[j][j]).sqrt();
                assert!((cell / scale - f64::from(u8::from(i == j))).abs() < 1e-9, "{i} {j} {cell}");
            }
        }
    }

    #[test]
    fn what_is_held_neither_moves_nor_matters() {
        let held = inverse(&MATRIX, [true, false, true]).unwrap();
        assert_eq!(held[1], [0.0; 3]);
        let without = [[4e12, 0.0, 1.0], [0.0, 7.0, 0.0], [1.0, 0.0, 2e-6]];
        let expected = inverse(&without, [true; 3]).unwrap();
        assert!((held[0][0] / expected[0][0] - 1.0).abs() < 1e-12 && (held[2][2] / expected[2][2] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_matrix_without_an_inverse_has_none() {
        assert_eq!(inverse(&[[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]], [true; 3]), None);
        assert_eq!(inverse(&[[f64::NAN; 3]; 3], [true; 3]), None);
        assert_eq!(inverse(&[[0.0; 3]; 3], [true; 3]), None);
    }
}
