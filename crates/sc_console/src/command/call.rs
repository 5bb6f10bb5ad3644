//! One call of a command: its words, and where it prints.

use super::result::CallError;
use crate::arg::{Parameter, Rule, TakeError};
use crate::output::Output;
use crate::parse::Word;

/// One call of a command. The macros read the parameters off it.
#[doc(hidden)]
pub struct Call<'c> {
    words: &'c [Word],
    left: &'c [Word],
    params: usize,
    read: usize,
    out: &'c mut Output,
}

impl<'c> Call<'c> {
    pub(crate) fn new(words: &'c [Word], params: usize, out: &'c mut Output) -> Self {
        Call {
            words,
            left: words,
            params,
            read: 0,
            out,
        }
    }

    /// The next parameter.
    ///
    /// # Errors
    /// What is wrong with its argument.
    pub fn read<P: Parameter>(&mut self, rule: &Rule<P>) -> Result<P, CallError> {
        let before = self.left.len();
        let taken = P::take(&mut self.left, rule).map_err(|error| {
            // The word that is wrong; of a variadic one, not its first perhaps.
            let index = self.words.len() - self.left.len();
            match error {
                TakeError::Missing => CallError::Missing { index: self.read },
                TakeError::Word(error) => CallError::Word { index, error },
                TakeError::OutOfRange => CallError::OutOfRange { index },
            }
        })?;
        debug_assert!(self.left.len() <= before);
        self.read += 1;
        if self.read == self.params && !self.left.is_empty() {
            return Err(CallError::TooMany { index: self.params });
        }
        Ok(taken)
    }

    /// Refuses words where there is no parameter.
    ///
    /// # Errors
    /// `TooMany`.
    pub fn expect_no_words(&self) -> Result<(), CallError> {
        if self.left.is_empty() {
            Ok(())
        } else {
            Err(CallError::TooMany { index: 0 })
        }
    }

    /// All words as they are, and where to print.
    pub fn raw(&mut self) -> (&'c [Word], &mut Output) {
        (self.words, self.out)
    }

    /// Where to print.
    pub fn out(&mut self) -> &mut Output {
        self.out
    }
}
