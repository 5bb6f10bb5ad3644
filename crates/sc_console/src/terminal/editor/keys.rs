//! What keys mean: `reedline`'s Emacs keys, with a line end that ends a line wherever it comes.
//!
//! `reedline` reads all that has arrived, and lets go of what stands behind a key that ends the line, unless that is
//! Enter. What was typed or pasted so fast is kept here instead.

use std::sync::{Arc, Mutex, PoisonError};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use reedline::{
    EditMode, Emacs, PromptEditMode, ReedlineEvent, ReedlineRawEvent, default_emacs_keybindings,
};

use super::lines::Canvas;

/// What came behind a key that has ended the line.
#[derive(Clone, Debug, Default)]
pub(super) struct Behind(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The line has ended.
    ended: bool,
    text: String,
}

impl Behind {
    /// Takes it: the next line begins.
    pub(super) fn take(&self) -> String {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.ended = false;
        std::mem::take(&mut state.text)
    }
}

/// The keys of the editor.
pub(super) struct Keys {
    emacs: Emacs,
    canvas: Canvas,
    behind: Behind,
}

impl Keys {
    /// Those of `reedline`, and Tab for a menu.
    pub(super) fn new(menu: &str, canvas: &Canvas, behind: &Behind) -> Self {
        let mut keys = default_emacs_keybindings();
        let complete = vec![
            ReedlineEvent::Menu(menu.to_owned()),
            ReedlineEvent::MenuNext,
        ];
        keys.add_binding(
            KeyModifiers::NONE,
            KeyCode::Tab,
            ReedlineEvent::UntilFound(complete),
        );
        // In raw mode the key of a line end, as programs send it that type. Whatever menu or search is open, it ends the line.
        let submit = vec![ReedlineEvent::Esc, ReedlineEvent::Submit];
        keys.add_binding(
            KeyModifiers::CONTROL,
            KeyCode::Char('j'),
            ReedlineEvent::Multiple(submit),
        );
        Keys {
            emacs: Emacs::new(keys),
            canvas: canvas.clone(),
            behind: behind.clone(),
        }
    }
}

impl EditMode for Keys {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let mut behind = self.behind.0.lock().unwrap_or_else(PoisonError::into_inner);
        if behind.ended {
            text_of(&event.into(), &mut behind.text);
            return ReedlineEvent::None;
        }
        let parsed = self.emacs.parse_event(event);
        behind.ended = matches!(parsed, ReedlineEvent::CtrlC | ReedlineEvent::Multiple(_));
        if matches!(parsed, ReedlineEvent::Edit(_)) {
            self.canvas.note_typed();
        }
        parsed
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.emacs.edit_mode()
    }
}

/// What a key types, if it types something.
fn text_of(event: &Event, text: &mut String) {
    match event {
        Event::Key(KeyEvent {
            code: KeyCode::Char(c),
            modifiers,
            ..
        }) => match *modifiers {
            KeyModifiers::NONE | KeyModifiers::SHIFT => text.push(*c),
            KeyModifiers::CONTROL if *c == 'j' => text.push('\n'),
            _ => {}
        },
        Event::Key(KeyEvent {
            code: KeyCode::Enter,
            ..
        }) => text.push('\n'),
        Event::Key(KeyEvent {
            code: KeyCode::Tab, ..
        }) => text.push('\t'),
        Event::Paste(pasted) => text.push_str(pasted),
        _ => {}
    }
}
