//! Behaviour, one module a topic, in one program: a program a topic would take longer to link than to run.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod anywhere;
mod bad_input;
mod bound_while;
mod cases_e;
mod changed;
mod combine;
mod counting;
mod drive_control;
mod drive_model;
#[cfg(feature = "easing")]
mod duration;
mod ending;
mod executor;
mod for_each;
mod for_each_async;
mod futures_crate;
mod fx;
mod gone;
mod never_silent;
mod odd_corners;
mod odd_ends;
mod odd_times;
mod odd_wakers;
mod probe;
#[cfg(feature = "easing")]
mod programs;
mod quiet_ends;
mod reserved;
mod scripts;
mod steps;
mod wait_until;
mod waking;
