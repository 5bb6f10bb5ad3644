//! Printing: a text to the screen, the log, or both.

pub(crate) mod key;
pub(crate) mod macros;
mod warned;

use std::cell::Cell;

use sc_core::{Cx, Secs};

use crate::screen::color::Color;
use crate::screen::template::Filled;
use crate::screen::{self, Screen, template::Template};

pub use self::key::PrintKey;

/// The target of the log events that prints make, at the level `INFO`.
pub const PRINT_TARGET: &str = "stillcooking::print";

/// Where a print goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PrintTo {
    /// To the screen and to the log.
    #[default]
    Both,
    /// To the screen only.
    Screen,
    /// To the log only.
    Log,
}

/// A text to print, and how. What [`print_string!`](crate::print_string) makes; also for text that
/// is there already.
///
/// ```
/// use sc_console::{Color, Print, PrintExt, PrintTo, Template};
/// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
/// # let mut cx = rt.cx(&mut host);
/// cx.print("saved");
/// cx.print(Print::new("low on health").key("health").duration(5).color(Color::RED));
/// let from_data = Template::new("{who} has joined");
/// cx.print(Print::template(&from_data, &[("Who", &"Mia")]).to(PrintTo::Screen));
/// # #[cfg(feature = "print")]
/// assert_eq!(cx.screen().messages().last().map(|m| &*m.text), Some("Mia has joined"));
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is printed until `cx.print` gets it"]
pub struct Print {
    pub(crate) text: String,
    pub(crate) key: Option<PrintKey>,
    pub(crate) duration: Option<Secs>,
    pub(crate) color: Color,
    to: PrintTo,
    /// The template and its arguments that have got no value.
    missing: Option<(String, Vec<String>)>,
}

impl Print {
    /// A text, unkeyed, white, for the default duration, to screen and log.
    pub fn new(text: impl Into<String>) -> Self {
        Print {
            text: text.into(),
            key: None,
            duration: None,
            color: Color::default(),
            to: PrintTo::default(),
            missing: None,
        }
    }

    /// A template with its arguments put in by name, as [`Template::fill`] does. An argument
    /// without a value stays visible, and printing it makes one report for each template.
    pub fn template(template: &Template, values: &[(&str, &dyn std::fmt::Display)]) -> Self {
        let Filled { text, missing } = template.fill(values);
        let missing = (!missing.is_empty()).then(|| (template.source().to_owned(), missing));
        Print {
            missing,
            ..Print::new(text)
        }
    }

    /// Replaces the message on screen that has the same key: its text, colour and time.
    pub fn key(mut self, key: impl Into<PrintKey>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// How many seconds of real time it stays on screen. 0 is one frame; a negative number or NaN is
    /// the default, 2; infinity is until it is replaced or taken off.
    pub fn duration(mut self, seconds: impl Into<Secs>) -> Self {
        self.duration = Some(seconds.into());
        self
    }

    /// Its colour on screen.
    pub fn color(mut self, color: Color) -> Self {
        self.color = color;
        self
    }

    /// Where it goes.
    pub fn to(mut self, to: PrintTo) -> Self {
        self.to = to;
        self
    }
}

impl From<&str> for Print {
    fn from(text: &str) -> Self {
        Print::new(text)
    }
}

impl From<String> for Print {
    fn from(text: String) -> Self {
        Print::new(text)
    }
}

thread_local! {
    /// The event of the log that is being made is that of a print which also goes to the screen.
    static AS_MESSAGE: Cell<bool> = const { Cell::new(false) };
}

/// Says so until it is dropped, by whatever layer panics meanwhile.
struct AsMessage;

impl AsMessage {
    fn set(is: bool) -> Self {
        AS_MESSAGE.set(is);
        AsMessage
    }
}

impl Drop for AsMessage {
    fn drop(&mut self) {
        AS_MESSAGE.set(false);
    }
}

/// Whether the event of the log that is being made is that of a print which also goes to the screen:
/// a terminal, which shows both, shows it once.
#[cfg(feature = "terminal")]
pub(crate) fn is_shown_as_message() -> bool {
    AS_MESSAGE.get()
}

/// Printing, as calls on the [`Cx`].
pub trait PrintExt {
    /// Prints a text. Without the feature `print` it does nothing.
    ///
    /// ```
    /// use sc_console::PrintExt;
    /// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
    /// rt.cx(&mut host).print("the game has started");
    /// ```
    fn print(&mut self, print: impl Into<Print>);

    /// The messages on screen.
    ///
    /// ```
    /// use sc_console::PrintExt;
    /// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// assert_eq!(cx.screen().messages().len(), 0);
    /// ```
    fn screen(&mut self) -> &mut Screen;
}

impl<H> PrintExt for Cx<'_, H> {
    fn print(&mut self, print: impl Into<Print>) {
        if cfg!(feature = "print") {
            print_now(self, print.into());
        }
    }

    fn screen(&mut self) -> &mut Screen {
        screen::screen(self)
    }
}

fn print_now<H>(cx: &mut Cx<'_, H>, mut print: Print) {
    let missing = print.missing.take();
    if print.to != PrintTo::Screen {
        let _as_message = AsMessage::set(print.to == PrintTo::Both);
        tracing::info!(target: PRINT_TARGET, "{}", print.text);
    }
    if print.to != PrintTo::Log {
        screen::show(cx, print);
    }
    if let Some((template, arguments)) = missing {
        warned::warn_once(cx, &template, &arguments);
    }
}
