//! Latent commands: the body returns, and the command is done later.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Shared {
    outcome: Option<Result<(), String>>,
    /// The newest lines that nobody has taken yet.
    printed: VecDeque<String>,
    /// How many older ones did not fit.
    left_out: u64,
    /// Nobody waits any more.
    unwanted: bool,
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // Nothing in here panics while the lock is held.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// So many lines wait to be shown, until the line has its turn.
const LINES: usize = 10_000;

/// What the body of a command returns when it is not done yet: the line goes on when its
/// [`LatentEnd`] says so.
///
/// ```
/// use sc_console::{ConsoleExt, Latent, LatentEnd, LineOutcome, Source, dynamic_command};
/// use sc_core::{Cx, Runtime};
/// let mut rt = Runtime::<Option<LatentEnd>>::new();
/// let mut host = None;
/// let mut cx = rt.cx(&mut host);
/// cx.register_command(dynamic_command! {
///     /// Fetches the scores.
///     FetchScores () |cx: &mut Cx<'_, Option<LatentEnd>>, _out| {
///         let (latent, end) = Latent::new();
///         *cx.host_mut() = Some(end); // To a thread, a flow, a request ..
///         Ok(latent)
///     }
/// }.runtime())?;
/// let run = cx.run_line("FetchScores; help FetchScores", Source::Local);
/// # #[cfg(feature = "commands")] {
/// assert_eq!(run.outcome, LineOutcome::Pending);
/// cx.host_mut().take().unwrap().finish(Ok(()));
/// rt.tick_secs(&mut host, 0.1)?; // In the stage `Console` the line goes on.
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Latent(Arc<Mutex<Shared>>);

/// The end of a latent command, to be called from any thread. When it is dropped instead, the command
/// has failed.
#[must_use = "dropping it means that the command has failed"]
pub struct LatentEnd(Arc<Mutex<Shared>>);

impl Latent {
    /// A command that is not done, and what says that it is.
    pub fn new() -> (Latent, LatentEnd) {
        let shared = Arc::<Mutex<Shared>>::default();
        (Latent(Arc::clone(&shared)), LatentEnd(shared))
    }

    /// What was printed since the last call, and how it ended, if it has.
    pub(crate) fn poll(&self) -> (Vec<String>, Option<Result<(), String>>) {
        let mut shared = lock(&self.0);
        let mut printed = Vec::new();
        if shared.left_out > 0 {
            printed.push(format!("({} older lines are left out)", shared.left_out));
            shared.left_out = 0;
        }
        printed.extend(shared.printed.drain(..));
        (printed, shared.outcome.take())
    }
}

impl Drop for Latent {
    fn drop(&mut self) {
        lock(&self.0).unwanted = true;
    }
}

impl LatentEnd {
    /// The command is done, or has failed with a text.
    pub fn finish(self, outcome: Result<(), String>) {
        lock(&self.0).outcome = Some(outcome);
    }

    /// Prints a line on behalf of the command. It is shown in the next stage `Console`; of more than 10,000 lines
    /// until then, the newest.
    ///
    /// ```
    /// let (_latent, end) = sc_console::Latent::new();
    /// end.print("halfway");
    /// end.finish(Ok(()));
    /// ```
    pub fn print(&self, line: impl Into<String>) {
        let mut shared = lock(&self.0);
        if shared.unwanted {
            return;
        }
        if shared.printed.len() >= LINES {
            shared.printed.pop_front();
            shared.left_out += 1;
        }
        shared.printed.push_back(line.into());
    }

    /// Whether the line still waits: not when it was given up (`SC.Line.Cancel`), or the runtime has ended.
    ///
    /// ```
    /// let (latent, end) = sc_console::Latent::new();
    /// assert!(end.is_wanted());
    /// drop(latent);
    /// assert!(!end.is_wanted());
    /// ```
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        !lock(&self.0).unwanted
    }
}

impl Drop for LatentEnd {
    fn drop(&mut self) {
        let dropped = "it was given up before it was done";
        lock(&self.0)
            .outcome
            .get_or_insert_with(|| Err(dropped.to_owned()));
    }
}

impl fmt::Debug for Latent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Latent")
    }
}

impl fmt::Debug for LatentEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LatentEnd")
    }
}
