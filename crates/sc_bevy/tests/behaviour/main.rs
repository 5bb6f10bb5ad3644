//! Behaviour, one module a topic, in one program: a program a topic would take longer to link than to run.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod app;
#[cfg(feature = "asset")]
mod asset;
mod awaiting;
mod cases_e;
mod cases_e_ends;
mod cases_e_ticks;
mod common;
mod despawn;
mod dropped;
mod edges;
mod fixed;
mod latency;
mod parallel;
mod pending;
#[cfg(feature = "state")]
mod state;
mod time;
