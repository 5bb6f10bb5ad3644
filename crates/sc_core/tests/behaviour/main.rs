//! Behaviour, one module a topic, in one program: a program a topic would take longer to link than to run.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod anchors;
mod batch;
mod begin;
mod cases_a;
mod chains;
mod clocks;
mod determinism;
mod driver;
mod extension;
mod frame;
mod inbox;
mod interval;
mod lifecycle;
mod order;
mod owner_dropped;
mod panics;
mod probe;
mod report_handler;
mod reports;
mod runtime_end;
mod soak;
mod steps;
mod teardown;
mod teardown_panics;
mod worlds;
