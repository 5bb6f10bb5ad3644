//! Who asks: where a line comes from.

use std::fmt;

/// Where a line comes from. What a source may do is the host's setting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// Somebody at the game's own console on this machine: an overlay, a key that runs a line. Echoed, and kept in the
    /// history.
    Local,
    /// Somebody at a terminal on this machine. Echoed, and kept in the history.
    Terminal,
    /// A script file, or the program itself.
    Script,
    /// Another machine.
    Remote,
}

impl Source {
    /// All of them.
    pub const ALL: [Source; 4] = [
        Source::Local,
        Source::Terminal,
        Source::Script,
        Source::Remote,
    ];
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Local => "local",
            Source::Terminal => "terminal",
            Source::Script => "script",
            Source::Remote => "remote",
        })
    }
}
