//! Messages on screen: which there are, and for how long. Nothing here draws: a host reads the store
//! and draws it, or does not.

pub(crate) mod color;
pub(crate) mod template;

use std::collections::VecDeque;
use std::time::Duration;

use sc_core::{Cx, Extension, Stage};

use self::color::Color;
use crate::print::{Print, PrintKey};

/// One message on screen.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ScreenMessage {
    /// The number of the print that it shows; later prints have higher ones.
    pub number: u64,
    /// The number of the print that made the line: the same as `number` until a print with the same
    /// key replaces it.
    pub first_number: u64,
    /// By which a later print finds it.
    pub key: Option<PrintKey>,
    /// Its text.
    pub text: String,
    /// Its colour.
    pub color: Color,
    /// The frame from which on it is on screen: it stays for all of that one, however long it took.
    first_frame: u64,
    /// How long it stays, counted from the reading of the runtime's real clock in its first frame.
    stays: Duration,
    /// When it goes, on that clock.
    until: Duration,
}

/// The messages on screen of one runtime, oldest line first. It holds [`Screen::CAPACITY`]; one more
/// pushes the oldest out.
///
/// A message is on screen from its print on. Its first frame is the one in which it was printed, or
/// the next when that was between two. Its duration counts from there, and it goes at the beginning of
/// the first frame that is later by so much: so a host that draws once a frame has drawn it at least
/// once, whatever its first frame took.
///
/// ```
/// use sc_console::PrintExt;
/// # use sc_core::{Runtime, WorldKind};
/// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// # #[cfg(feature = "print")] {
/// rt.cx(&mut host).print("the door is open");
/// rt.tick_secs(&mut host, 0.1)?;
/// let mut cx = rt.cx(&mut host);
/// let shown: Vec<&str> = cx.screen().messages().map(|m| m.text.as_str()).collect();
/// assert_eq!(shown, ["the door is open"]);
/// # }
/// # Ok::<(), sc_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Screen {
    messages: VecDeque<ScreenMessage>,
    printed: u64,
    pushed_out: u64,
    /// No message goes before this, on the runtime's real clock. Nothing is looked at until then.
    soonest: Duration,
    /// The frame whose beginning was attended to last.
    begun: u64,
}

impl Screen {
    /// How many messages are on screen at most.
    pub const CAPACITY: usize = 128;

    /// How long a message stays that names no duration, or one that is negative or not a number.
    pub const DEFAULT_DURATION: Duration = Duration::from_secs(2);

    /// The messages, oldest line first. A message that was replaced keeps its place.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &ScreenMessage> + ExactSizeIterator {
        self.messages.iter()
    }

    /// How many prints to the screen there were. A host that draws compares it, and
    /// [`messages`](Self::messages)`().len()`, to see whether anything is new.
    #[must_use]
    pub fn printed(&self) -> u64 {
        self.printed
    }

    /// How many messages were pushed out by newer ones before their time.
    #[must_use]
    pub fn pushed_out(&self) -> u64 {
        self.pushed_out
    }

    /// Takes a message off the screen. `false` when there is none with this key.
    ///
    /// ```
    /// use sc_console::{Print, PrintExt};
    /// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # #[cfg(feature = "print")] {
    /// cx.print(Print::new("3 enemies left").key("enemies"));
    /// assert!(cx.screen().remove("enemies"));
    /// # }
    /// assert!(!cx.screen().remove("enemies"));
    /// ```
    pub fn remove(&mut self, key: impl Into<PrintKey>) -> bool {
        let key = Some(key.into());
        let before = self.messages.len();
        self.messages.retain(|message| message.key != key);
        self.messages.len() < before
    }

    /// Takes everything off the screen.
    pub fn clear(&mut self) {
        self.messages.clear();
    }

    /// `true` when it is a line that was not there.
    fn show(&mut self, print: Print, first_frame: u64, now: Duration) -> bool {
        self.printed += 1;
        let mut message = ScreenMessage {
            number: self.printed,
            first_number: self.printed,
            key: print.key,
            text: print.text,
            color: print.color,
            first_frame,
            stays: stay(print.duration),
            until: now.saturating_add(stay(print.duration)),
        };
        // The reading of a first frame that has yet to begin is not known yet: look at it then.
        let known = first_frame <= self.begun;
        let look = if known { message.until } else { now };
        self.soonest = self.soonest.min(look);
        let same = |shown: &&mut ScreenMessage| message.key.is_some() && shown.key == message.key;
        if let Some(shown) = self.messages.iter_mut().find(same) {
            message.first_number = shown.first_number;
            *shown = message;
            return false;
        }
        if self.messages.len() >= Self::CAPACITY {
            self.messages.pop_front();
            self.pushed_out += 1;
        }
        self.messages.push_back(message);
        true
    }

    /// Takes off what has been on screen for its time by the frame that has begun.
    fn age(&mut self, frame: u64, now: Duration) {
        self.begun = frame;
        if now < self.soonest {
            return;
        }
        self.messages.retain_mut(|message| {
            let is_first = message.first_frame >= frame;
            if is_first {
                message.until = now.saturating_add(message.stays);
            }
            is_first || now < message.until
        });
        let soonest = self.messages.iter().map(|message| message.until).min();
        self.soonest = soonest.unwrap_or(Duration::MAX);
    }
}

/// How long a message stays that asks for so many seconds.
fn stay(asked: Option<sc_core::Secs>) -> Duration {
    let Some(asked) = asked else {
        return Screen::DEFAULT_DURATION;
    };
    match asked.to_duration() {
        Ok(duration) => duration,
        // Longer than a clock can tell, or without end: until it is replaced or taken off.
        Err(_) if asked.as_f64() > 0.0 => Duration::MAX,
        Err(_) => Screen::DEFAULT_DURATION,
    }
}

/// The screen of a runtime; its hook is installed on first use.
pub(crate) fn screen<'c, H>(cx: &'c mut Cx<'_, H>) -> &'c mut Screen {
    if cx.runtime().state::<Screen>().is_none() {
        let extension = Extension::<H>::new("sc.screen")
            .ours()
            .on_runtime_stage(Stage::Timers, |cx| {
                let (frame, now) = (cx.frame(), cx.runtime_elapsed());
                cx.runtime_state::<Screen>().age(frame, now);
            })
            .inspected_by(|rt| {
                let screen = rt.state::<Screen>();
                let messages = screen.into_iter().flat_map(Screen::messages);
                messages.map(|message| message.text.clone()).collect()
            });
        cx.install(extension);
    }
    cx.runtime_state()
}

/// Shows a print on the screen.
pub(crate) fn show<H>(cx: &mut Cx<'_, H>, print: Print) {
    let first_frame = match cx.in_frame() {
        true => cx.frame(),
        false => cx.frame() + 1,
    };
    let now = cx.runtime_elapsed();
    #[cfg(feature = "terminal")]
    let line = crate::terminal::Item::Message(print.text.clone(), print.color);
    let is_new = screen(cx).show(print, first_frame, now);
    // A terminal scrolls: a message that is replaced every frame is one line of it.
    #[cfg(feature = "terminal")]
    if is_new {
        for feed in crate::terminal::feeds_of(cx) {
            feed.push(line.clone());
        }
    }
    let _ = is_new;
}
