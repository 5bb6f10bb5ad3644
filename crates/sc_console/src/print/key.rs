//! What a print is found again by.

use std::borrow::Cow;

/// By which a later print replaces an earlier one on screen: a name or a whole number. Numbers of
/// every type up to 64 bits are alike, and a number is never the same as a name.
///
/// ```
/// use sc_console::PrintKey;
/// assert_eq!(PrintKey::from(7_u8), PrintKey::from(7_isize));
/// assert_ne!(PrintKey::from(7), PrintKey::from("7"));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PrintKey(Repr);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Repr {
    Name(Cow<'static, str>),
    Number(i128),
}

impl From<&'static str> for PrintKey {
    fn from(name: &'static str) -> Self {
        PrintKey(Repr::Name(Cow::Borrowed(name)))
    }
}

impl From<String> for PrintKey {
    fn from(name: String) -> Self {
        PrintKey(Repr::Name(Cow::Owned(name)))
    }
}

macro_rules! from_number {
    ($($t:ty),*) => {$(
        impl From<$t> for PrintKey {
            fn from(number: $t) -> Self {
                // Wider than each of them, a `usize` of every platform there is included.
                PrintKey(Repr::Number(number as i128))
            }
        }
    )*};
}
from_number!(i8, u8, i16, u16, i32, u32, i64, u64, isize, usize);
