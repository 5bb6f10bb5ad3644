//! Numbers: decimal, with a `.` whatever the machine's locale, perhaps with a sign.

use std::borrow::Cow;

use super::{ArgError, ConsoleArg};

macro_rules! whole_numbers {
    ($($type:ty),*) => { $(
        impl ConsoleArg for $type {
            fn type_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn parse(word: &str) -> Result<Self, ArgError> {
                word.parse().map_err(|_| {
                    let (least, most) = (<$type>::MIN, <$type>::MAX);
                    ArgError::expected(format!("a whole number from {least} to {most}"))
                })
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )* };
}

whole_numbers!(
    i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
);

macro_rules! floats {
    ($($type:ty),*) => { $(
        impl ConsoleArg for $type {
            fn type_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn parse(word: &str) -> Result<Self, ArgError> {
                let decimal = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
                let number = word.chars().all(decimal).then(|| word.parse::<$type>().ok());
                match number.flatten() {
                    // `-0` is 0: whoever types it means no sign.
                    Some(number) if number.is_finite() => Ok(number + 0.0),
                    Some(_) => Err(ArgError::expected(concat!(
                        "a number in the range of ", stringify!($type)
                    ))),
                    None => Err(ArgError::expected("a number such as 2, -1.5 or 1.5e3")),
                }
            }

            fn show(&self) -> String {
                format!("{self:?}")
            }

            fn check(&self) -> Result<(), ArgError> {
                if self.is_finite() {
                    Ok(())
                } else {
                    Err(ArgError::expected(format!("a finite number, not {self:?}")))
                }
            }
        }
    )* };
}

floats!(f32, f64);
