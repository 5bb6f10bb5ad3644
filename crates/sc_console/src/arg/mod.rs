//! Types of arguments: what a word of a line can become.

mod enums;
mod numbers;
mod parameter;
mod range;

use std::borrow::Cow;
use std::fmt;

use crate::name::fold;
use crate::parse::nearest;

pub(crate) use parameter::TakeError;
pub use parameter::{Parameter, Rule};
pub(crate) use range::RangeText;

/// Why a word is no value of a type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub struct ArgError {
    /// What was expected, as in "expected a whole number".
    pub expected: String,
    /// What may have been meant.
    pub nearest: Option<String>,
}

impl ArgError {
    /// Something else was expected.
    ///
    /// ```
    /// use sc_console::ArgError;
    /// let error = ArgError::expected("a colour as #rrggbb");
    /// assert_eq!(error.to_string(), "expected a colour as #rrggbb");
    /// ```
    #[must_use]
    pub fn expected(what: impl Into<String>) -> Self {
        ArgError {
            expected: what.into(),
            nearest: None,
        }
    }

    /// One of some values was expected; the nearest may have been meant.
    ///
    /// ```
    /// use sc_console::ArgError;
    /// let error = ArgError::one_of("swort", &["Sword", "Shield"]);
    /// assert_eq!(error.to_string(), "expected one of Sword, Shield; did you mean `Sword`?");
    /// ```
    #[must_use]
    pub fn one_of(word: &str, values: &[&str]) -> Self {
        let folded: Vec<String> = values.iter().map(|value| fold(value)).collect();
        let near = nearest(&fold(word), folded.iter().map(String::as_str));
        let at = folded.iter().position(|f| Some(f.as_str()) == near);
        let near = near.and(at).and_then(|at| values.get(at));
        ArgError {
            expected: format!("one of {}", values.join(", ")),
            nearest: near.map(|&value| value.to_owned()),
        }
    }
}

impl fmt::Display for ArgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

/// A type that an argument of a command, or a variable, can have. Enums get it by
/// [`console_enum!`](crate::console_enum).
///
/// ```
/// use std::borrow::Cow;
/// use sc_console::{ArgError, ConsoleArg};
///
/// #[derive(Clone, PartialEq, Debug)]
/// struct Percent(f64);
///
/// impl ConsoleArg for Percent {
///     fn type_name() -> Cow<'static, str> { "percent".into() }
///     fn parse(word: &str) -> Result<Self, ArgError> {
///         let number = word.strip_suffix('%').and_then(|number| f64::parse(number).ok());
///         number.map(Percent).ok_or_else(|| ArgError::expected("a percentage such as 12.5%"))
///     }
///     fn show(&self) -> String { format!("{}%", self.0) }
/// }
/// assert_eq!(Percent::parse("12.5%"), Ok(Percent(12.5)));
/// assert!(Percent::parse("12.5").is_err());
/// ```
pub trait ConsoleArg: Clone + 'static {
    /// What help calls the type.
    fn type_name() -> Cow<'static, str>;

    /// The value that a word means.
    ///
    /// # Errors
    /// [`ArgError`] when it means none.
    fn parse(word: &str) -> Result<Self, ArgError>;

    /// The value as a word that parses to it.
    fn show(&self) -> String;

    /// Refuses a value that no word means, such as a NaN that the program has computed.
    ///
    /// # Errors
    /// [`ArgError`] when it is one.
    fn check(&self) -> Result<(), ArgError> {
        Ok(())
    }

    /// All values, as words, if they can be listed.
    #[must_use]
    fn values() -> Vec<&'static str> {
        Vec::new()
    }
}

impl ConsoleArg for bool {
    fn type_name() -> Cow<'static, str> {
        "bool".into()
    }

    fn parse(word: &str) -> Result<Self, ArgError> {
        match fold(word).as_str() {
            "true" | "1" | "on" | "yes" => Ok(true),
            "false" | "0" | "off" | "no" => Ok(false),
            _ => Err(ArgError::expected(
                "true or false (or 1, 0, on, off, yes, no)",
            )),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn values() -> Vec<&'static str> {
        vec!["true", "false"]
    }
}

impl ConsoleArg for String {
    fn type_name() -> Cow<'static, str> {
        "text".into()
    }

    fn parse(word: &str) -> Result<Self, ArgError> {
        Ok(word.to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}
