//! Ratios of ours against a peer, measured in turn in one process: `cargo bench --bench ratios`.
//!
//! One line a row, for a person and for a script:
//! `ratio NAME ours_ns peer_ns RATIO bar BAR ok|short`. `ours_ns` and `peer_ns` are nanoseconds
//! an item; `short` means that the bar was missed. `cargo bench --bench ratios -- NAME` runs the
//! rows whose name contains NAME; `--features bevy` adds those of Bevy.

#[cfg(feature = "bevy")]
mod bevy;
mod body;
mod console;
mod flow;
mod harness;
mod peers;
mod tick;

fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let mut rows = harness::Rows::new(filter);
    tick::rows(&mut rows);
    flow::rows(&mut rows);
    console::rows(&mut rows);
    #[cfg(feature = "bevy")]
    bevy::rows(&mut rows);
    rows.finish();
}
