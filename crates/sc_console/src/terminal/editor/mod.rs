//! The front end that is an editor: `reedline` on a thread of its own.

mod complete;
mod dress;
mod hint;
pub(super) mod history;
mod keys;
mod lines;
pub(super) mod session;

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use reedline::{
    ColumnarMenu, EditCommand, ExternalPrinter, MenuBuilder, Reedline, ReedlineMenu, Signal,
};

use self::complete::GameCompleter;
use self::dress::{Masked, TerminalPrompt};
use self::hint::GameHinter;
use self::history::KeptHistory;
use self::keys::{Behind, Keys};
use self::lines::{Above, Canvas};
use self::session::Session;
use sc_core::ExtensionReport;

use super::link::{Game, Shared};
use super::reports::{TERMINAL_HISTORY_FAILED, TERMINAL_INPUT_FAILED, TERMINAL_PANICKED};
use super::style::Look;
use super::{Terminal, TerminalError};
use crate::parse::text_lines;

/// How often it looks for lines to show while no key is pressed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A line that is done so soon prints before the next prompt comes.
const BEFORE_THE_PROMPT: Duration = Duration::from_millis(100);

/// Clears the screen, and puts the cursor to its top.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// The name of the menu, by which the key finds it.
const MENU: &str = "completion";

/// Starts it. The receiver hears when it has left the terminal for good.
pub(super) fn start(
    terminal: &Terminal,
    shared: &Arc<Shared>,
    game: &Arc<dyn Game>,
    history: KeptHistory,
) -> Result<(Arc<Session>, Receiver<()>), TerminalError> {
    let session = Session::take().ok_or(TerminalError::Taken)?;
    let canvas = Canvas::new(&terminal.prompt);
    let desk = Desk {
        prompt: TerminalPrompt {
            text: terminal.prompt.clone(),
            canvas: canvas.clone(),
        },
        canvas,
        behind: Behind::default(),
        look: Look {
            colors: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            times: true,
        },
        session: Arc::clone(&session),
        shared: Arc::clone(shared),
        game: Arc::clone(game),
    };
    let (sender, receiver) = channel();
    let thread = thread::Builder::new().name("console editor".into());
    let started = thread.spawn(move || {
        // Dropped last, so that it tells the end of all the rest.
        let _done = sender;
        let mut desk = desk;
        let editor = desk.editor(history);
        let outcome = catch_unwind(AssertUnwindSafe(|| desk.work(editor)));
        desk.session.restore_if_editing();
        if let Some(lines) = desk.canvas.take_unprinted() {
            desk.print_text(&lines);
        }
        if let Some((kind, what)) = failure(outcome) {
            desk.game.report(kind, what);
        }
        desk.shared.end();
        // What is left, and what still comes until the handle goes.
        while let Some(items) = desk.shared.feed.wait() {
            desk.print(&items);
        }
    });
    match started {
        Ok(_) => Ok((session, receiver)),
        Err(error) => Err(TerminalError::Thread(error)),
    }
}

/// What to report of how the work has ended, if it is a failure.
fn failure(outcome: thread::Result<io::Result<()>>) -> Option<(&'static ExtensionReport, String)> {
    match outcome {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some((
            &TERMINAL_INPUT_FAILED,
            format!("the terminal cannot read: {error}"),
        )),
        Err(payload) => {
            let text = payload.downcast_ref::<&'static str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let text = text.unwrap_or("(no message)");
            Some((
                &TERMINAL_PANICKED,
                format!("the terminal's editor panicked: {text}"),
            ))
        }
    }
}

/// What the editor works with.
struct Desk {
    prompt: TerminalPrompt,
    canvas: Canvas,
    behind: Behind,
    look: Look,
    session: Arc<Session>,
    shared: Arc<Shared>,
    game: Arc<dyn Game>,
}

impl Desk {
    fn editor(&self, history: KeptHistory) -> Reedline {
        let (sender, printer) = {
            let printer = ExternalPrinter::new(1);
            (printer.sender(), printer)
        };
        let above = Above {
            shared: Arc::clone(&self.shared),
            canvas: self.canvas.clone(),
            look: self.look,
            sender,
        };
        // The marker takes the place of the indicator: the prompt stays what it is while the menu is open.
        let menu = ColumnarMenu::default()
            .with_name(MENU)
            .with_marker(self.prompt.parts().1);
        Reedline::create()
            .with_ansi_colors(self.look.colors)
            .with_edit_mode(Box::new(Keys::new(MENU, &self.canvas, &self.behind)))
            .with_history(Box::new(history))
            .with_completer(Box::new(GameCompleter::new(&self.shared, &self.game)))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_hinter(Box::new(GameHinter::new(&self.shared)))
            .with_highlighter(Box::new(Masked::new(&self.shared, &self.canvas)))
            .with_external_printer(printer)
            .with_idle_callback(Box::new(move || above.show()))
            .with_poll_interval(LOOK_EVERY)
            .with_break_signal(Arc::clone(&self.session.break_signal))
            .use_bracketed_paste(true)
    }

    /// Reads lines until the end.
    fn work(&mut self, mut editor: Reedline) -> io::Result<()> {
        let outcome = self.read_lines(&mut editor);
        self.session.left();
        outcome
    }

    fn read_lines(&mut self, editor: &mut Reedline) -> io::Result<()> {
        let mut history_failed = false;
        loop {
            self.print_waiting();
            if self.shared.is_closing() {
                return Ok(());
            }
            if !self.session.enter() {
                self.session.left();
                if !self.wait_for_life() {
                    return Ok(());
                }
                continue;
            }
            let signal = editor.read_line(&self.prompt);
            let behind = self.behind.take();
            match &signal {
                // What is typed ahead is not shown by the terminal, and Ctrl-C stays a key.
                Ok(Signal::Success(_) | Signal::CtrlC) => self.session.stays(),
                Ok(Signal::ExternalBreak(_)) => {
                    self.canvas.clear();
                    self.session.left();
                }
                _ => self.session.left(),
            }
            match signal? {
                // Several, if they were pasted.
                Signal::Success(lines) if !self.run_lines(&lines) => return Ok(()),
                Signal::CtrlD => return Ok(()),
                Signal::CtrlC if self.canvas.is_blank() => return Ok(()),
                _ => {}
            }
            // What came faster than the editor reads: whole lines, and the start of one.
            let (lines, start) = behind.rsplit_once('\n').unwrap_or(("", &behind));
            if !self.run_lines(lines) {
                return Ok(());
            }
            if !start.is_empty() {
                editor.run_edit_commands(&[EditCommand::InsertString(start.to_owned())]);
            }
            let failed = editor.take_history_save_error();
            if let Some(error) = failed.filter(|_| !history_failed) {
                history_failed = true;
                let what = format!("the terminal's history cannot be kept: {error}");
                self.game.report(&TERMINAL_HISTORY_FAILED, what);
            }
        }
    }

    /// Has lines run, one after the other. `false` when there is no game any more.
    fn run_lines(&self, lines: &str) -> bool {
        self.canvas.note("", 0);
        text_lines(lines).into_iter().all(|line| self.run(line))
    }

    /// Has a line run, and waits for it a little. `false` when there is no game any more.
    fn run(&self, line: &str) -> bool {
        let done = self.game.run(line.to_owned());
        let steps = BEFORE_THE_PROMPT.as_millis() / LOOK_EVERY.as_millis() * 5;
        for _ in 0..steps {
            match done.recv_timeout(LOOK_EVERY / 5) {
                Ok(()) => break,
                Err(RecvTimeoutError::Disconnected) => return false,
                Err(RecvTimeoutError::Timeout) => self.print_waiting(),
            }
        }
        true
    }

    /// After a panic somewhere: whether the game lives on. Its next frame tells.
    fn wait_for_life(&self) -> bool {
        let life = self.game.sign_of_life();
        loop {
            match life.recv_timeout(LOOK_EVERY) {
                Ok(()) => {
                    self.session.release();
                    return true;
                }
                Err(RecvTimeoutError::Timeout) if !self.shared.is_closing() => {
                    self.print_waiting();
                }
                Err(_) => return false,
            }
        }
    }

    /// Prints what there is to show, while no line is edited.
    fn print_waiting(&self) {
        if self.canvas.is_to_be_cleared() {
            self.print_text(CLEAR);
        }
        self.print(&self.shared.feed.take(usize::MAX));
    }

    fn print(&self, items: &[super::Item]) {
        let mut text = String::new();
        for item in items {
            if matches!(item, super::Item::Clear) {
                text = CLEAR.to_owned();
            }
            for line in self.look.lines(item) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        self.print_text(&text);
    }

    fn print_text(&self, text: &str) {
        let mut out = io::stdout().lock();
        // In raw mode a line end is not the start of a line.
        let text = if self.session.is_editing() {
            Cow::Owned(text.replace('\n', "\r\n"))
        } else {
            Cow::Borrowed(text)
        };
        // A terminal that has gone cannot be told so.
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(outcome: thread::Result<io::Result<()>>) -> Option<(&'static str, String)> {
        failure(outcome).map(|(kind, what)| (kind.name, what))
    }

    #[test]
    fn what_ends_the_editor_is_told() {
        assert_eq!(told(Ok(Ok(()))), None);
        let error = io::Error::other("no terminal");
        let cannot_read = "the terminal cannot read: no terminal".to_owned();
        assert_eq!(
            told(Ok(Err(error))),
            Some(("TerminalInputFailed", cannot_read))
        );
        for (payload, text) in [
            (catch_unwind(|| panic!("no key")), "no key"),
            (catch_unwind(|| panic!("no key {}", 7)), "no key 7"),
            (catch_unwind(|| std::panic::panic_any(7)), "(no message)"),
        ] {
            let what = format!("the terminal's editor panicked: {text}");
            assert_eq!(told(payload), Some(("TerminalPanicked", what)));
        }
    }
}
