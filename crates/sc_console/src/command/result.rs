//! How a command ends: done, not yet, or with an error.

use std::error::Error;
use std::fmt;

use super::latent::Latent;
use crate::arg::ArgError;

/// Why a command failed, as its body says. Every error converts into it, and so do texts: `?` just
/// works in a body, and `Err("no such door")?` does.
///
/// ```
/// use sc_console::CommandError;
/// fn half(text: &str) -> Result<i32, CommandError> {
///     let number: i32 = text.parse()?;
///     if number % 2 == 1 { Err(format!("{number} is odd"))?; }
///     Ok(number / 2)
/// }
/// assert_eq!(half("7").unwrap_err().to_string(), "7 is odd");
/// ```
pub struct CommandError(Box<dyn Error>);

impl<E: Into<Box<dyn Error>>> From<E> for CommandError {
    fn from(error: E) -> Self {
        CommandError(error.into())
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a call came to nothing.
#[doc(hidden)]
#[derive(Debug)]
pub enum CallError {
    /// An argument is missing.
    Missing { index: usize },
    /// An argument is no value of its type.
    Word { index: usize, error: ArgError },
    /// An argument is not allowed.
    OutOfRange { index: usize },
    /// There are more arguments than parameters.
    TooMany { index: usize },
    /// The body says so.
    Failed(CommandError),
}

/// How a call went on.
#[doc(hidden)]
#[derive(Debug)]
pub enum Ended {
    /// Done.
    Now,
    /// Not yet.
    Later(Latent),
    /// So many frames later.
    Frames(u64),
    /// When these lines are done.
    Lines(crate::run::Lines),
    /// When this was done to the variable that its first argument names.
    OnVariable(OnVariable),
}

#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnVariable {
    Set,
    Reset,
}

#[doc(hidden)]
pub type CallResult = Result<Ended, CallError>;

/// What a body may return in its `Ok`: `()`, or a [`Latent`] if it goes on.
pub trait IntoEnded {
    #[doc(hidden)]
    fn into_ended(self) -> Ended;
}

impl IntoEnded for () {
    fn into_ended(self) -> Ended {
        Ended::Now
    }
}

impl IntoEnded for Latent {
    fn into_ended(self) -> Ended {
        Ended::Later(self)
    }
}

impl IntoEnded for Ended {
    fn into_ended(self) -> Ended {
        self
    }
}
