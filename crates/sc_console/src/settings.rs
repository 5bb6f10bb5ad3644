//! What the host decides about its console, and the one filter that follows from it.

use std::path::PathBuf;

use crate::info::Flags;
use crate::source::Source;

/// What the host decides about its console.
///
/// ```
/// use sc_console::{ConsoleExt, Source};
/// # use sc_core::Runtime;
/// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// # let mut cx = rt.cx(&mut host);
/// let settings = cx.console_settings();
/// settings.script_root = Some("scripts".into());
/// settings.cheat_granters = vec![Source::Terminal];
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConsoleSettings {
    /// Whether cheats are on. Default: no.
    pub cheats: bool,
    /// Who may turn cheats on, with `SC.Console.Cheats`. Default: nobody.
    pub cheat_granters: Vec<Source>,
    /// Whether this is a server, or has no other one: else what is server-only is refused. Default:
    /// yes.
    pub is_server: bool,
    /// Whether everyone sees and runs what is hidden, not scripts alone. Default: no.
    pub show_hidden: bool,
    /// The folder of scripts. Default: none, and `exec` is refused.
    pub script_root: Option<PathBuf>,
    /// A longer script is refused (bytes). Default: 1 MiB.
    pub script_limit: u64,
}

impl Default for ConsoleSettings {
    fn default() -> Self {
        ConsoleSettings {
            cheats: false,
            cheat_granters: Vec::new(),
            is_server: true,
            show_hidden: false,
            script_root: None,
            script_limit: 1 << 20,
        }
    }
}

/// Why a source may not run something, or set it. What it may not, it does not see either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Barrier {
    Hidden,
    Cheat,
    ServerOnly,
}

impl Barrier {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Barrier::Hidden => "is hidden: only scripts run it",
            Barrier::Cheat => "is a cheat, and cheats are off",
            Barrier::ServerOnly => "is for servers only, and this is none",
        }
    }
}

impl ConsoleSettings {
    /// The one filter of help, list, completion and run.
    pub(crate) fn barrier(&self, flags: Flags, source: Source) -> Option<Barrier> {
        if flags.hidden && source != Source::Script && !self.show_hidden {
            Some(Barrier::Hidden)
        } else if flags.cheat && !self.cheats {
            Some(Barrier::Cheat)
        } else if flags.server_only && !self.is_server {
            Some(Barrier::ServerOnly)
        } else {
            None
        }
    }

    /// What of it the filter asks.
    pub(crate) fn filter_key(&self) -> (bool, bool, bool) {
        (self.cheats, self.is_server, self.show_hidden)
    }
}
