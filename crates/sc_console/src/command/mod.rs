//! Commands: how one is declared, defined at run time, and what its body gets and gives.

mod call;
mod declare;
mod definition;
mod latent;
mod macros;
mod param;
mod result;

pub use call::Call;
pub(crate) use declare::{AnyBody, FreeBody, HostBody, Place};
pub use declare::{CommandEntry, Forwarded, IntoStaticBody, StaticBody, StaticCommand};
pub use definition::CommandDef;
pub(crate) use definition::{Bound, DynBody, Parts};
pub use latent::{Latent, LatentEnd};
pub use param::{IntoSuggest, ParamDef};
pub(crate) use param::{Param, fault as param_fault, mask_default, refusal as param_refusal};
pub(crate) use result::OnVariable;
pub use result::{CallError, CallResult, CommandError, Ended, IntoEnded};
