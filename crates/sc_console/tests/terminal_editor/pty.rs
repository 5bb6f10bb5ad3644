//! A program on a pseudo-terminal, and the screen that its user would see.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::{Command, Pty as Device};
use vt100::{Callbacks, Parser, Screen};

/// Longer than this, and what is waited for will not come. Only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const COLUMNS: u16 = 60;
const ROWS: u16 = 24;

/// What the test binary is started with, to be the program.
pub(crate) const ARGUMENTS: [&str; 5] = [
    "--ignored",
    "--exact",
    "program",
    "--nocapture",
    "--test-threads=1",
];

/// Answers what a program asks of its terminal.
#[derive(Default)]
struct Answers(Vec<u8>);

impl Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut Screen,
        _: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        c: char,
    ) {
        // Where is the cursor?
        if c == 'n' && params == [&[6][..]] {
            let (row, column) = screen.cursor_position();
            let answer = format!("\x1b[{};{}R", row + 1, column + 1);
            self.0.extend_from_slice(answer.as_bytes());
        }
    }
}

struct State {
    parser: Parser<Answers>,
    /// Everything that was written, for what is no longer on the screen.
    written: Vec<u8>,
    ended: bool,
}

/// The terminal, with a program on it.
pub(crate) struct Pty {
    device: Arc<Device>,
    state: Arc<(Mutex<State>, Condvar)>,
    child: Child,
    listener: UnixListener,
    socket: PathBuf,
    connected: Option<UnixStream>,
}

impl Pty {
    /// Starts the program in one of its parts, in a shell that says afterwards how it ended and in
    /// which state it left the terminal.
    pub(crate) fn start(part: &str, env: &[(&str, &str)]) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let socket = format!("sc_console_{}_{number}", std::process::id());
        let socket = std::env::temp_dir().join(socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let (device, program_side) = pty_process::blocking::open().unwrap();
        device.resize(Size::new(ROWS, COLUMNS)).unwrap();
        let script = r#""$0" "$@"; echo "ended with $?"; stty -a; echo done"#;
        let child = Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(std::env::current_exe().unwrap())
            .args(ARGUMENTS)
            .env("SC_TERMINAL_PART", part)
            .env("SC_TERMINAL_SOCKET", &socket)
            .env("TERM", "xterm-256color")
            .env("RUST_BACKTRACE", "0")
            .env_remove("NO_COLOR")
            .envs(env.iter().copied())
            .spawn(program_side)
            .unwrap();
        let (rows, columns) = (NonZeroU16::new(ROWS), NonZeroU16::new(COLUMNS));
        let parser =
            Parser::new_with_callbacks(rows.unwrap(), columns.unwrap(), 0, Answers::default());
        let state = State {
            parser,
            written: Vec::new(),
            ended: false,
        };
        let pty = Pty {
            device: Arc::new(device),
            state: Arc::new((Mutex::new(state), Condvar::new())),
            child,
            listener,
            socket,
            connected: None,
        };
        let (device, state) = (Arc::clone(&pty.device), Arc::clone(&pty.state));
        thread::spawn(move || read_all(&device, &state));
        pty
    }

    /// Types text, and keys as a terminal sends them.
    pub(crate) fn type_in(&mut self, keys: &str) {
        (&*self.device).write_all(keys.as_bytes()).unwrap();
    }

    /// Has one of the program's threads do something.
    pub(crate) fn poke(&mut self, what: &str) {
        let listener = &self.listener;
        let socket = self
            .connected
            .get_or_insert_with(|| listener.accept().unwrap().0);
        writeln!(socket, "{what}").unwrap();
    }

    /// Returns when the screen is as it should be.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&Screen) -> bool) {
        let (lock, changed) = &*self.state;
        let state = lock.lock().unwrap();
        let not_yet = |state: &mut State| !is_so(state.parser.screen()) && !state.ended;
        let (state, _) = changed
            .wait_timeout_while(state, PATIENCE, not_yet)
            .unwrap();
        let screen = state.parser.screen();
        let written = String::from_utf8_lossy(&state.written);
        assert!(
            is_so(screen),
            "waited for {what}; the screen is\n{}\nand was written:\n{:?}",
            screen.contents(),
            written
                .chars()
                .rev()
                .take(2000)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect::<String>(),
        );
    }

    /// Returns when the program and its shell have ended: what the screen shows then, everything that
    /// was written, and whether the screen's modes are what they were at the start.
    #[track_caller]
    pub(crate) fn end(&mut self) -> (String, String, bool) {
        let (lock, changed) = &*self.state;
        let state = lock.lock().unwrap();
        let (state, waited) = changed
            .wait_timeout_while(state, PATIENCE, |state| !state.ended)
            .unwrap();
        let screen = state.parser.screen();
        let is_clean = !screen.bracketed_paste() && !screen.hide_cursor();
        let screen = screen.contents();
        assert!(
            !waited.timed_out(),
            "it did not end; the screen is\n{screen}"
        );
        let written = String::from_utf8_lossy(&state.written).into_owned();
        drop(state);
        self.child.wait().unwrap();
        (screen, written, is_clean)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn read_all(mut device: &Device, state: &(Mutex<State>, Condvar)) {
    let (lock, changed) = state;
    let mut bytes = [0; 4096];
    loop {
        // The end, on some systems an error, is that nobody has the other side any more.
        let read = match device.read(&mut bytes) {
            Ok(read) if read > 0 => read,
            _ => break,
        };
        // A test that has failed looks no more.
        let Ok(mut state) = lock.lock() else { break };
        state.written.extend_from_slice(&bytes[..read]);
        state.parser.process(&bytes[..read]);
        let answer = std::mem::take(&mut state.parser.callbacks_mut().0);
        drop(state);
        changed.notify_all();
        if !answer.is_empty() && device.write_all(&answer).is_err() {
            break;
        }
    }
    lock.lock().unwrap_or_else(PoisonError::into_inner).ended = true;
    changed.notify_all();
}

/// The rows of the screen, without blanks at their ends.
pub(crate) fn rows(screen: &Screen) -> Vec<String> {
    let rows = screen.rows(0, COLUMNS);
    rows.map(|row| row.trim_end().to_owned()).collect()
}

/// Whether a row of the screen is this, but for blanks at its end.
pub(crate) fn has_row(screen: &Screen, text: &str) -> bool {
    rows(screen).iter().any(|row| row == text.trim_end())
}

/// The row that the cursor is in.
pub(crate) fn cursor_row(screen: &Screen) -> String {
    let (row, _) = screen.cursor_position();
    rows(screen)
        .get(usize::from(row))
        .cloned()
        .unwrap_or_default()
}
