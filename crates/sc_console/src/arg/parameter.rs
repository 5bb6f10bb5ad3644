//! Parameters: one value, perhaps one (`Option`), or any number of them (`Vec`).

use std::fmt;

use super::{ArgError, ConsoleArg};
use crate::parse::Word;

/// The type of a parameter: a [`ConsoleArg`], an `Option` of one (may be left out) or a `Vec` of
/// one (takes every word that follows, so it must be the last).
pub trait Parameter: Sized + 'static {
    /// The type of one word.
    type Arg: ConsoleArg;
    /// It may be left out even without a default.
    const OPTIONAL: bool;
    /// It takes everything that follows.
    const VARIADIC: bool;

    /// Takes what belongs to the parameter off the words that are left.
    ///
    /// # Errors
    /// What is wrong, and with how many words left.
    #[doc(hidden)]
    fn take(words: &mut &[Word], rule: &Rule<Self>) -> Result<Self, TakeError>;

    /// The value, a word each; none for one that is left out.
    #[doc(hidden)]
    fn words(&self) -> Vec<String>;
}

/// Why a parameter could not be taken.
#[doc(hidden)]
#[derive(Debug)]
pub enum TakeError {
    /// There is no word for it.
    Missing,
    /// The word is no value of its type.
    Word(ArgError),
    /// The value is not allowed.
    OutOfRange,
}

/// What a parameter allows and what stands in for it.
#[doc(hidden)]
pub struct Rule<P: Parameter> {
    pub default: Option<fn() -> P>,
    pub in_range: Option<fn(&P::Arg) -> bool>,
    pub is_special: Option<fn(&P::Arg) -> bool>,
}

impl<P: Parameter> Default for Rule<P> {
    fn default() -> Self {
        Rule {
            default: None,
            in_range: None,
            is_special: None,
        }
    }
}

impl<P: Parameter> fmt::Debug for Rule<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").finish_non_exhaustive()
    }
}

impl<P: Parameter> Rule<P> {
    /// Parses a word, then asks whether its value is allowed.
    pub fn value(&self, word: &str) -> Result<P::Arg, TakeError> {
        let value = P::Arg::parse(word).map_err(TakeError::Word)?;
        let in_range = self.in_range.is_none_or(|is| is(&value));
        if in_range || self.is_special.is_some_and(|is| is(&value)) {
            Ok(value)
        } else {
            Err(TakeError::OutOfRange)
        }
    }
}

fn take_one<P: Parameter>(
    words: &mut &[Word],
    rule: &Rule<P>,
) -> Result<Option<P::Arg>, TakeError> {
    let Some((first, rest)) = words.split_first() else {
        return Ok(None);
    };
    let value = rule.value(&first.text)?;
    *words = rest;
    Ok(Some(value))
}

impl<T: ConsoleArg> Parameter for T {
    type Arg = T;
    const OPTIONAL: bool = false;
    const VARIADIC: bool = false;

    fn take(words: &mut &[Word], rule: &Rule<Self>) -> Result<Self, TakeError> {
        let given = take_one(words, rule)?;
        let value = given.or_else(|| rule.default.map(|make| make()));
        value.ok_or(TakeError::Missing)
    }

    fn words(&self) -> Vec<String> {
        vec![self.show()]
    }
}

impl<T: ConsoleArg> Parameter for Option<T> {
    type Arg = T;
    const OPTIONAL: bool = true;
    const VARIADIC: bool = false;

    fn take(words: &mut &[Word], rule: &Rule<Self>) -> Result<Self, TakeError> {
        let given = take_one(words, rule)?;
        Ok(given.or_else(|| rule.default.and_then(|make| make())))
    }

    fn words(&self) -> Vec<String> {
        self.iter().map(T::show).collect()
    }
}

impl<T: ConsoleArg> Parameter for Vec<T> {
    type Arg = T;
    const OPTIONAL: bool = true;
    const VARIADIC: bool = true;

    fn take(words: &mut &[Word], rule: &Rule<Self>) -> Result<Self, TakeError> {
        let mut values = Vec::with_capacity(words.len());
        while let Some(value) = take_one(words, rule)? {
            values.push(value);
        }
        match rule.default {
            Some(make) if values.is_empty() => Ok(make()),
            _ => Ok(values),
        }
    }

    fn words(&self) -> Vec<String> {
        self.iter().map(T::show).collect()
    }
}
