//! Without the feature `commands`: everything compiles unchanged, registering is inert, variables stay.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(not(feature = "commands"))]

use sc_console::{
    CommandRegistry, ConsoleExt, LineOutcome, SetBy, Source, VariableExt, command,
    command_registry, console_enum, dynamic_command, variable,
};
use sc_core::testing::TestWorld;
use sc_core::{AnyCx, Cx};

struct Game {
    log: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Item {
    Sword,
    Shield,
}
console_enum!(Item: Sword, Shield);

// Used by commands only: no warning that it is dead.
fn friends(cx: &mut Cx<'_, Game>, _typed: &str) -> Vec<String> {
    cx.host().log.clone()
}

fn give(cx: &mut Cx<'_, Game>, item: Item) {
    cx.host_mut().log.push(item.show());
}
use sc_console::ConsoleArg;

command! {
    /// Gives.
    pub GIVE = My.Give [cheat, hidden, server_only, anytime] (
        /// What.
        item: Item = Item::Sword,
        /// To whom.
        #[suggest = friends]
        #[secret]
        who: Option<String>,
        /// How many.
        #[range = 1..=9]
        #[special(0 => "none")]
        counts: Vec<u32>,
    ) |cx: &mut Cx<'_, Game>, out| {
        give(cx, item);
        writeln!(out, "{who:?} {counts:?}")?;
        Ok(())
    }
}
command! {
    /// Free.
    My.Free (raw words) |cx: &mut dyn AnyCx, out| { writeln!(out, "{} {}", cx.frame(), words.len())?; Ok(()) }
}
command! {
    /// Forwarded.
    My.Forwarded (count: u32 = 1) => registry
}

#[derive(Default)]
struct Scripted;
impl CommandRegistry<Game> for Scripted {
    fn on_static_command(
        &mut self,
        _: &mut Cx<'_, Game>,
        _: sc_console::ForwardedCall<'_>,
        _: &mut sc_console::Output,
    ) -> Result<(), sc_console::CommandError> {
        Ok(())
    }
}
command_registry!(Game: Scripted);

variable! {
    /// How many.
    COUNT = My.Count: u32 = 3, range 1..=9
}

#[test]
fn registering_is_inert_and_never_fails() {
    let mut t = TestWorld::new(Game { log: Vec::new() });
    let mut cx = t.cx();
    let text = "captured".to_owned();
    let definition = |name: &'static str| {
        let text = text.clone();
        dynamic_command! {
            /// Logs.
            {name} [cheat] () |cx: &mut Cx<'_, Game>, _out| {
                cx.host_mut().log.push(text.clone());
                Ok(())
            }
        }
    };
    // Not even what would be refused: a name that is none, twice the same one, no world.
    for name in ["", "SC.x", "a b", "Open", "Open"] {
        assert!(cx.register_command(definition(name)).unwrap().is_stripped());
    }
    let guard = cx
        .register_command_guarded(definition("Open").runtime())
        .unwrap();
    assert!(guard.is_stripped());
    let id = cx.replace_command(definition("Open")).unwrap();
    assert!(!cx.unregister_command(id));
    assert_eq!(cx.add_commands(&[&GIVE]), Ok(0));
    for line in ["open", "my.give", "help", "wait"] {
        assert_eq!(
            cx.run_line(line, Source::Local).outcome,
            LineOutcome::Failed,
            "{line}"
        );
    }
    assert!(t.host.log.is_empty());
    assert!(t.reports.take().is_empty());
}

#[test]
fn variables_stay() {
    let mut t = TestWorld::new(Game { log: Vec::new() });
    let mut cx = t.cx();
    assert_eq!(
        cx.run_line("my.count 5", Source::Local).text(),
        "My.Count = 5"
    );
    assert_eq!(cx.var(COUNT), 5);
    assert_eq!(
        cx.run_line("my.count 50", Source::Local).outcome,
        LineOutcome::Failed
    );
    assert!(
        cx.run_line("My.Count", Source::Local)
            .text()
            .contains("How many.")
    );
    assert!(cx.set_var_text("My.Count", "6", SetBy::Console).is_ok());
    assert_eq!(
        cx.console_snapshot(Source::Local)
            .complete("my", 2)
            .candidates[0]
            .insert,
        "My.Count"
    );
}

struct Provided;

impl CommandRegistry<Game> for Provided {
    fn start(&mut self, _cx: &mut Cx<'_, Game>) {
        unreachable!("it is no part of the program");
    }

    fn on_static_command(
        &mut self,
        _cx: &mut Cx<'_, Game>,
        call: sc_console::ForwardedCall<'_>,
        _out: &mut sc_console::Output,
    ) -> Result<(), sc_console::CommandError> {
        unreachable!("{}", call.id);
    }
}

#[test]
fn a_registry_of_the_programs_own_is_never_started() {
    let mut t = TestWorld::new(Game { log: Vec::new() });
    t.cx().provide_registry(Provided).unwrap();
    t.cx().provide_registry(Scripted).unwrap();
    let run = t.cx().run_line("my.forwarded 1", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Failed);
    t.rt.shutdown(&mut t.host);
    assert!(t.host.log.is_empty());
}
