//! Latent logic on the game thread: an executor and four flow nodes, each usable as a builder with
//! callbacks and as an awaitable, with the same semantics.
//!
//! | I need .. | builder | async |
//! | --- | --- | --- |
//! | a loop that takes its time | [`ForEach`] | [`FlowCx::for_each`]; short: [`FlowCx::for_each_with_delay`], [`FlowCx::for_each_per_tick`] |
//! | to do something for a duration | [`DoForDuration`] | [`FlowCx::do_for_duration`] |
//! | to change its speed or its place meanwhile | [`DriveControl`] | [`DriveControl`] |
//! | to wait for a condition, perhaps not forever | [`WaitUntil`] | [`FlowCx::wait_until`] |
//! | to wait for a value to change | [`WaitUntil::changed`] | [`FlowCx::changed`] |
//! | to wait for time or frames | | [`FlowCx::delay`], [`FlowCx::next_tick`], [`FlowCx::pace`] |
//! | a story | | [`FlowExt::spawn_flow`], [`Flow`] |
//! | a value | | [`FlowExt::spawn_task`], [`Task`] |
//! | several at once | | [`join`], [`join_all`], [`race`], [`FlowCx::timeout`], [`FlowCx::scope`] |
//! | another thread's result | | [`FlowCx::run_on_thread`] |
//! | the id of a flow that is started later | [`FlowExt::pending_flows`] | [`FlowId::reserve`] |
//! | to see what is running, and end it | [`FlowExt::flow_list`], [`FlowExt::cancel`] | |
//!
//! Everything runs in the frame's `Flows` stage. In each world, in this order: waits that are over,
//! clocks in table order ([`sc_core::Clock`]), each by (deadline, order of registration); flows woken
//! since the last stage, first woken first; first polls and flows that run every frame, in order of
//! start; flows woken in this stage.
//!
//! # What does not compile
//! Flows live on the game thread, and so do their handles:
//!
//! ```compile_fail,E0277
//! fn needs_send<T: Send>() {}
//! needs_send::<sc_flow::FlowCx<()>>();
//! ```
//!
//! ```compile_fail,E0277
//! fn needs_send<T: Send>() {}
//! needs_send::<sc_flow::Task<u32>>();
//! ```
//!
//! A [`FlowId`] may go anywhere, but there is little to do with it without a `Cx`:
//!
//! ```
//! fn needs_send<T: Send + Sync>() {}
//! needs_send::<sc_flow::FlowId>();
//! ```
//!
//! The `Cx` that [`FlowCx::with`] lends cannot leave it, neither as its value nor into what is around
//! it, and is not held over an await:
//!
//! ```compile_fail
//! # use sc_flow::*;
//! async fn body(fx: FlowCx<u32>) -> Result<(), FlowError> {
//!     let cx = fx.with(|cx| cx)?;
//!     fx.next_tick().await
//! }
//! ```
//!
//! ```compile_fail,E0521
//! # use sc_flow::*;
//! async fn body(fx: FlowCx<u32>) -> Result<(), FlowError> {
//!     let mut kept = None;
//!     fx.with(|cx| kept = Some(cx))?;
//!     fx.next_tick().await
//! }
//! ```
//!
//! ```compile_fail,E0728
//! # use sc_flow::*;
//! async fn body(fx: FlowCx<u32>) -> Result<(), FlowError> {
//!     fx.with(|cx| fx.next_tick().await)?
//! }
//! ```
//!
//! This does:
//!
//! ```
//! # use sc_flow::*;
//! async fn body(fx: FlowCx<u32>) -> Result<(), FlowError> {
//!     let score = fx.with(|cx| *cx.host())?;
//!     fx.next_tick().await?;
//!     fx.with(|cx| *cx.host_mut() = score + 1)
//! }
//! ```
//!
//! # Features
//! - `easing` (default): the named curves of [`Ease`].

mod any;
mod combine;
mod error;
mod executor;
mod ext;
mod finish;
mod fx;
mod id;
mod join;
mod list;
mod node;
mod reports;
mod reserve;
mod span;
mod task;
mod thread;
mod watch;

pub use any::AnyFlowExt;
pub use combine::{ChildAnswer, Either, Scope, join, join_all, race};
pub use error::FlowError;
pub use ext::FlowExt;
pub use finish::{Done, FlowFinish, Step, Wait};
pub use fx::{
    ChangedFx, Delay, DoForDurationFx, Flow, FlowCx, FlowEnd, ForEachFx, LoopAnswer, NextTick,
    Pace, ThreadResult, Ticks, WaitUntilFx,
};
pub use id::FlowId;
pub use list::{FlowInfo, FlowKind, Progress, WaitingFor};
pub use node::control::DriveControl;
pub use node::duration::DoForDuration;
#[cfg(feature = "easing")]
pub use node::ease::Ease;
pub use node::for_each::ForEach;
pub use node::wait_until::WaitUntil;
pub use reserve::{FlowState, PendingFlows, Reservation, Reserved};
pub use task::Task;
