//! Completion in the editor: names from the snapshot that is at hand, values from the live game.

use std::sync::Arc;
use std::time::Duration;

use reedline::{Completer, CompletionResult, Span, Suggestion};

use crate::complete::{Candidate, Completions};
use crate::terminal::link::{Game, Shared};

/// For so long the game is waited for. It answers in its next frame; if it does not come to that,
/// the names must do.
const PATIENCE: Duration = Duration::from_millis(100);

pub(super) struct GameCompleter {
    shared: Arc<Shared>,
    game: Arc<dyn Game>,
}

impl GameCompleter {
    pub(super) fn new(shared: &Arc<Shared>, game: &Arc<dyn Game>) -> Self {
        GameCompleter {
            shared: Arc::clone(shared),
            game: Arc::clone(game),
        }
    }

    /// What is known, or more, if the game has more and says so in time.
    fn ask(&self, known: Completions, line: &str, caret: usize) -> Completions {
        if !known.live {
            return known;
        }
        let answer = self.game.complete(line.to_owned(), caret);
        answer.recv_timeout(PATIENCE).unwrap_or(known)
    }
}

impl Completer for GameCompleter {
    fn complete(&mut self, line: &str, caret: usize) -> CompletionResult {
        let known = self.shared.snapshot().complete(line, caret);
        let Completions {
            span, candidates, ..
        } = self.ask(known, line, caret);
        let suggestion = |candidate: Candidate| Suggestion {
            span: Span {
                start: span.start,
                end: span.end.max(span.start),
            },
            append_whitespace: !candidate.group,
            display_override: Some(candidate.label),
            description: Some(candidate.about).filter(|about| !about.is_empty()),
            value: candidate.insert,
            ..Suggestion::default()
        };
        let suggestions: Vec<Suggestion> = candidates.into_iter().map(suggestion).collect();
        CompletionResult::fresh(suggestions)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use sc_core::ExtensionReport;

    use super::*;
    use crate::source::Source;

    /// A game that answers, or never does.
    struct Slow {
        answers: bool,
    }

    impl Game for Slow {
        fn run(&self, _: String) -> Receiver<()> {
            channel().1
        }
        fn complete(&self, _: String, _: usize) -> Receiver<Completions> {
            let (sender, receiver) = channel();
            if self.answers {
                let ready = Completions {
                    span: 0..1,
                    candidates: vec![Candidate {
                        insert: "live".into(),
                        label: "live".into(),
                        about: String::new(),
                        group: false,
                    }],
                    live: true,
                };
                let _ = sender.send(ready);
            } else {
                // It hangs: the question is neither answered nor dropped.
                std::mem::forget(sender);
            }
            receiver
        }
        fn sign_of_life(&self) -> Receiver<()> {
            channel().1
        }
        fn report(&self, _: &'static ExtensionReport, _: String) {}
    }

    #[test]
    fn a_game_that_does_not_answer_is_waited_for_and_then_done_without() {
        assert_eq!(PATIENCE, Duration::from_millis(100));
        for answers in [true, false] {
            let game: Arc<dyn Game> = Arc::new(Slow { answers });
            let completer = GameCompleter::new(&Shared::new(Source::Terminal), &game);
            let known = Completions {
                live: true,
                ..Completions::default()
            };
            let got = completer.ask(known, "x", 1);
            assert_eq!(got.candidates.len(), usize::from(answers));
            // What needs no game is not asked of it.
            let got = completer.ask(Completions::default(), "x", 1);
            assert!(got.candidates.is_empty());
        }
    }
}
