//! Commands registered at run time: what refuses one, what ends one, what its own body may do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use std::cell::RefCell;
use std::rc::Rc;

use sc_console::{
    CommandDef, ConsoleExt, LineOutcome, RegisterError, Source, VariableDef, VariableError,
    VariableExt, dynamic_command,
};
use sc_core::testing::TestWorld;
use sc_core::{AnyCx, Cx, Runtime, TickError, Tickable, WorldKind, WorldOptions};

type Log = Vec<String>;

struct Door;
impl Tickable<Log> for Door {}

/// A command that logs a text.
fn logs(name: &str, text: &'static str) -> CommandDef<Log> {
    let name = name.to_owned();
    dynamic_command! {
        /// Logs a text.
        {name} () |cx: &mut Cx<'_, Log>, _out| {
            cx.host_mut().push(text.to_owned());
            Ok(())
        }
    }
}

fn runs(t: &mut TestWorld<Log>, line: &str) -> bool {
    t.cx().run_line(line, Source::Local).outcome == LineOutcome::Done
}

/// Whether a name is anywhere: run, list, completion, help.
fn exists(t: &mut TestWorld<Log>, name: &str) -> bool {
    let snapshot = t.cx().console_snapshot(Source::Local);
    let listed = snapshot.get(name).is_some();
    let completed = snapshot.complete(name, name.len()).candidates;
    let completed = completed
        .iter()
        .any(|c| c.insert.eq_ignore_ascii_case(name));
    let help = runs(t, &format!("help {name}"));
    let ran = runs(t, name);
    assert_eq!([listed, completed, help], [ran; 3], "{name}");
    ran
}

#[test]
fn a_command_runs_from_its_registration_on() {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    assert!(!exists(&mut t, "Open"));
    t.cx()
        .register_command(logs("Open", "opened").world(world))
        .unwrap();
    assert!(exists(&mut t, "Open"));
    assert_eq!(t.host, ["opened"]);
}

#[test]
fn what_refuses_a_registration_is_an_error_and_one_warning() {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let refused = |t: &mut TestWorld<Log>, definition: CommandDef<Log>| {
        let error = t.cx().register_command(definition).unwrap_err();
        let reports = t.reports.take();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].kind.name(), "NotRegistered");
        let at = format!("{error} (at {}:", file!());
        assert!(reports[0].what.starts_with(&at), "{}", reports[0].what);
        error
    };
    let error = refused(&mut t, logs("", "").runtime());
    assert_eq!(error, RegisterError::EmptyName);
    let error = refused(&mut t, logs("no spaces", "").runtime());
    assert!(matches!(error, RegisterError::IllFormedName { .. }));
    for name in ["SC.Mine", "sc.mine", "Sc"] {
        let error = refused(&mut t, logs(name, "").runtime());
        assert_eq!(
            error,
            RegisterError::ReservedName {
                name: name.to_owned()
            }
        );
    }
    // Outside callbacks there is no world to bind to, unless one is named.
    let error = refused(&mut t, logs("Open", ""));
    assert!(matches!(error, RegisterError::NoLiveWorld { .. }));
    let door = t.cx().spawn(Door);
    let error = refused(&mut t, logs("Open", "").owner(&door));
    assert!(matches!(
        error,
        RegisterError::NoOwner {
            why: TickError::NotInitialized { .. },
            ..
        }
    ));
    t.cx().destroy_world(world);
    let error = refused(&mut t, logs("Open", "").world(world));
    assert!(matches!(error, RegisterError::NoLiveWorld { .. }));
    let error = refused(
        &mut t,
        dynamic_command! {
            Wrong (first: Option<u32>, second: u32) |_cx: &mut Cx<'_, Log>, _out| {
                let _ = (first, second);
                Ok(())
            }
        }
        .runtime(),
    );
    assert_eq!(
        error.to_string(),
        "the parameters of `Wrong` are at fault: `second` is required and follows `first`, which is not"
    );
    let error = refused(
        &mut t,
        dynamic_command! {
            Wrong (#[range = 1..=3] count: u32 = 7) |_cx: &mut Cx<'_, Log>, _out| {
                let _ = count;
                Ok(())
            }
        }
        .runtime(),
    );
    assert!(
        error
            .to_string()
            .contains("the default of `count`, 7, is not allowed"),
        "{error}"
    );
    let error = refused(
        &mut t,
        dynamic_command! {
            Wrong (#[range = 1..=3] counts: Vec<u32> = vec![1, 7]) |_cx: &mut Cx<'_, Log>, _out| {
                let _ = counts;
                Ok(())
            }
        }
        .runtime(),
    );
    assert!(
        error
            .to_string()
            .contains("the default of `counts`, 1 7, is not allowed"),
        "{error}"
    );
    assert!(!exists(&mut t, "Open") && !exists(&mut t, "Wrong"));
}

#[test]
fn case_g4_a_taken_name_is_refused_and_replace_replaces() {
    let mut t = TestWorld::new(Log::new());
    t.cx()
        .register_command(logs("Open", "first").runtime())
        .unwrap();
    let error = t
        .cx()
        .register_command(logs("OPEN", "second").runtime())
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("`OPEN` is taken: command `Open`, registered at "),
        "{text}"
    );
    runs(&mut t, "open");
    t.cx()
        .replace_command(logs("OPEN", "second").runtime())
        .unwrap();
    runs(&mut t, "open");
    assert_eq!(t.host, ["first", "second"]);
    assert_eq!(
        t.cx()
            .console_snapshot(Source::Local)
            .get("open")
            .unwrap()
            .name,
        "OPEN"
    );
    // What is built in, or declared, cannot be replaced.
    for name in ["help", "HELP", "wait"] {
        let error = t
            .cx()
            .replace_command(logs(name, "").runtime())
            .unwrap_err();
        assert!(matches!(error, RegisterError::NameTaken { .. }), "{error}");
    }
}

#[test]
fn replace_that_is_refused_leaves_the_old_one() {
    let mut t = TestWorld::new(Log::new());
    t.cx()
        .register_command(logs("Open", "first").runtime())
        .unwrap();
    t.cx().replace_command(logs("Open", "second")).unwrap_err();
    runs(&mut t, "open");
    assert_eq!(t.host, ["first"]);
}

#[test]
fn case_g2_unregistering_twice_is_a_no_op() {
    let mut t = TestWorld::new(Log::new());
    let id = t.cx().register_command(logs("Open", "").runtime()).unwrap();
    assert!(t.cx().unregister_command(id));
    assert!(!t.cx().unregister_command(id));
    assert!(!t.cx().unregister_entry("Open"));
    // The slot is used again: the old id does not reach what is in it.
    t.cx()
        .register_command(logs("Close", "").runtime())
        .unwrap();
    assert!(!t.cx().unregister_command(id));
    assert!(exists(&mut t, "Close"));
}

#[test]
fn case_g3_commands_of_an_owner_go_with_it() {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let door = t.cx().spawn_in(world, Door).unwrap();
    t.cx()
        .register_command(logs("Door.Open", "").owner(&door))
        .unwrap();
    t.cx()
        .register_command(logs("Door.Close", "").owner(&door).world(world))
        .unwrap();
    t.cx()
        .register_variable(VariableDef::new("Door.Speed", 1.0).owner(&door))
        .unwrap();
    assert!(exists(&mut t, "Door.Open") && exists(&mut t, "Door.Close"));
    door.shutdown(&mut t.cx()).unwrap();
    for name in ["Door.Open", "Door.Close", "Door.Speed"] {
        assert!(!exists(&mut t, name));
    }
    // The object lives on, but this is another life of it.
    t.cx().initialize(&door, world).unwrap();
    assert!(!exists(&mut t, "Door.Open"));
}

#[test]
fn a_dead_owner_never_blocks_a_name() {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let first = t.cx().spawn_in(world, Door).unwrap();
    t.cx()
        .register_command(logs("Door.Open", "first").owner(&first))
        .unwrap();
    drop(first);
    let second = t.cx().spawn_in(world, Door).unwrap();
    t.cx()
        .register_command(logs("Door.Open", "second").owner(&second))
        .unwrap();
    runs(&mut t, "door.open");
    assert_eq!(t.host, ["second"]);
    second.shutdown(&mut t.cx()).unwrap();
}

#[test]
fn unregistering_an_owner_ends_its_own_and_no_others() {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let with = t.cx().spawn_in(world, Door).unwrap();
    let without = t.cx().spawn_in(world, Door).unwrap();
    t.cx().register_command(logs("A", "").owner(&with)).unwrap();
    t.cx().register_command(logs("B", "").owner(&with)).unwrap();
    t.cx().register_command(logs("C", "").runtime()).unwrap();
    assert_eq!(t.cx().unregister_entries_of(&without), 0);
    assert_eq!(t.cx().unregister_entries_of(&with), 2);
    assert_eq!(t.cx().unregister_entries_of(&with), 0);
    assert!(!exists(&mut t, "A") && exists(&mut t, "C"));
    for door in [with, without] {
        door.shutdown(&mut t.cx()).unwrap();
    }
}

#[test]
fn what_has_lost_its_owner_is_not_there_to_be_unregistered() {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let mut doors = Vec::new();
    for n in 0..3 {
        let door = t.cx().spawn_in(world, Door).unwrap();
        let command = logs(&format!("Open{n}"), "").owner(&door);
        let id = t.cx().register_command(command).unwrap();
        doors.push((door, id));
    }
    let ids: Vec<_> = doors.iter().map(|(door, id)| (door.id(), *id)).collect();
    drop(doors);
    assert!(!t.cx().unregister_command(ids[0].1));
    assert!(!t.cx().unregister_entry("Open1"));
    assert_eq!(t.cx().unregister_entries_of(ids[2].0), 0);
    assert!((0..3).all(|n| !exists(&mut t, &format!("Open{n}"))));
    let guard = t
        .cx()
        .register_command_guarded(logs("Guarded", "").runtime())
        .unwrap();
    drop(guard);
    assert!(!t.cx().unregister_entry("Guarded"));
}

#[test]
fn a_guard_ends_its_command_wherever_it_is_dropped() {
    let mut t = TestWorld::new(Log::new());
    let guard = t
        .cx()
        .register_command_guarded(logs("Open", "").runtime())
        .unwrap();
    assert!(!guard.is_stripped() && exists(&mut t, "Open"));
    std::thread::spawn(move || drop(guard)).join().unwrap();
    assert!(!exists(&mut t, "Open"));
    t.cx().register_command(logs("Open", "").runtime()).unwrap();
}

#[test]
fn what_has_lost_its_guard_is_dropped_in_the_next_frame() {
    let mut t = TestWorld::new(Log::new());
    let alive = Rc::new(());
    let held = Rc::clone(&alive);
    let definition = dynamic_command! {
        Hold () |_cx: &mut Cx<'_, Log>, _out| { let _ = &held; Ok(()) }
    };
    let guard = t
        .cx()
        .register_command_guarded(definition.runtime())
        .unwrap();
    let volume = t
        .cx()
        .register_variable(VariableDef::new("Volume", 1).runtime())
        .unwrap();
    let seen = Rc::clone(&alive);
    let watch = t
        .cx()
        .on_var_change(volume, move |_, _| {
            let _ = &seen;
        })
        .unwrap();
    t.tick(0.1);
    assert_eq!(Rc::strong_count(&alive), 3);
    drop((guard, watch));
    t.tick(0.1);
    assert_eq!(Rc::strong_count(&alive), 1);
}

#[test]
fn a_command_ends_with_its_world() {
    let mut t = TestWorld::new(Log::new());
    let other = t.cx().create_world(WorldKind::Game).unwrap();
    t.cx()
        .register_command(logs("Here", "").world(other))
        .unwrap();
    t.cx()
        .register_command(logs("Everywhere", "").runtime())
        .unwrap();
    t.cx().destroy_world(other);
    assert!(!exists(&mut t, "Here") && exists(&mut t, "Everywhere"));
}

#[test]
fn a_command_runs_in_the_world_it_is_bound_to() {
    let mut t = TestWorld::new(Log::new());
    let arena = WorldOptions::new(WorldKind::Preview).name("arena");
    let arena = t.cx().create_world(arena).unwrap();
    t.cx()
        .register_command(
            dynamic_command! {
                Where () |cx: &mut Cx<'_, Log>, out| {
                    let world = cx.world().and_then(|world| cx.world_info(world).ok());
                    writeln!(out, "{}", world.map_or_else(String::new, |world| world.name))?;
                    Ok(())
                }
            }
            .world(arena),
        )
        .unwrap();
    assert_eq!(t.cx().run_line("where", Source::Local).text(), "arena");
}

#[test]
fn a_second_session_starts_clean() {
    let mut t = TestWorld::new(Log::new());
    let session = t.cx().create_instance("play");
    let world = WorldOptions::new(WorldKind::PlayInEditor).instance(session);
    let world = t.cx().create_world(world).unwrap();
    t.cx()
        .register_command(logs("Open", "first").world(world))
        .unwrap();
    t.cx().destroy_instance(session);
    assert!(!exists(&mut t, "Open"));
    let session = t.cx().create_instance("play");
    let world = WorldOptions::new(WorldKind::PlayInEditor).instance(session);
    let world = t.cx().create_world(world).unwrap();
    t.cx()
        .register_command(logs("Open", "second").world(world))
        .unwrap();
    runs(&mut t, "open");
    assert_eq!(t.host, ["second"]);
}

#[test]
fn everything_dynamic_goes_with_the_runtime() {
    let mut t = TestWorld::new(Log::new());
    let alive = Rc::new(());
    let held = Rc::clone(&alive);
    t.cx()
        .register_command(
            dynamic_command! {
                Hold () |_cx: &mut Cx<'_, Log>, _out| { let _ = &held; Ok(()) }
            }
            .runtime(),
        )
        .unwrap();
    let volume = t
        .cx()
        .register_variable(VariableDef::new("Volume", 0.5).runtime())
        .unwrap();
    assert_eq!(Rc::strong_count(&alive), 2);
    t.rt.shutdown(&mut t.host);
    assert_eq!(Rc::strong_count(&alive), 1);
    assert!(!exists(&mut t, "Hold"));
    assert_eq!(t.cx().get_var(volume), Err(VariableError::Gone));
    assert_eq!(
        t.cx().register_command(logs("Open", "").runtime()),
        Err(RegisterError::ShutDown)
    );
}

#[test]
fn two_runtimes_do_not_meet() {
    let (mut a, mut b) = (TestWorld::new(Log::new()), TestWorld::new(Log::new()));
    a.cx()
        .register_command(logs("Open", "a").runtime())
        .unwrap();
    assert!(exists(&mut a, "Open") && !exists(&mut b, "Open"));
    b.cx().console_settings().cheats = true;
    assert!(!a.cx().console_settings().cheats);
}

#[test]
fn a_command_may_unregister_itself_while_it_runs() {
    let mut t = TestWorld::new(Log::new());
    let id = Rc::new(RefCell::new(None));
    let (mine, alive) = (Rc::clone(&id), Rc::new(()));
    let held = Rc::clone(&alive);
    let registered = t.cx().register_command(
        dynamic_command! {
            Once () |cx: &mut Cx<'_, Log>, _out| {
                let id = mine.borrow_mut().take();
                assert!(id.is_some_and(|id| cx.unregister_command(id)));
                // What it holds is still there.
                cx.host_mut().push(format!("{}", Rc::strong_count(&held)));
                Ok(())
            }
        }
        .runtime(),
    );
    *id.borrow_mut() = Some(registered.unwrap());
    assert!(runs(&mut t, "once"));
    assert!(!exists(&mut t, "once"));
    assert_eq!(t.host, ["2"]);
    assert_eq!(Rc::strong_count(&alive), 1);
}

#[test]
fn a_command_may_replace_itself_while_it_runs() {
    let mut t = TestWorld::new(Log::new());
    t.cx()
        .register_command(
            dynamic_command! {
                Step () |cx: &mut Cx<'_, Log>, _out| {
                    cx.replace_command(logs("Step", "second").runtime())?;
                    cx.host_mut().push("first".to_owned());
                    Ok(())
                }
            }
            .runtime(),
        )
        .unwrap();
    assert!(runs(&mut t, "step") && runs(&mut t, "step"));
    assert_eq!(t.host, ["first", "second"]);
}

#[test]
fn a_command_may_register_others_and_run_lines() {
    let mut t = TestWorld::new(Log::new());
    t.cx()
        .register_command(
            dynamic_command! {
                Outer () |cx: &mut Cx<'_, Log>, out| {
                    cx.register_command(logs("Inner", "inner"))?;
                    let run = cx.run_line("inner; find inner", Source::Local);
                    writeln!(out, "{:?}: {}", run.outcome, run.text())?;
                    Ok(())
                }
            }
            .runtime(),
        )
        .unwrap();
    let run = t.cx().run_line("outer", Source::Local);
    assert_eq!(run.text(), "Done:   Inner  Logs a text.\n1 found");
    assert_eq!(t.host, ["inner"]);
}

#[test]
fn a_command_that_runs_itself_is_refused_and_one_that_is_static_ends_at_the_limit() {
    let mut t = TestWorld::new(Log::new());
    t.cx()
        .register_command(
            dynamic_command! {
                Again () |cx: &mut Cx<'_, Log>, out| {
                    writeln!(out, "{}", cx.run_line("again", Source::Local).text())?;
                    Ok(())
                }
            }
            .runtime(),
        )
        .unwrap();
    let run = t.cx().run_line("again", Source::Local);
    assert_eq!(
        run.text(),
        "`Again` failed: it is running: it cannot be run from within itself"
    );
    let run = t.cx().run_line("loop", Source::Local);
    assert_eq!(run.outcome, LineOutcome::Done);
    assert!(t.host.len() > 8 && t.host.len() <= 32, "{}", t.host.len());
    let (shown, _) = t.cx().console_output(0);
    let deep = |line: &&sc_console::OutputLine| line.text.contains("one of them leads to itself");
    assert_eq!(shown.iter().filter(deep).count(), 1);
}

sc_console::command! {
    /// Runs itself.
    Loop () |cx: &mut Cx<'_, Log>, _out| {
        cx.host_mut().push("again".to_owned());
        cx.run_line("loop", Source::Script);
        Ok(())
    }
}

#[test]
fn case_g14_a_panic_is_reported_and_the_registry_is_usable() {
    let mut t = TestWorld::new(Log::new());
    t.cx()
        .register_command(
            dynamic_command! {
                Boom (times: u32 = 0) |_cx: &mut Cx<'_, Log>, out| {
                    writeln!(out, "before")?;
                    assert_ne!(times, 0, "never mind");
                    Ok(())
                }
            }
            .runtime(),
        )
        .unwrap();
    for _ in 0..2 {
        let run = t.cx().run_line("boom; help", Source::Local);
        assert_eq!(run.outcome, LineOutcome::Failed);
        assert_eq!(run.output[0].text, "before");
        assert!(
            run.output[1].text.starts_with("`Boom` panicked: assertion"),
            "{}",
            run.text()
        );
        assert_eq!(
            run.output.last().unwrap().text,
            "the rest of the line was not run"
        );
        let reports = t.reports.take();
        assert_eq!(
            (reports.len(), reports[0].kind.name()),
            (1, "CommandPanicked")
        );
        assert_eq!(reports[0].object.as_deref(), Some("Boom"));
    }
    assert!(runs(&mut t, "boom 1"));
    assert!(runs(&mut t, "help"));
}

#[test]
fn case_g12_one_rule_of_case_for_everything() {
    let mut t = TestWorld::new(Log::new());
    t.cx()
        .register_command(logs("Größe.ΣΑΣ", "x").runtime())
        .unwrap();
    for name in ["GRÖSSE.σας", "größe.σασ", "Größe.ΣΑΣ"] {
        assert!(runs(&mut t, name), "{name}");
        assert!(runs(&mut t, &format!("help {name}")), "{name}");
        assert!(
            t.cx().register_command(logs(name, "").runtime()).is_err(),
            "{name}"
        );
    }
    let found = t
        .cx()
        .console_snapshot(Source::Local)
        .complete("größe.σ", "größe.σ".len());
    assert_eq!(found.candidates[0].insert, "Größe.ΣΑΣ");
    assert!(t.cx().unregister_entry("GRÖSSE.ΣΑς"));
    assert!(!exists(&mut t, "Größe.ΣΑΣ"));
}

#[test]
fn case_g13_dots_group_names() {
    let mut t = TestWorld::new(Log::new());
    t.cx()
        .register_command(logs("A.B.C", "").runtime())
        .unwrap();
    t.cx().register_command(logs("A.B", "").runtime()).unwrap();
    assert!(exists(&mut t, "A.B.C") && exists(&mut t, "A.B"));
    let text = t.cx().run_line("help A", Source::Local).text();
    assert_eq!(text, "  A.B  Logs a text.\n  A.B.C  Logs a text.");
}

#[test]
fn case_g15_what_is_removed_while_listing_is_in_the_list() {
    // What it is now is asked while it is listed: it takes the others away, and the second time itself.
    fn removes(cx: &mut dyn AnyCx) -> u32 {
        let mut cx = cx.typed::<Log>().unwrap();
        if !cx.unregister_entry("Zz.B") {
            cx.unregister_entry("Zz.C");
        }
        7
    }
    let mut t = TestWorld::new(Log::new());
    let first = VariableDef::new("Zz.A", 0_u32).about("First.");
    t.cx()
        .register_variable(first.current(removes).runtime())
        .unwrap();
    for name in ["Zz.B", "Zz.C", "Zz.D"] {
        t.cx().register_command(logs(name, "").runtime()).unwrap();
    }
    let before = t.cx().console_snapshot(Source::Local);
    let mut listed = |line: &str| {
        let text = t.cx().run_line(line, Source::Local).text();
        let lines = text.lines().filter(|line| line.contains("Zz."));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let with_value = "Zz.A = 7  First.";
    let [b, c, d] = [
        "Zz.B  Logs a text.",
        "Zz.C  Logs a text.",
        "Zz.D  Logs a text.",
    ];
    assert_eq!(listed("find zz."), [with_value, b, c, d]);
    assert_eq!(listed("help zz"), [with_value, c, d]);
    assert_eq!(listed("help"), [with_value, d]);
    let after = t.cx().console_snapshot(Source::Local);
    assert!(after.get("Zz.B").is_none() && before.get("Zz.B").is_some());
}

#[test]
fn case_g16_a_removed_command_is_gone_everywhere() {
    let mut t = TestWorld::new(Log::new());
    let before = t.cx().console_snapshot(Source::Local);
    let id = t.cx().register_command(logs("Open", "").runtime()).unwrap();
    assert!(exists(&mut t, "Open"));
    t.cx().unregister_command(id);
    assert!(!exists(&mut t, "Open"));
    let after = t.cx().console_snapshot(Source::Local);
    assert!(
        before
            .entries()
            .iter()
            .map(|e| &e.name)
            .eq(after.entries().iter().map(|e| &e.name))
    );
}

#[test]
fn the_same_snapshot_as_long_as_nothing_changes() {
    let mut t = TestWorld::new(Log::new());
    let first = t.cx().console_snapshot(Source::Local);
    assert!(std::sync::Arc::ptr_eq(
        &first,
        &t.cx().console_snapshot(Source::Local)
    ));
    t.cx().register_command(logs("Open", "").runtime()).unwrap();
    assert!(!std::sync::Arc::ptr_eq(
        &first,
        &t.cx().console_snapshot(Source::Local)
    ));
    let second = t.cx().console_snapshot(Source::Local);
    t.cx().console_settings().cheats = true;
    assert!(!std::sync::Arc::ptr_eq(
        &second,
        &t.cx().console_snapshot(Source::Local)
    ));
}

#[test]
fn a_world_that_ends_in_a_command_ends_after_it() {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    t.cx()
        .register_command(
            dynamic_command! {
                Quit () |cx: &mut Cx<'_, Log>, _out| {
                    let world = cx.world().ok_or("no world")?;
                    cx.destroy_world(world);
                    cx.host_mut().push("quit".to_owned());
                    Ok(())
                }
            }
            .world(world),
        )
        .unwrap();
    assert!(runs(&mut t, "quit"));
    assert!(!exists(&mut t, "quit"));
    assert_eq!(t.host, ["quit"]);
    assert!(t.rt.world_list().is_empty());
}

#[test]
fn a_command_outlives_a_runtime_only_as_an_id() {
    let mut rt = Runtime::<Log>::new();
    let mut log = Log::new();
    let guard = rt
        .cx(&mut log)
        .register_command_guarded(logs("Open", "").runtime())
        .unwrap();
    drop(rt);
    drop(guard);
}

#[test]
fn a_command_of_an_owner_runs_in_the_owners_world() {
    let mut t = TestWorld::new(Log::new());
    let arena = WorldOptions::new(WorldKind::Game).name("arena");
    let arena = t.cx().create_world(arena).unwrap();
    let door = t.cx().spawn_in(arena, Door).unwrap();
    // Outside of callbacks: there is no world but the owner's.
    let where_is = dynamic_command! {
        Where (
            #[suggest = world_names]
            name: Option<String>,
        ) |cx: &mut Cx<'_, Log>, out| {
            let _ = name;
            let world = cx.world().and_then(|world| cx.world_info(world).ok());
            writeln!(out, "{}", world.map_or_else(String::new, |world| world.name))?;
            Ok(())
        }
    };
    t.cx().register_command(where_is.owner(&door)).unwrap();
    assert_eq!(t.cx().run_line("where", Source::Local).text(), "arena");
    // And what it suggests is of that world, too.
    let found = t.cx().complete_line("where ", 6, Source::Local);
    assert_eq!(found.candidates[0].insert, "arena");
    t.cx().destroy_world(arena);
    assert!(!exists(&mut t, "where"));
}

fn world_names(cx: &mut Cx<'_, Log>, _typed: &str) -> Vec<String> {
    let world = cx.world().and_then(|world| cx.world_info(world).ok());
    world.map(|world| world.name).into_iter().collect()
}

#[test]
fn suggestions_are_asked_for_where_the_command_would_run() {
    let mut t = TestWorld::new(Log::new());
    let where_is = dynamic_command! {
        Where (
            #[suggest = world_names]
            name: String,
        ) |cx: &mut Cx<'_, Log>, _out| {
            let names = world_names(cx, "");
            cx.host_mut().push(format!("{name} in {names:?}"));
            Ok(())
        }
    };
    t.cx().register_command(where_is.runtime()).unwrap();
    let found = t.cx().complete_line("where ", 6, Source::Local);
    let suggested = found.candidates[0].label.clone();
    t.cx()
        .run_line(&format!("where '{suggested}'"), Source::Local);
    assert_eq!(t.host, [format!("{suggested} in [\"{suggested}\"]")]);
}
