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
pub struct CommandError {
    error: Box<dyn Error>,
    parameter: Option<&'static str>,
}

impl CommandError {
    /// An error about one argument: the line is printed with a marker under it, as for a word that is no value
    /// of its type. The argument is named by its parameter.
    ///
    /// ```
    /// use sc_console::{CommandError, ConsoleExt, Source, command};
    /// # use sc_core::{Cx, Runtime};
    /// command! {
    ///     /// Opens a door.
    ///     MyGame.OpenDoor [anytime] (
    ///         /// Its number.
    ///         door: u32,
    ///     ) |_cx: &mut Cx<'_, ()>, _out| {
    ///         if door > 3 { Err(CommandError::at("door", format!("there is no door {door}")))?; }
    ///         Ok(())
    ///     }
    /// }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(
    ///     rt.cx(&mut host).run_line("mygame.opendoor 7", Source::Local).text(),
    ///     "mygame.opendoor 7\n                ^ there is no door 7",
    /// );
    /// ```
    #[must_use]
    pub fn at(parameter: &'static str, error: impl Into<Box<dyn Error>>) -> Self {
        CommandError {
            error: error.into(),
            parameter: Some(parameter),
        }
    }

    /// The parameter whose argument it is about.
    pub(crate) fn parameter(&self) -> Option<&'static str> {
        self.parameter
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for CommandError {
    fn from(error: E) -> Self {
        CommandError {
            error: error.into(),
            parameter: None,
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)?;
        let mut cause = self.error.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
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
