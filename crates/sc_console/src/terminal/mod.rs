//! A terminal: lines are read on its own threads and run on the game thread, in the stage `Console`.

mod editor;
mod feed;
mod link;
mod plain;
mod reports;
mod style;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use sc_core::Cx;

use self::editor::history::KeptHistory;
use self::editor::session::Session;
use self::feed::add_feed;
use self::link::{Shared, add_earlier, connect};
use crate::log::LogExt;
use crate::source::Source;

pub(crate) use self::feed::{Feed, Item, feeds_of};

/// For so long the end of a terminal waits for what is left to be written, and for the editor to
/// leave.
const PATIENCE: Duration = Duration::from_secs(2);

/// A terminal to the console: choose how, then start it.
///
/// On a terminal it is an editor: completion with `Tab`, hints, history with the arrow keys, and lines
/// of the log above the line that is being typed. Anywhere else (a pipe, a file, a dumb terminal) it
/// reads plain lines and writes plain lines, one after the other: the next line is read when what the
/// one before printed is written.
///
/// It shows what its own lines print, the log that is attached to the runtime
/// ([`LogExt::attach_log`](crate::LogExt::attach_log)), and messages that come on screen; one that
/// replaces another by its key is not shown again.
///
/// It ends at the end of the input, with `Ctrl-D`, with `Ctrl-C` on an empty line, and when its handle
/// is dropped. What that means is the program's to say: see [`TerminalHandle::is_open`].
///
/// ```no_run
/// use sc_console::Terminal;
/// use sc_core::{Driver, Runtime};
/// let (mut rt, mut game) = (Runtime::<()>::new(), ());
/// let terminal = Terminal::new().history_file("console-history.txt").start(&mut rt.cx(&mut game))?;
/// Driver::at_fps(60).run_while(|_, _| terminal.is_open(), &mut rt, &mut game)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is read until it is started"]
pub struct Terminal {
    prompt: String,
    history_file: Option<PathBuf>,
    plain: bool,
    source: Source,
}

/// Why a terminal was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TerminalError {
    /// An editor has the terminal of this process already.
    #[error(
        "the terminal of this process is taken by an editor: drop its handle first, or start this one `plain`"
    )]
    Taken,
    /// The history file cannot be read or written.
    #[error(
        "the history file {path:?} cannot be used ({reason}): name a file that can be read and written, or none"
    )]
    History {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// No thread could be started.
    #[error("the terminal's thread cannot be started ({0}): close other threads or programs")]
    Thread(io::Error),
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl Terminal {
    /// A terminal with the prompt `> ` that forgets its history.
    pub fn new() -> Self {
        Terminal {
            prompt: "> ".to_owned(),
            history_file: None,
            plain: false,
            source: Source::Terminal,
        }
    }

    /// What stands before the line that is typed: a text of one line, without colours of its own.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = style::one_line(&prompt.into());
        self
    }

    /// Keeps the lines that are typed into an editor in a file, the last 1,000 of them, with every secret as
    /// `***`. It is made if it is not there, and its folder too. What is in it is in the console's
    /// history as well, before what is typed now. Lines from a pipe are not kept.
    pub fn history_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.history_file = Some(path.into());
        self
    }

    /// Plain lines also where there could be an editor.
    pub fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// In whose name its lines run: [`Source::Remote`] for a socket, so that who is there may do no more
    /// than another machine.
    pub fn source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// Starts it on the input and output of the process.
    ///
    /// # Errors
    /// [`TerminalError`]; nothing was started.
    pub fn start<H: 'static>(self, cx: &mut Cx<'_, H>) -> Result<TerminalHandle, TerminalError> {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_terminal = io::stdin().is_terminal()
            && io::stdout().is_terminal()
            // The editor draws there.
            && io::stderr().is_terminal();
        if self.plain || dumb || !is_terminal {
            return self.start_on(cx, io::BufReader::new(io::stdin()), io::stdout());
        }
        let shared = Shared::new(self.source);
        let game = connect(cx, &shared);
        let history = KeptHistory::open(self.history_file.as_deref(), &shared)?;
        let earlier = history.lines();
        let (session, done) = editor::start(&self, &shared, &game, history)?;
        if let Some(path) = &self.history_file {
            add_earlier(cx, path, earlier);
        }
        Ok(Self::handle(cx, shared, done, Some(session)))
    }

    /// Starts it with plain lines on any input and output: a socket, a file, a test's buffer.
    ///
    /// ```
    /// use sc_console::Terminal;
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut game) = (Runtime::<()>::new(), ());
    /// let (reader, writer) = (std::io::Cursor::new("help\n"), Vec::new());
    /// let terminal = Terminal::new().start_on(&mut rt.cx(&mut game), reader, writer)?;
    /// while terminal.is_open() {
    ///     terminal.wait_for_line();
    ///     rt.tick_secs(&mut game, 0.016)?;
    /// }
    /// assert_eq!(terminal.failed_lines(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TerminalError::Thread`]; nothing was started.
    pub fn start_on<H: 'static>(
        self,
        cx: &mut Cx<'_, H>,
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Result<TerminalHandle, TerminalError> {
        let shared = Shared::new(self.source);
        let game = connect(cx, &shared);
        let done = plain::start(&shared, &game, input, output).map_err(TerminalError::Thread)?;
        Ok(Self::handle(cx, shared, done, None))
    }

    fn handle<H: 'static>(
        cx: &mut Cx<'_, H>,
        shared: Arc<Shared>,
        done: Receiver<()>,
        session: Option<Arc<Session>>,
    ) -> TerminalHandle {
        add_feed(cx, &shared.feed);
        if let Some(ring) = cx.attached_log() {
            ring.feed(&shared.feed);
        }
        TerminalHandle {
            shared,
            done,
            session,
        }
    }
}

/// A terminal that was started. Dropping it ends it: what is left is written, and the terminal of the
/// process is as it was. Let it drop, on unwinding too: `std::process::exit` drops nothing, nor does
/// a signal. (A plain one that waits for input takes one more line, which nobody runs.)
///
/// A panic, on whatever thread, leaves the terminal as it was before its message is printed; when the
/// game goes on, the editor comes back with its next frame.
#[derive(Debug)]
#[must_use = "dropping it ends the terminal"]
pub struct TerminalHandle {
    shared: Arc<Shared>,
    /// Hears when all is written.
    done: Receiver<()>,
    session: Option<Arc<Session>>,
}

impl TerminalHandle {
    /// Whether it still reads lines. `false` after the end of the input, `Ctrl-D`, `Ctrl-C` on an
    /// empty line, a failure (of which there was a report), and when the runtime is gone. A program
    /// that lives for its terminal runs while this is true.
    ///
    /// ```
    /// # use sc_console::Terminal;
    /// # let (mut rt, mut game) = (sc_core::Runtime::<()>::new(), ());
    /// let terminal = Terminal::new().start_on(&mut rt.cx(&mut game), &b""[..], Vec::new())?;
    /// terminal.wait_for_line();
    /// assert!(!terminal.is_open());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.shared.has_ended()
    }

    /// Whether it is an editor, so that somebody is likely to sit there.
    #[must_use]
    pub fn is_editor(&self) -> bool {
        self.session.is_some()
    }

    /// Blocks until there is a line to run or one that is not done yet, or until no more will come.
    /// A program that does this before each frame runs as many frames as its input asks for, and the
    /// same ones each time.
    pub fn wait_for_line(&self) {
        self.shared.wait_for_line();
    }

    /// How many lines failed so far, in whole or in part.
    ///
    /// ```
    /// # use sc_console::Terminal;
    /// # let (mut rt, mut game) = (sc_core::Runtime::<()>::new(), ());
    /// let input = &b"\xff is no text\n"[..];
    /// let terminal = Terminal::new().start_on(&mut rt.cx(&mut game), input, Vec::new())?;
    /// terminal.wait_for_line();
    /// assert_eq!(terminal.failed_lines(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn failed_lines(&self) -> u64 {
        self.shared.failed()
    }
}

impl Drop for TerminalHandle {
    fn drop(&mut self) {
        self.shared.close();
        self.shared.feed.close();
        if let Some(session) = &self.session {
            session.ask_to_leave();
        }
        // An error is fine: it is done. Longer than that something else holds its threads up, a pipe
        // that nobody reads, say, and the program is not to hang at its end.
        let waited = self.done.recv_timeout(PATIENCE);
        if let (Some(session), Err(_)) = (&self.session, waited) {
            session.restore_if_editing();
        }
    }
}
