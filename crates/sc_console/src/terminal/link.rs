//! The way from a terminal's threads to the game, and from the game to them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use sc_core::{Cx, Extension, ExtensionReport, Poster, Report, ReportKind, Stage};

use super::feed::{Feed, Item};
use crate::complete::Completions;
use crate::ext::ConsoleExt;
use crate::output::{LineOutcome, LineRun, OutputLine};
use crate::run::queue_heard;
use crate::snapshot::ConsoleSnapshot;
use crate::source::Source;

/// What a terminal's threads and the game both see of it.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) feed: Arc<Feed>,
    /// In whose name its lines run.
    source: Source,
    /// It reads no more lines.
    ended: AtomicBool,
    /// It is to end.
    closing: AtomicBool,
    failed: AtomicU64,
    snapshot: Mutex<Arc<ConsoleSnapshot>>,
    /// Lines that were handed to the game and are not done. One that is done before it is counted
    /// makes it less than nothing for a moment.
    under_way: Mutex<i64>,
    changed: Condvar,
}

impl Shared {
    pub(super) fn new(source: Source) -> Arc<Self> {
        Arc::new(Shared {
            feed: Arc::default(),
            source,
            ended: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            failed: AtomicU64::new(0),
            snapshot: Mutex::default(),
            under_way: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    pub(super) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Acquire)
    }

    pub(super) fn count_failed(&self) {
        self.failed.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.wake();
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.wake();
    }

    /// Whoever waits looks again; under the lock, so that nobody has just looked and not yet waited.
    fn wake(&self) {
        let _locked = self.under_way.lock();
        self.changed.notify_all();
    }

    /// Whether a line was handed over that is not done.
    pub(super) fn is_under_way(&self) -> bool {
        *self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            > 0
    }

    pub(super) fn count(&self, lines: i64) {
        let locked = self.under_way.lock();
        *locked.unwrap_or_else(PoisonError::into_inner) += lines;
        self.changed.notify_all();
    }

    /// Returns when a line was read that is not done, or when no more are to come.
    pub(super) fn wait_for_line(&self) {
        let locked = self.under_way.lock();
        let under_way = locked.unwrap_or_else(PoisonError::into_inner);
        let nothing =
            |under_way: &mut i64| *under_way <= 0 && !self.has_ended() && !self.is_closing();
        drop(self.changed.wait_while(under_way, nothing));
    }

    pub(super) fn snapshot(&self) -> Arc<ConsoleSnapshot> {
        let locked = self.snapshot.lock();
        Arc::clone(&locked.unwrap_or_else(PoisonError::into_inner))
    }

    fn set_snapshot(&self, snapshot: Arc<ConsoleSnapshot>) {
        let locked = self.snapshot.lock();
        let mut held = locked.unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *held, snapshot);
        drop(held);
        drop(before);
    }
}

/// The game, as a terminal's threads reach it. What is asked of it comes back through a channel, which
/// breaks when the runtime is gone.
pub(super) trait Game: Send + Sync {
    /// Runs a line in the next stage `Console`. What it prints is in the feed before the answer comes.
    fn run(&self, line: String) -> Receiver<()>;
    /// What could stand at the caret, asked of the live game.
    fn complete(&self, line: String, caret: usize) -> Receiver<Completions>;
    /// Answers from the next frame.
    fn sign_of_life(&self) -> Receiver<()>;
    /// Makes a report.
    fn report(&self, kind: &'static ExtensionReport, what: String);
}

struct GameOf<H: 'static> {
    poster: Poster<H>,
    shared: Arc<Shared>,
}

/// A line that is under way, until it goes: done, or lost with the runtime.
struct UnderWay(Arc<Shared>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.count(-1);
    }
}

impl<H> GameOf<H> {
    /// Has a question answered on the game thread.
    fn ask<T: Send + 'static>(
        &self,
        answer: impl FnOnce(&mut Cx<'_, H>, Sender<T>) + Send + 'static,
    ) -> Receiver<T> {
        let (sender, receiver) = channel();
        // A runtime that is gone drops the sender: who waits on the receiver sees that.
        let _ = self.poster.post(|cx| answer(cx, sender));
        receiver
    }
}

impl<H> Game for GameOf<H> {
    fn run(&self, line: String) -> Receiver<()> {
        let shared = Arc::clone(&self.shared);
        let source = self.shared.source;
        let under_way = UnderWay(Arc::clone(&self.shared));
        let done = self.ask(move |cx, done| {
            let feed = Arc::clone(&shared.feed);
            let heard = Rc::new(move |line: &OutputLine| feed.push(Item::Output(line.clone())));
            let done = Box::new(move |cx: &mut Cx<'_, H>, run: LineRun| {
                // The next line may use, and its history must know, the names that this one has made.
                refresh(cx);
                if run.outcome != LineOutcome::Done {
                    shared.count_failed();
                }
                drop(under_way);
                // Nobody waits for it any more when the terminal has ended.
                let _ = done.send(());
            });
            queue_heard(cx, &line, source, heard, done);
        });
        // Counted when the game has it: who waits for a line and then runs a frame finds it there.
        self.shared.count(1);
        done
    }

    fn complete(&self, line: String, caret: usize) -> Receiver<Completions> {
        let source = self.shared.source;
        self.ask(move |cx, sender| {
            let _ = sender.send(cx.complete_line(&line, caret, source));
        })
    }

    fn sign_of_life(&self) -> Receiver<()> {
        self.ask(|_, sender| {
            let _ = sender.send(());
        })
    }

    fn report(&self, kind: &'static ExtensionReport, what: String) {
        let report = Report::new(ReportKind::Extension(kind), what);
        // Without a runtime there is nobody to report to.
        let _ = self.poster.post(|cx| cx.report(report));
    }
}

/// The terminals of a runtime, for the snapshot of names that each of them has. With it they are not open any more,
/// whatever their threads wait for; an editor's prompt goes with its handle.
#[derive(Default)]
struct Terminals(Vec<Weak<Shared>>);

impl Drop for Terminals {
    fn drop(&mut self) {
        for terminal in self.0.iter().filter_map(Weak::upgrade) {
            terminal.end();
        }
    }
}

/// The history files whose lines the console has.
#[derive(Default)]
struct HistoryFiles(BTreeSet<PathBuf>);

/// Puts the lines of a history file before those of the console's history, once a file: a terminal that is
/// started anew reads again what it has kept of them.
pub(super) fn add_earlier<H>(cx: &mut Cx<'_, H>, file: &Path, lines: Vec<String>) {
    if cx.runtime_state::<HistoryFiles>().0.insert(file.to_owned()) {
        cx.console_history().put_before(lines);
    }
}

/// Connects a terminal to a runtime.
pub(super) fn connect<H: 'static>(cx: &mut Cx<'_, H>, shared: &Arc<Shared>) -> Arc<dyn Game> {
    cx.start_console();
    let extension = Extension::<H>::new("sc.terminal")
        .ours()
        .on_runtime_stage(Stage::End, refresh)
        .on_runtime_teardown(|cx| drop(std::mem::take(cx.runtime_state::<Terminals>())));
    cx.install(extension);
    cx.runtime_state::<Terminals>()
        .0
        .push(Arc::downgrade(shared));
    refresh(cx);
    if cx.runtime().is_shut_down() {
        shared.end();
    }
    Arc::new(GameOf {
        poster: cx.runtime().poster(),
        shared: Arc::clone(shared),
    })
}

/// Gives the terminals the names there are now, if they have changed.
fn refresh<H: 'static>(cx: &mut Cx<'_, H>) {
    let terminals = &mut cx.runtime_state::<Terminals>().0;
    terminals.retain(|terminal| terminal.strong_count() > 0);
    let mut index = 0;
    while let Some(terminal) = cx.runtime_state::<Terminals>().0.get(index) {
        index += 1;
        let Some(shared) = terminal.upgrade() else {
            continue;
        };
        let now = cx.console_snapshot(shared.source);
        if !Arc::ptr_eq(&shared.snapshot(), &now) {
            shared.set_snapshot(now);
        }
    }
}
