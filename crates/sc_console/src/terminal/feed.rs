//! What a terminal is to show: a bounded queue that any thread puts into, and that nobody waits for.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use sc_core::Cx;

use crate::log::LogRecord;
use crate::output::OutputLine;
use crate::print;
use crate::screen::color::Color;

/// So many items wait for the terminal at most; one more pushes the oldest out, which the terminal
/// says.
const CAPACITY: usize = 10_000;
/// So many bytes of text.
const BYTES: usize = 4 << 20;

/// One thing to show.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// What a command printed.
    Output(OutputLine),
    /// An event of the log.
    Log(Arc<LogRecord>),
    /// A message that has come on screen.
    Message(String, Color),
    /// What was shown is to go.
    Clear,
    /// Something about the terminal itself.
    Notice(String),
}

impl Item {
    /// How long its text is, near enough.
    fn bytes(&self) -> usize {
        match self {
            Item::Output(line) => line.text.len(),
            Item::Log(record) => record.bytes(),
            Item::Message(text, _) | Item::Notice(text) => text.len(),
            Item::Clear => 0,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    pushed_out: u64,
    /// Taken and not written yet.
    in_hand: bool,
    closed: bool,
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    state: Mutex<State>,
    changed: Condvar,
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, item: Item) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        state.bytes += item.bytes();
        state.items.push_back(item);
        while state.items.len() > CAPACITY || state.bytes > BYTES && state.items.len() > 1 {
            let Some(oldest) = state.items.pop_front() else {
                break;
            };
            state.bytes -= oldest.bytes();
            state.pushed_out += 1;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Shows an event of the log, unless it is that of a print which is shown as a message.
    pub(crate) fn push_log(&self, record: &Arc<LogRecord>) {
        if !print::is_shown_as_message() {
            self.push(Item::Log(Arc::clone(record)));
        }
    }

    fn take_from(state: &mut State, at_most: usize) -> Vec<Item> {
        let count = at_most.min(state.items.len());
        let mut taken = Vec::with_capacity(count + 1);
        match std::mem::take(&mut state.pushed_out) {
            0 => {}
            1 => taken.push(Item::Notice(
                "1 line was not shown: too many at once".into(),
            )),
            lost => {
                let notice = format!("{lost} lines were not shown: too many at once");
                taken.push(Item::Notice(notice));
            }
        }
        for item in state.items.drain(..count) {
            state.bytes -= item.bytes();
            taken.push(item);
        }
        taken
    }

    /// What there is by now, at most so many.
    pub(super) fn take(&self, at_most: usize) -> Vec<Item> {
        Self::take_from(&mut self.lock(), at_most)
    }

    /// What there is, once there is something. `None` when it is closed and everything was taken.
    /// Each call says that what the one before gave is written.
    pub(super) fn wait(&self) -> Option<Vec<Item>> {
        let mut state = self.lock();
        state.in_hand = false;
        self.changed.notify_all();
        let idle = |state: &mut State| state.items.is_empty() && !state.closed;
        let waited = self.changed.wait_while(state, idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let taken = Self::take_from(&mut state, CAPACITY);
        state.in_hand = !taken.is_empty();
        state.in_hand.then_some(taken)
    }

    /// Returns when everything that is in it was written.
    pub(super) fn wait_until_written(&self) {
        let busy = |state: &mut State| !state.items.is_empty() || state.in_hand;
        let waited = self.changed.wait_while(self.lock(), busy);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Nothing more comes in. What is in it can still be taken.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Nothing more can be written: what is in it is lost.
    pub(super) fn give_up(&self) {
        let left = {
            let mut state = self.lock();
            state.closed = true;
            state.in_hand = false;
            state.bytes = 0;
            std::mem::take(&mut state.items)
        };
        self.changed.notify_all();
        drop(left);
    }
}

/// The terminals of a runtime.
#[derive(Default)]
struct Feeds(Vec<Weak<Feed>>);

/// The feeds of a runtime's terminals.
pub(crate) fn feeds_of<H>(cx: &mut Cx<'_, H>) -> Vec<Arc<Feed>> {
    let feeds = &mut cx.runtime_state::<Feeds>().0;
    feeds.retain(|feed| feed.strong_count() > 0);
    feeds.iter().filter_map(Weak::upgrade).collect()
}

/// Makes a feed one of the runtime's.
pub(super) fn add_feed<H>(cx: &mut Cx<'_, H>, feed: &Arc<Feed>) {
    cx.runtime_state::<Feeds>().0.push(Arc::downgrade(feed));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notices(items: Vec<Item>) -> Vec<String> {
        let text = |item| match item {
            Item::Notice(text) => text,
            other => format!("{other:?}"),
        };
        items.into_iter().map(text).collect()
    }

    #[test]
    fn a_full_feed_drops_the_oldest_and_says_how_many() {
        let feed = Feed::default();
        for n in 0..CAPACITY + 3 {
            feed.push(Item::Notice(n.to_string()));
        }
        let taken = notices(feed.take(2));
        assert_eq!(
            taken,
            ["3 lines were not shown: too many at once", "3", "4"]
        );
        assert_eq!(notices(feed.take(1)), ["5"]);
        assert_eq!(feed.take(usize::MAX).len(), CAPACITY - 3);
        assert!(feed.take(1).is_empty());
    }

    #[test]
    fn long_lines_push_out_what_is_older_by_their_bytes() {
        let feed = Feed::default();
        for n in 0..5 {
            feed.push(Item::Notice(format!("{n}{}", "x".repeat(1 << 20))));
        }
        let taken = notices(feed.take(usize::MAX));
        assert_eq!(taken[0], "2 lines were not shown: too many at once");
        let first = taken[1..].iter().map(|text| &text[..1]).collect::<String>();
        assert_eq!(first, "234");
        // One that is too long for all is shown all the same.
        feed.push(Item::Notice("y".repeat(5 << 20)));
        assert_eq!(notices(feed.take(1))[0].len(), 5 << 20);
    }

    #[test]
    fn a_closed_feed_gives_what_is_in_it_and_takes_nothing() {
        let feed = Feed::default();
        feed.push(Item::Notice("a".into()));
        feed.close();
        feed.push(Item::Notice("b".into()));
        assert_eq!(feed.wait().map(notices), Some(vec!["a".to_owned()]));
        assert!(feed.wait().is_none());
        feed.wait_until_written();
    }

    #[test]
    fn who_waits_until_it_is_written_is_let_go_when_that_is_impossible() {
        let feed = Feed::default();
        feed.push(Item::Notice("a".into()));
        std::thread::scope(|s| {
            let waiting = s.spawn(|| feed.wait_until_written());
            feed.give_up();
            assert!(waiting.join().is_ok());
        });
    }
}
