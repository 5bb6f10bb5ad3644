//! Time dilation in fixed point: the factor as the decimal its author wrote, in units of
//! 1e-18, and the part of a nanosecond that was not handed out yet, carried in the same unit.

use super::TimeError;
use super::decimal::Decimal;

/// One in the unit of the fixed point.
const ONE: u128 = 1_000_000_000_000_000_000;

/// How fast dilated clocks run: finite, 0 or at least 1e-18.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Dilation {
    factor: f64,
    /// `factor` in units of 1e-18. Beyond `u128` it stays at the top: every delta but zero
    /// saturates there anyway.
    units: u128,
}

/// The part of a nanosecond not handed out yet, in units of 1e-18 ns. Belongs to a clock, not to
/// a factor, so that it survives a change of factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Remainder(u64);

impl Default for Dilation {
    fn default() -> Self {
        Dilation {
            factor: 1.0,
            units: ONE,
        }
    }
}

impl Dilation {
    pub(crate) fn new(factor: f64) -> Result<Self, TimeError> {
        let refused = TimeError::BadDilation { dilation: factor };
        if !factor.is_finite() || factor < 0.0 {
            return Err(refused);
        }
        let units = Decimal::of_f64(factor).scaled(18).unwrap_or(u128::MAX);
        if units == 0 && factor > 0.0 {
            return Err(refused);
        }
        Ok(Dilation { factor, units })
    }

    pub(crate) fn factor(self) -> f64 {
        self.factor
    }

    /// The dilated delta in nanoseconds, however large. The remainder goes in and out; beyond
    /// `u128` there is none.
    pub(crate) fn apply(self, delta: u64, remainder: &mut Remainder) -> u128 {
        if self.units == ONE {
            // Most clocks, most of the time: the remainder stays as it is.
            return delta.into();
        }
        let exact = u128::from(delta)
            .checked_mul(self.units)
            .and_then(|product| product.checked_add(u128::from(remainder.0)));
        let Some(exact) = exact else {
            *remainder = Remainder::default();
            return u128::MAX;
        };
        let whole = exact / ONE;
        // Below ONE, hence below u64::MAX.
        let left = exact - whole * ONE;
        *remainder = Remainder(u64::try_from(left).unwrap_or(0));
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(factor: f64, delta: u64, frames: u64) -> u64 {
        let dilation = Dilation::new(factor).unwrap();
        let mut remainder = Remainder::default();
        (0..frames)
            .map(|_| u64::try_from(dilation.apply(delta, &mut remainder)).unwrap())
            .sum()
    }

    #[test]
    fn the_remainder_is_carried() {
        // 0.3 of 7 ns is 2.1 ns: a tenth is left over each time.
        assert_eq!(total(0.3, 7, 1), 2);
        assert_eq!(total(0.3, 7, 9), 18);
        assert_eq!(total(0.3, 7, 10), 21);
        assert_eq!(total(1.0, 16_666_667, 3), 50_000_001);
        assert_eq!(total(0.0, 16_666_667, 3), 0);
    }

    #[test]
    fn the_remainder_survives_a_change_of_factor() {
        let mut remainder = Remainder::default();
        let half = Dilation::new(0.5).unwrap();
        assert_eq!(half.apply(1, &mut remainder), 0);
        assert_eq!(
            Dilation::default().apply(10, &mut remainder),
            10,
            "a whole factor neither loses nor gains it"
        );
        assert_eq!(half.apply(1, &mut remainder), 1);
    }

    #[test]
    fn beyond_u64_it_is_still_exact_as_far_as_there_are_numbers() {
        let mut remainder = Remainder::default();
        let huge = Dilation::new(1e300).unwrap();
        assert_eq!(huge.apply(2, &mut remainder), u128::MAX);
        assert_eq!(huge.apply(0, &mut remainder), 0);
        let twice = Dilation::new(2.0).unwrap();
        assert_eq!(
            twice.apply(u64::MAX, &mut remainder),
            36_893_488_147_419_103_230
        );
    }

    #[test]
    fn what_is_no_factor_is_refused() {
        for bad in [f64::NAN, f64::INFINITY, -0.5, 1e-19] {
            assert!(Dilation::new(bad).is_err(), "{bad}");
        }
        assert_eq!(Dilation::new(0.0).unwrap().factor(), 0.0);
        assert_eq!(Dilation::new(-0.0).unwrap().apply(5, &mut Remainder(0)), 0);
        assert_eq!(
            Dilation::new(1e-18)
                .unwrap()
                .apply(1_000_000_000_000_000_000, &mut Remainder(0)),
            1
        );
    }
}
