//! The line that says which registry is live. A test alone in its program: an event whose place in the
//! code another thread reaches for the first time, when a listener comes, may not be heard.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use sc_console::{
    CommandError, CommandRegistry, ConsoleExt, ForwardedCall, Output, command_registry,
};
use sc_core::testing::TestWorld;
use sc_core::{Cx, Runtime};

type Log = Vec<String>;

struct Declaring;

#[derive(Default)]
struct Declared;
impl CommandRegistry<Declaring> for Declared {
    fn on_static_command(
        &mut self,
        _: &mut Cx<'_, Declaring>,
        _: ForwardedCall<'_>,
        _: &mut Output,
    ) -> Result<(), CommandError> {
        Ok(())
    }
}
command_registry!(Declaring: Declared);

/// The texts of all events.
#[derive(Clone, Default)]
struct Events(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl tracing::field::Visit for Events {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

impl tracing::Subscriber for Events {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn the_line_of_the_start_names_the_live_registry() {
    let events = Events::default();
    tracing::subscriber::with_default(events.clone(), || {
        TestWorld::new(Log::new()).cx().start_console();
        let mut rt = Runtime::<Declaring>::new();
        rt.set_report_handler(|_| ());
        rt.cx(&mut Declaring).start_console();
    });
    let events = events.0.lock().unwrap();
    let lines: Vec<_> = events
        .iter()
        .filter(|line| line.contains("is live, with"))
        .collect();
    assert_eq!(lines.len(), 2, "{events:?}");
    assert!(
        lines[0].starts_with("console: registry `default` is live, with "),
        "{}",
        lines[0]
    );
    // Without commands a registry of the program's own is stripped with them.
    let name = match cfg!(feature = "commands") {
        true => std::any::type_name::<Declared>(),
        false => "default",
    };
    let own = format!("console: registry `{name}` is live, with ");
    assert!(lines[1].starts_with(&own), "{}", lines[1]);
}
