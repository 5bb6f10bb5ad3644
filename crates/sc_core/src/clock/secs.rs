//! The edge where seconds become nanoseconds. Inside, time is integer nanoseconds only.

use std::time::Duration;

use super::decimal::Decimal;

/// A number of seconds as a user wrote it, not yet validated. Made by [`secs`]; the call that
/// takes it validates it and returns the error.
///
/// A [`Duration`] converts into it, exactly.
///
/// ```
/// use sc_core::{Secs, secs};
/// use std::time::Duration;
/// assert_eq!(secs(0.25).to_duration(), Ok(Duration::from_millis(250)));
/// assert_eq!(Secs::from(Duration::from_nanos(7)).to_duration(), Ok(Duration::from_nanos(7)));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Secs(Repr);

#[derive(Clone, Copy, PartialEq, Debug)]
enum Repr {
    Float(f64),
    Exact(Duration),
}

/// Seconds, from an `f64`, an `f32`, or a whole number. Cannot fail: sign, NaN and infinity
/// are kept, and the call that starts, sets or awaits something with it returns the error.
///
/// A number counts as the decimal its author wrote: `0.1` is 100,000,000 ns, of `f32` too.
/// Less than a nanosecond is rounded to the nearest one, a half up.
///
/// ```
/// use sc_core::secs;
/// use std::time::Duration;
/// assert_eq!(secs(3).to_duration(), Ok(Duration::from_secs(3)));
/// assert_eq!(secs(0.1_f32).to_duration(), Ok(Duration::from_nanos(100_000_000)));
/// assert!(secs(f64::NAN).to_duration().is_err());
/// ```
#[must_use]
pub fn secs(seconds: impl Into<Secs>) -> Secs {
    seconds.into()
}

impl From<f64> for Secs {
    fn from(x: f64) -> Self {
        Secs(Repr::Float(x))
    }
}

impl From<f32> for Secs {
    fn from(x: f32) -> Self {
        // Through the shortest decimal of the f32, so that 0.1_f32 is one tenth.
        Secs(Repr::Float(
            short_decimal(x).unwrap_or_else(|| by_its_text(x)),
        ))
    }
}

/// The number that the shortest decimal of `x` stands for, if that has few places.
#[allow(clippy::cast_possible_truncation)]
fn short_decimal(x: f32) -> Option<f64> {
    const POWERS: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
    // From here on, one that ends before the point may be shorter.
    const DIGITS: f64 = 16_777_216.0;
    let wide = f64::from(x);
    POWERS.into_iter().find_map(|power| {
        let digits = (wide * power).round();
        let decimal = digits / power;
        (digits.abs() < DIGITS && decimal as f32 == x).then_some(decimal)
    })
}

/// The same of any number. Not every text of a float parses back (NaN with a payload): then the plain widening
/// serves.
fn by_its_text(x: f32) -> f64 {
    let mut text = [0_u8; 64];
    let mut cursor = std::io::Cursor::new(text.as_mut_slice());
    let written = std::io::Write::write_fmt(&mut cursor, format_args!("{x:e}"));
    let len = usize::try_from(cursor.position()).unwrap_or(0);
    let exact = written
        .ok()
        .and_then(|()| std::str::from_utf8(text.get(..len)?).ok())
        .and_then(|s| s.parse().ok());
    exact.unwrap_or_else(|| f64::from(x))
}

macro_rules! from_whole {
    ($($t:ty),*) => {$(
        impl From<$t> for Secs {
            fn from(x: $t) -> Self {
                Secs(Repr::Float(f64::from(x)))
            }
        }
    )*};
}
from_whole!(i32, u32);

impl From<u64> for Secs {
    fn from(x: u64) -> Self {
        Secs(Repr::Exact(Duration::from_secs(x)))
    }
}

impl From<i64> for Secs {
    #[allow(clippy::cast_precision_loss)]
    fn from(x: i64) -> Self {
        match u64::try_from(x) {
            Ok(x) => x.into(),
            // Only the sign matters.
            Err(_) => Secs(Repr::Float(x as f64)),
        }
    }
}

impl From<Duration> for Secs {
    fn from(d: Duration) -> Self {
        Secs(Repr::Exact(d))
    }
}

impl Secs {
    /// The number as given.
    ///
    /// ```
    /// use sc_core::secs;
    /// assert_eq!(secs(-2).as_f64(), -2.0);
    /// ```
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Repr::Float(x) => x,
            Repr::Exact(d) => d.as_secs_f64(),
        }
    }

    /// The exact length, in whole nanoseconds.
    ///
    /// # Errors
    /// [`TimeError`] for NaN, an infinity, a negative number, or more than `u64::MAX`
    /// nanoseconds (584 years). `-0.0` is zero.
    pub fn to_duration(self) -> Result<Duration, TimeError> {
        self.to_nanos().map(Duration::from_nanos)
    }

    /// As [`Secs::to_duration`], in nanoseconds.
    pub(crate) fn to_nanos(self) -> Result<u64, TimeError> {
        let wide = match self.0 {
            Repr::Exact(d) => Some(d.as_nanos()),
            Repr::Float(x) if x.is_nan() => return Err(TimeError::NotANumber),
            Repr::Float(x) if x.is_infinite() => return Err(TimeError::Infinite { seconds: x }),
            Repr::Float(x) if x < 0.0 => return Err(TimeError::Negative { seconds: x }),
            Repr::Float(x) => match nearest_nanos(x) {
                Some(nanos) => return Ok(nanos),
                None => Decimal::of_f64(x).scaled(9),
            },
        };
        wide.and_then(|ns| u64::try_from(ns).ok())
            .ok_or(TimeError::OutOfRange {
                seconds: self.as_f64(),
            })
    }
}

/// The nanosecond that the shortest decimal of `x` lies nearest to, if that is clear without the decimal.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn nearest_nanos(x: f64) -> Option<u64> {
    let nanos = x * 1e9;
    let nearest = nanos.round();
    // From `x` to its shortest decimal, and from the product to what was rounded to it, it is half a unit in the
    // last place each.
    let unclear = nanos * (2.0 * f64::EPSILON);
    ((nanos - nearest).abs() + unclear < 0.5).then_some(nearest as u64)
}

/// Why a number of seconds, or a time dilation, was refused. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// NaN. A division of zero by zero somewhere before the call.
    #[error("the time is not a number (NaN): check the arithmetic that made it")]
    NotANumber,
    /// Positive or negative infinity.
    #[error("the time is infinite ({seconds:?}): pass a finite number of seconds")]
    Infinite {
        /// The number given.
        seconds: f64,
    },
    /// Below zero.
    #[error("the time is negative ({seconds:?} s): pass zero or more seconds")]
    Negative {
        /// The number given.
        seconds: f64,
    },
    /// More than `u64::MAX` nanoseconds.
    #[error("the time is beyond 584 years ({seconds:?} s): pass a number of seconds below 1.8e10")]
    OutOfRange {
        /// The number given.
        seconds: f64,
    },
    /// A dilation that is NaN, infinite, negative, or positive but below the resolution.
    #[error(
        "the time dilation {dilation:?} is not usable: it must be finite, and 0 or at least 1e-18"
    )]
    BadDilation {
        /// The number given.
        dilation: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_to_the_nanosecond() {
        assert_eq!(secs(0.1).to_nanos(), Ok(100_000_000));
        assert_eq!(secs(0.1_f32).to_nanos(), Ok(100_000_000));
        assert_eq!(secs(16.67e-3_f32).to_nanos(), Ok(16_670_000));
        assert_eq!(secs(10_000_000.1).to_nanos(), Ok(10_000_000_100_000_000));
        assert_eq!(secs(31_536_000).to_nanos(), Ok(31_536_000_000_000_000));
        assert_eq!(secs(-0.0).to_nanos(), Ok(0));
        assert_eq!(secs(0.4e-9).to_nanos(), Ok(0));
        assert_eq!(secs(0.5e-9).to_nanos(), Ok(1));
    }

    #[test]
    fn what_is_no_time_is_refused_by_kind() {
        assert_eq!(secs(f64::NAN).to_nanos(), Err(TimeError::NotANumber));
        assert_eq!(secs(f32::NAN).to_nanos(), Err(TimeError::NotANumber));
        assert_eq!(
            secs(f32::INFINITY).to_nanos(),
            Err(TimeError::Infinite {
                seconds: f64::INFINITY
            })
        );
        assert_eq!(
            secs(f64::NEG_INFINITY).to_nanos(),
            Err(TimeError::Infinite {
                seconds: f64::NEG_INFINITY
            })
        );
        assert_eq!(
            secs(-1).to_nanos(),
            Err(TimeError::Negative { seconds: -1.0 })
        );
        assert_eq!(
            secs(2e10).to_nanos(),
            Err(TimeError::OutOfRange { seconds: 2e10 })
        );
        assert_eq!(
            Secs::from(Duration::MAX).to_nanos(),
            Err(TimeError::OutOfRange {
                seconds: Duration::MAX.as_secs_f64()
            })
        );
    }

    /// Numbers of few places, of many, halves of a nanosecond, and of every magnitude, by a fixed seed.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
    fn numbers() -> impl Iterator<Item = [f64; 4]> {
        (1..50_000_u64).map(|i| {
            let bits = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let digits = (bits % 10_000_000) as f64;
            let few = digits / 10_f64.powi((i % 7) as i32);
            let many = f64::from(few as f32 / 3.0);
            [few, many, (digits + 0.5) / 1e9, f64::from_bits(bits >> 1)]
        })
    }

    #[test]
    fn nanoseconds_without_a_decimal_are_those_of_the_decimal() {
        let mut clear = [0; 4];
        for number in numbers() {
            for (x, clear) in number.into_iter().zip(&mut clear) {
                if let Some(nanos) = nearest_nanos(x) {
                    *clear += 1;
                    let exact = Decimal::of_f64(x).scaled(9);
                    assert_eq!(exact, Some(u128::from(nanos)), "{x:e}");
                }
            }
        }
        assert!(clear[0] > 40_000 && clear[1] > 40_000, "{clear:?}");
        assert_eq!(clear[2], 0, "a half is never clear");
    }

    #[test]
    #[allow(clippy::cast_possible_truncation)]
    fn short_decimals_without_a_text_are_those_of_the_text() {
        let mut short = [0; 4];
        for number in numbers() {
            for (x, short) in number.into_iter().zip(&mut short) {
                for x in [x as f32, -x as f32] {
                    if let Some(decimal) = short_decimal(x) {
                        *short += 1;
                        assert_eq!(decimal, by_its_text(x), "{x:e}");
                    }
                }
            }
        }
        assert_eq!(short[0], 99_998, "all of few places");
    }

    #[test]
    fn sign_and_nan_are_kept_until_the_call_that_validates() {
        assert_eq!(secs(-1.5).as_f64(), -1.5);
        assert!(secs(f32::NAN).as_f64().is_nan());
    }
}
