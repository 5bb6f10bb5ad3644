//! Who has the terminal of the process, and how it gets back to what it was: at the end, and on a
//! panic, before its message is printed.
//!
//! A process has one terminal, and one hook for panics. So this is the one place with state of the
//! process: which editor has the terminal.
//!
//! | phase | meaning | entered |
//! | --- | --- | --- |
//! | outside | the terminal is as the program found it | at the start and at the end, and while it is held |
//! | editing | it is in raw mode: the editor draws, or a line runs | by `enter` only; not while it is held |
//!
//! A panic holds the editor outside until the game has shown that it lives on.

use std::io::{self, Write as _};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

use crossterm::{cursor, event, execute, terminal};

/// The editor that has the terminal.
static EDITOR: Mutex<Option<Weak<Session>>> = Mutex::new(None);

/// The hook for panics is set once. It does nothing while no editor has the terminal.
static HOOK: Once = Once::new();

/// For so long a panic waits for the editor to leave by itself.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
struct Phase {
    /// On which thread, if it is editing.
    editing: Option<ThreadId>,
    /// Not to be entered.
    held: bool,
}

/// One editor's hold on the terminal.
#[derive(Debug)]
pub(in crate::terminal) struct Session {
    phase: Mutex<Phase>,
    changed: Condvar,
    /// Has the editor return from where it reads.
    pub(super) break_signal: Arc<AtomicBool>,
}

impl Session {
    /// Takes the terminal, unless another editor has it.
    pub(super) fn take() -> Option<Arc<Self>> {
        let mut editor = EDITOR.lock().unwrap_or_else(PoisonError::into_inner);
        if editor.as_ref().is_some_and(|e| e.strong_count() > 0) {
            return None;
        }
        let session = Arc::new(Session {
            phase: Mutex::default(),
            changed: Condvar::new(),
            break_signal: Arc::default(),
        });
        *editor = Some(Arc::downgrade(&session));
        // A thread that panics cannot set a hook.
        if !thread::panicking() {
            HOOK.call_once(set_hook);
        }
        Some(session)
    }

    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The editor is about to take over the terminal. `false` when it must not.
    pub(super) fn enter(&self) -> bool {
        let mut phase = self.lock();
        if !phase.held {
            phase.editing = Some(thread::current().id());
        }
        !phase.held
    }

    /// A line was read, and another will be: what is typed meanwhile is for the editor.
    pub(super) fn stays(&self) {
        let phase = self.lock();
        if phase.editing.is_some() && !phase.held {
            // The terminal that took it before takes it again.
            let _ = terminal::enable_raw_mode();
        }
    }

    /// Whether the terminal is in raw mode.
    pub(super) fn is_editing(&self) -> bool {
        self.lock().editing.is_some()
    }

    /// The editor leaves the terminal as it was.
    pub(super) fn left(&self) {
        let mut phase = self.lock();
        if phase.editing.take().is_some() {
            let _ = terminal::disable_raw_mode();
        }
        drop(phase);
        self.changed.notify_all();
    }

    /// Lets it in again.
    pub(super) fn release(&self) {
        self.lock().held = false;
    }

    /// Has the editor return to whoever called it, soon.
    pub(in crate::terminal) fn ask_to_leave(&self) {
        self.break_signal.store(true, Ordering::Release);
    }

    /// Makes the terminal what it was, if the editor has not left it.
    pub(in crate::terminal) fn restore_if_editing(&self) {
        if self.lock().editing.take().is_some() {
            restore();
        }
    }

    /// Somebody panics: out of the terminal, and hold.
    fn on_panic(&self) {
        let mut phase = self.lock();
        phase.held = true;
        let Some(on) = phase.editing else { return };
        if on == thread::current().id() {
            phase.editing = None;
            drop(phase);
            restore();
            return;
        }
        self.ask_to_leave();
        let editing = |phase: &mut Phase| phase.editing.is_some();
        let waited = self.changed.wait_timeout_while(phase, PATIENCE, editing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        self.restore_if_editing();
    }
}

fn set_hook() {
    let next = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let editor = EDITOR.lock().unwrap_or_else(PoisonError::into_inner);
        let session = editor.as_ref().and_then(Weak::upgrade);
        drop(editor);
        if let Some(session) = session {
            session.on_panic();
        }
        next(info);
    }));
}

/// Undoes what the editor does to a terminal, below the line it was drawing.
fn restore() {
    // There is nobody to tell: the terminal itself does not answer.
    let _ = terminal::disable_raw_mode();
    let mut out = io::stderr();
    let _ = execute!(out, event::DisableBracketedPaste, cursor::Show);
    let _ = out.write_all(b"\r\n\x1b[0m");
    let _ = out.flush();
}
