//! What the macros expand to. No part of the interface.

pub use inventory;
pub use sc_core::AnyCx;
pub use tracing;

pub use crate::arg::{Parameter, Rule};
use crate::command::CommandError;
pub use crate::command::{
    Call, CallError, CallResult, CommandDef, CommandEntry, Ended, Forwarded, IntoEnded,
    IntoStaticBody, IntoSuggest, ParamDef, StaticBody,
};
use crate::name::fold;
use crate::output::Output;
pub use crate::registry::RegistryEntry;
pub use crate::variable::VariableEntry;

/// Whether a word is a variant's.
#[must_use]
pub fn same_word(word: &str, variant: &str) -> bool {
    fold(word) == fold(variant)
}

/// Whether a value is one of the special ones.
pub fn same<P: Parameter<Arg: PartialEq>>(value: &P::Arg, special: &P::Arg) -> bool {
    value == special
}

/// Runs a body and says how it ended.
///
/// # Errors
/// What the body says.
pub fn run<C, R: IntoEnded>(
    cx: C,
    out: &mut Output,
    body: impl FnOnce(C, &mut Output) -> Result<R, CommandError>,
) -> CallResult {
    match body(cx, out) {
        Ok(ended) => Ok(ended.into_ended()),
        Err(error) => Err(CallError::Failed(error)),
    }
}
