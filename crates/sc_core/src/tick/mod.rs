//! Tickable objects: contract, ownership, registry, order, and the pass that ticks them.

mod access;
mod anchor;
pub(crate) mod batch;
mod configure;
mod contract;
mod dead;
mod error;
mod inspect;
mod key;
mod life;
mod lifecycle;
mod list;
mod order;
pub(crate) mod run;
mod set;
mod settings;
mod settle;
pub(crate) mod slots;

pub use anchor::Anchor;
pub use configure::Configure;
pub use contract::Tickable;
pub use error::TickError;
pub use inspect::TickInfo;
pub use key::{Owner, TickId, TickKey};
pub use life::Life;
pub use settings::{TickGroup, TickSettings};

pub(crate) use dead::Grave;
pub(crate) use key::OnDrop;
pub(crate) use list::Label;
pub(crate) use set::{Home, TickSet};

/// Scratch of settling, kept between frames.
#[derive(Debug, Default)]
pub(crate) struct SettleScratch {
    pub(crate) leaving: Vec<(u32, Label)>,
    pub(crate) entering: Vec<(set::Spot, u32)>,
    pub(crate) changed: Vec<u32>,
}
