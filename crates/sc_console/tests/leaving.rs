//! Commands that end from within: by their owner, their guard, their replacement, their destructor.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use std::cell::RefCell;
use std::rc::Rc;

use sc_console::{
    CommandGuard, ConsoleExt, LineOutcome, RegisterError, Source, VariableDef, VariableError,
    VariableExt, dynamic_command,
};
use sc_core::testing::TestWorld;
use sc_core::{Access, AnyCx, Cx, Owner, Tickable};

#[derive(Default)]
struct Game {
    door: Option<Owner<Door>>,
    guard: Option<CommandGuard>,
    log: Vec<&'static str>,
}

struct Door;
impl Tickable<Game> for Door {}

fn outcome(t: &mut TestWorld<Game>, line: &str) -> LineOutcome {
    t.cx().run_line(line, Source::Local).outcome
}

#[test]
fn a_command_that_ends_its_owner_runs_on_to_its_end() {
    for by_owner in [true, false] {
        let mut t = TestWorld::new(Game::default());
        let world = t.world;
        let door = t.cx().spawn_in(world, Door).unwrap();
        let command = dynamic_command! {
            /// Ends itself.
            Door.Burn () |cx: &mut Cx<'_, Game>, out| {
                let door = cx.host_mut().door.take().expect("once");
                if by_owner {
                    assert_eq!(cx.unregister_entries_of(&door), 1);
                    cx.host_mut().door = Some(door);
                } else {
                    door.shutdown(cx)?;
                }
                cx.host_mut().log.push("burnt");
                writeln!(out, "gone")?;
                Ok(())
            }
        };
        t.cx().register_command(command.owner(&door)).unwrap();
        t.host.door = Some(door);
        assert_eq!(t.cx().run_line("door.burn", Source::Local).text(), "gone");
        assert_eq!(t.host.log, ["burnt"]);
        assert_eq!(outcome(&mut t, "door.burn"), LineOutcome::Failed);
    }
}

#[test]
fn a_command_that_drops_its_guard_runs_on_to_its_end() {
    let mut t = TestWorld::new(Game::default());
    let command = dynamic_command! {
        /// Ends itself.
        Once () |cx: &mut Cx<'_, Game>, _out| {
            drop(cx.host_mut().guard.take());
            let again = cx.run_line("once", Source::Local);
            assert_eq!(again.outcome, LineOutcome::Failed);
            cx.host_mut().log.push("once");
            Ok(())
        }
    };
    let guard = t.cx().register_command_guarded(command.runtime()).unwrap();
    t.host.guard = Some(guard);
    assert_eq!(outcome(&mut t, "once"), LineOutcome::Done);
    assert_eq!(outcome(&mut t, "once"), LineOutcome::Failed);
    assert_eq!(t.host.log, ["once"]);
}

/// Registers a command of a name when it is dropped, and keeps the answer.
struct Registers {
    access: Access<Game>,
    answers: Rc<RefCell<Vec<Result<(), RegisterError>>>>,
}

impl Drop for Registers {
    fn drop(&mut self) {
        let usurper = || {
            dynamic_command! {
                /// Was not asked for.
                Door.Open () |_cx: &mut Cx<'_, Game>, out| { writeln!(out, "usurper")?; Ok(()) }
            }
            .runtime()
        };
        let answer = self
            .access
            .with(|cx| cx.register_command(usurper()).map(drop));
        self.answers.borrow_mut().extend(answer.ok());
    }
}

#[test]
fn what_the_replaced_one_does_at_its_end_does_not_take_the_name() {
    let mut t = TestWorld::new(Game::default());
    let answers = Rc::<RefCell<Vec<_>>>::default();
    let registers = Registers {
        access: t.cx().access(),
        answers: Rc::clone(&answers),
    };
    let old = dynamic_command! {
        /// The old one.
        Door.Open () |_cx: &mut Cx<'_, Game>, _out| { let _ = &registers; Ok(()) }
    };
    t.cx().register_command(old.runtime()).unwrap();
    let new = dynamic_command! {
        /// The new one.
        Door.Open () |_cx: &mut Cx<'_, Game>, out| { writeln!(out, "new")?; Ok(()) }
    };
    let new = t.cx().replace_command(new.runtime()).unwrap();
    assert!(matches!(
        answers.borrow()[..],
        [Err(RegisterError::NameTaken { .. })]
    ));
    assert_eq!(t.cx().run_line("door.open", Source::Local).text(), "new");
    assert!(t.cx().unregister_command(new));
    assert_eq!(outcome(&mut t, "door.open"), LineOutcome::Failed);
}

fn ends_itself(cx: &mut dyn AnyCx, _: &u32) {
    if let Some(mut cx) = cx.typed::<Game>() {
        assert!(cx.unregister_entry("Short.Lived"));
        // Another takes the place.
        let other = VariableDef::new("Other", 7_u32).runtime();
        cx.register_variable(other).unwrap();
    }
}

#[test]
fn a_variable_that_ends_while_it_is_registered_leaves_a_key_of_nothing() {
    let mut t = TestWorld::new(Game::default());
    t.cx()
        .set_var_text("Short.Lived", "5", sc_console::SetBy::Code)
        .unwrap();
    let short = VariableDef::new("Short.Lived", 1_u32)
        .changed(ends_itself)
        .runtime();
    let key = t.cx().register_variable(short).unwrap();
    assert_eq!(t.cx().get_var(key), Err(VariableError::Gone));
    assert_eq!(t.cx().var_info("Other").unwrap().value, "7");
}

/// Ends another command when it is dropped, and registers a third, which takes that one's place.
struct Succeeds(Access<Game>);

impl Drop for Succeeds {
    fn drop(&mut self) {
        let heir = dynamic_command! {
            /// Came last.
            Heir () |_cx: &mut Cx<'_, Game>, _out| { Ok(()) }
        };
        let done = self.0.with(|cx| {
            cx.unregister_entry("Second");
            cx.register_command(heir.runtime()).unwrap();
        });
        assert_eq!(done, Ok(()));
    }
}

/// Ends what is bound to a door, or the door.
type End = fn(&mut TestWorld<Game>, Owner<Door>);

#[test]
fn what_takes_the_place_of_one_that_is_about_to_end_stays() {
    let by_world = |t: &mut TestWorld<Game>, _: Owner<Door>| {
        let world = t.world;
        t.cx().destroy_world(world);
    };
    let by_life = |t: &mut TestWorld<Game>, door: Owner<Door>| {
        door.shutdown(&mut t.cx()).unwrap();
    };
    let by_owner = |t: &mut TestWorld<Game>, door: Owner<Door>| {
        assert_eq!(
            t.cx().unregister_entries_of(&door),
            1,
            "the first; its end was the second's"
        );
        t.host.door = Some(door);
    };
    let ways: [End; 3] = [by_world, by_life, by_owner];
    for end in ways {
        let mut t = TestWorld::new(Game::default());
        let world = t.world;
        let door = t.cx().spawn_in(world, Door).unwrap();
        let succeeds = Succeeds(t.cx().access());
        let first = dynamic_command! {
            /// Has an heir.
            First () |_cx: &mut Cx<'_, Game>, _out| { let _ = &succeeds; Ok(()) }
        };
        let second = dynamic_command! {
            /// Is ended by the first.
            Second () |_cx: &mut Cx<'_, Game>, _out| { Ok(()) }
        };
        for command in [first, second] {
            t.cx().register_command(command.owner(&door)).unwrap();
        }
        end(&mut t, door);
        assert_eq!(outcome(&mut t, "first"), LineOutcome::Failed);
        assert_eq!(outcome(&mut t, "second"), LineOutcome::Failed);
        assert_eq!(outcome(&mut t, "heir"), LineOutcome::Done);
    }
}
