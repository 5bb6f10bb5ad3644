//! Who asks: where a line comes from.

use std::fmt;

/// Where a line comes from. What a source may do is the host's setting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The game's own console on this machine, and calls of the program.
    Local,
    /// A terminal on this machine.
    Terminal,
    /// A script file.
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
