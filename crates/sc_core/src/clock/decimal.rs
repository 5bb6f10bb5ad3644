//! A floating-point number as the decimal its author wrote: the shortest one that reads back
//! as the same number. `0.1` is one tenth here, not the binary fraction next to it.

use std::fmt::{self, Write as _};

/// `digits * 10^exponent`, of a finite number's absolute value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Decimal {
    pub(crate) digits: u64,
    pub(crate) exponent: i32,
}

/// Holds the text of one number; the longest `{:e}` of an `f64` has 24 bytes.
struct Text {
    bytes: [u8; 32],
    len: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + s.len());
        room.ok_or(fmt::Error)?.copy_from_slice(s.as_bytes());
        self.len += s.len();
        Ok(())
    }
}

impl Decimal {
    /// The shortest decimal of `|x|`; of a number that is not finite, zero.
    pub(crate) fn of_f64(x: f64) -> Self {
        Self::of_exp_text(format_args!("{:e}", x.abs()))
    }

    fn of_exp_text(args: fmt::Arguments<'_>) -> Self {
        let zero = Decimal {
            digits: 0,
            exponent: 0,
        };
        let mut text = Text {
            bytes: [0; 32],
            len: 0,
        };
        if text.write_fmt(args).is_err() {
            return zero;
        }
        let (mut digits, mut exponent, mut after_point) = (0_u64, 0_i32, false);
        let mut bytes = text.bytes.iter().take(text.len);
        for &b in bytes.by_ref() {
            match b {
                b'0'..=b'9' => {
                    digits = digits * 10 + u64::from(b - b'0');
                    exponent -= i32::from(after_point);
                }
                b'.' => after_point = true,
                b'e' => break,
                _ => return zero,
            }
        }
        let (mut power, mut sign) = (0_i32, 1_i32);
        for &b in bytes {
            match b {
                b'-' => sign = -1,
                _ => power = power * 10 + i32::from(b - b'0'),
            }
        }
        Decimal {
            digits,
            exponent: exponent + sign * power,
        }
    }

    /// This number times `10^scale` as an integer, rounded half up; `None` beyond `u128`.
    pub(crate) fn scaled(self, scale: i32) -> Option<u128> {
        let digits = u128::from(self.digits);
        if digits == 0 {
            return Some(0);
        }
        let power = self.exponent + scale;
        if power >= 0 {
            10_u128
                .checked_pow(power.unsigned_abs())
                .and_then(|p| digits.checked_mul(p))
        } else {
            // A divisor beyond u128 leaves less than half a unit of at most 17 digits.
            Some(
                10_u128
                    .checked_pow(power.unsigned_abs())
                    .map_or(0, |p| digits.saturating_add(p / 2) / p),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_decimals() {
        let d = |digits, exponent| Decimal { digits, exponent };
        assert_eq!(Decimal::of_f64(0.1), d(1, -1));
        assert_eq!(Decimal::of_f64(-1234.5), d(12345, -1));
        assert_eq!(Decimal::of_f64(1e300), d(1, 300));
        assert_eq!(Decimal::of_f64(5e-324), d(5, -324));
        assert_eq!(Decimal::of_f64(f64::MAX), d(17976931348623157, 292));
        assert_eq!(Decimal::of_f64(0.0).digits, 0);
        assert_eq!(Decimal::of_f64(f64::NAN).digits, 0);
    }

    #[test]
    fn scaling_rounds_half_up_and_knows_its_range() {
        assert_eq!(Decimal::of_f64(0.1).scaled(9), Some(100_000_000));
        assert_eq!(Decimal::of_f64(0.5e-9).scaled(9), Some(1));
        assert_eq!(Decimal::of_f64(0.4e-9).scaled(9), Some(0));
        assert_eq!(Decimal::of_f64(1e-300).scaled(9), Some(0));
        assert_eq!(Decimal::of_f64(1e300).scaled(9), None);
    }
}
