//! Model test: random operations on the registry, from outside and from inside commands, against a simple
//! model. Names, who may take them, what lives, what is shown and what runs must agree after every step.

#![cfg(feature = "commands")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use sc_console::{
    CommandDef, CommandGuard, CommandId, ConsoleExt, LineOutcome, RegisterError, Source,
    VariableDef, VariableExt, dynamic_command,
};
use sc_core::testing::TestWorld;
use sc_core::{Cx, Owner, Tickable, WorldId, WorldKind};

/// Some of them are the same name.
const NAMES: [&str; 7] = [
    "Open",
    "OPEN",
    "Größe.x",
    "grösse.X",
    "a.b",
    "a.b.c",
    "help",
];

/// The number of the entry in each name of `NAMES` that folds alike.
fn folded(name: usize) -> usize {
    match name {
        1 => 0,
        3 => 2,
        name => name,
    }
}

const HELP: usize = 6;

#[derive(Clone, Debug)]
enum Op {
    /// Registers a command, perhaps in place of another, bound to an owner, a world, or a guard.
    Register {
        name: usize,
        owner: Option<usize>,
        world: Option<usize>,
        guarded: bool,
        replace: bool,
    },
    RegisterVariable {
        name: usize,
        owner: Option<usize>,
    },
    Unregister {
        at: usize,
    },
    UnregisterName {
        name: usize,
    },
    UnregisterOwner {
        owner: usize,
    },
    DropGuard {
        at: usize,
    },
    ShutDownOwner {
        owner: usize,
    },
    DropOwner {
        owner: usize,
    },
    DestroyWorld {
        world: usize,
    },
    Run {
        name: usize,
    },
    Tick,
    /// What follows, inside a command.
    Inside(Vec<Op>),
}

fn op(depth: u32) -> BoxedStrategy<Op> {
    let (name, few) = (0..NAMES.len(), 0..3_usize);
    let maybe = || prop_oneof![Just(None), (0..3_usize).prop_map(Some)];
    let leaf = prop_oneof![
        6 => (name.clone(), maybe(), maybe(), any::<bool>(), any::<bool>()).prop_map(
            |(name, owner, world, guarded, replace)| Op::Register { name, owner, world, guarded, replace }
        ),
        2 => (name.clone(), maybe()).prop_map(|(name, owner)| Op::RegisterVariable { name, owner }),
        2 => (0..12_usize).prop_map(|at| Op::Unregister { at }),
        2 => name.clone().prop_map(|name| Op::UnregisterName { name }),
        1 => few.clone().prop_map(|owner| Op::UnregisterOwner { owner }),
        1 => (0..6_usize).prop_map(|at| Op::DropGuard { at }),
        1 => few.clone().prop_map(|owner| Op::ShutDownOwner { owner }),
        1 => few.clone().prop_map(|owner| Op::DropOwner { owner }),
        1 => few.prop_map(|world| Op::DestroyWorld { world }),
        4 => name.prop_map(|name| Op::Run { name }),
        1 => Just(Op::Tick),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let inside = prop::collection::vec(op(depth - 1), 1..5).prop_map(Op::Inside);
    prop_oneof![8 => leaf, 1 => inside].boxed()
}

struct Thing;
impl Tickable<Lab> for Thing {}

/// An entry of the model.
#[derive(Clone, Debug)]
struct Expected {
    number: u64,
    is_variable: bool,
    owner: Option<usize>,
    world: Option<usize>,
    guard: Option<u64>,
}

/// The real things and the model, as the host.
#[derive(Default)]
struct Lab {
    owners: Vec<Option<Owner<Thing>>>,
    owner_lives: Vec<bool>,
    worlds: Vec<WorldId>,
    world_lives: Vec<bool>,
    ids: Vec<(CommandId, u64)>,
    guards: Vec<(CommandGuard, u64)>,
    made: u64,
    /// By the number of the folded name.
    expected: BTreeMap<usize, Expected>,
    ran: Vec<u64>,
    script: Vec<Op>,
}

fn logs(name: usize, number: u64) -> CommandDef<Lab> {
    dynamic_command! {
        /// Logs its number.
        {NAMES[name]} () |cx: &mut Cx<'_, Lab>, _out| { cx.host_mut().ran.push(number); Ok(()) }
    }
}

fn apply(cx: &mut Cx<'_, Lab>, op: Op) {
    match op {
        Op::Register {
            name,
            owner,
            world,
            guarded,
            replace,
        } => {
            cx.host_mut().made += 1;
            let number = cx.host().made;
            let mut definition = logs(name, number);
            let mut owner_lives = true;
            if let Some(owner) = owner {
                owner_lives = cx.host().owner_lives[owner];
                match &cx.host().owners[owner] {
                    Some(real) => definition = definition.owner(real),
                    None => return,
                }
            }
            let mut world_lives = true;
            definition = match world {
                Some(world) => {
                    world_lives = cx.host().world_lives[world];
                    definition.world(cx.host().worlds[world])
                }
                None => definition.runtime(),
            };
            let taken = match cx.host().expected.get(&folded(name)) {
                _ if name == HELP => true,
                Some(holder) => !replace || guarded || holder.is_variable,
                None => false,
            };
            // A variable can be replaced as little as what is built in.
            let outcome = match (guarded, replace) {
                (true, _) => cx.register_command_guarded(definition).map(|guard| {
                    let id = guard.id();
                    cx.host_mut().guards.push((guard, number));
                    id
                }),
                (false, true) => cx.replace_command(definition),
                (false, false) => cx.register_command(definition),
            };
            match outcome {
                Ok(id) => {
                    assert!(
                        !taken && world_lives && owner_lives,
                        "{op:?}",
                        op = NAMES[name]
                    );
                    cx.host_mut().ids.push((id, number));
                    let guard = guarded.then_some(number);
                    let entry = Expected {
                        number,
                        is_variable: false,
                        owner,
                        world,
                        guard,
                    };
                    cx.host_mut().expected.insert(folded(name), entry);
                }
                Err(RegisterError::NameTaken { .. }) => assert!(taken),
                Err(RegisterError::NoLiveWorld { .. }) => assert!(!taken && !world_lives),
                Err(RegisterError::NoOwner { .. }) => {
                    assert!(!taken && world_lives && !owner_lives)
                }
                Err(error) => panic!("{error}"),
            }
        }
        Op::RegisterVariable { name, owner } => {
            cx.host_mut().made += 1;
            let number = cx.host().made;
            let mut definition = VariableDef::new(NAMES[name], number).runtime();
            let mut owner_lives = true;
            if let Some(owner) = owner {
                owner_lives = cx.host().owner_lives[owner];
                match &cx.host().owners[owner] {
                    Some(real) => definition = definition.owner(real),
                    None => return,
                }
            }
            let taken = name == HELP || cx.host().expected.contains_key(&folded(name));
            match cx.register_variable(definition) {
                Ok(key) => {
                    assert!(!taken && owner_lives);
                    assert_eq!(cx.get_var(key), Ok(number));
                    let entry = Expected {
                        number,
                        is_variable: true,
                        owner,
                        world: None,
                        guard: None,
                    };
                    cx.host_mut().expected.insert(folded(name), entry);
                }
                Err(RegisterError::NameTaken { .. }) => assert!(taken),
                Err(RegisterError::NoOwner { .. }) => assert!(!taken && !owner_lives),
                Err(error) => panic!("{error}"),
            }
        }
        Op::Unregister { at } => {
            let Some(&(id, number)) = cx.host().ids.get(at) else {
                return;
            };
            let lives = |e: &Expected| !e.is_variable && e.number == number;
            let lives = cx.host().expected.values().any(lives);
            assert_eq!(cx.unregister_command(id), lives);
            cx.host_mut()
                .expected
                .retain(|_, e| e.is_variable || e.number != number);
        }
        Op::UnregisterName { name } => {
            let expected = cx.host_mut().expected.remove(&folded(name)).is_some();
            assert_eq!(cx.unregister_entry(NAMES[name]), expected);
        }
        Op::UnregisterOwner { owner } => {
            let Some(real) = &cx.host().owners[owner] else {
                return;
            };
            let real = real.id();
            let of_owner = |e: &Expected| e.owner == Some(owner);
            let count = cx.host().expected.values().filter(|e| of_owner(e)).count();
            assert_eq!(cx.unregister_entries_of(real), count);
            cx.host_mut().expected.retain(|_, e| !of_owner(e));
        }
        Op::DropGuard { at } => {
            if at < cx.host().guards.len() {
                let (guard, number) = cx.host_mut().guards.remove(at);
                drop(guard);
                cx.host_mut()
                    .expected
                    .retain(|_, e| e.guard != Some(number));
            }
        }
        Op::ShutDownOwner { owner } => {
            if let Some(real) = cx.host().owners[owner].as_ref().map(Owner::key) {
                cx.shutdown(real).unwrap();
                end_owner(cx, owner);
            }
        }
        Op::DropOwner { owner } => {
            drop(cx.host_mut().owners[owner].take());
            end_owner(cx, owner);
        }
        Op::DestroyWorld { world } => {
            let real = cx.host().worlds[world];
            cx.destroy_world(real);
            cx.host_mut().world_lives[world] = false;
            cx.host_mut().expected.retain(|_, e| e.world != Some(world));
        }
        Op::Run { name } => {
            let before = cx.host().ran.len();
            let outcome = cx.run_line(NAMES[name], Source::Script).outcome;
            let expected = cx.host().expected.get(&folded(name)).cloned();
            match expected {
                _ if name == HELP => assert_eq!(outcome, LineOutcome::Done),
                None => assert_eq!(outcome, LineOutcome::Failed),
                Some(expected) => {
                    assert_eq!(outcome, LineOutcome::Done);
                    let ran = cx.host().ran[before..].to_vec();
                    let number = (!expected.is_variable).then_some(expected.number);
                    assert_eq!(ran, Vec::from_iter(number));
                }
            }
        }
        Op::Tick => {}
        Op::Inside(ops) => {
            let outside = std::mem::replace(&mut cx.host_mut().script, ops);
            let run = cx.run_line("Inside", Source::Script);
            cx.host_mut().script = outside;
            assert_eq!(run.outcome, LineOutcome::Done, "{}", run.text());
        }
    }
    check(cx);
}

fn end_owner(cx: &mut Cx<'_, Lab>, owner: usize) {
    let lab = cx.host_mut();
    lab.owner_lives[owner] = false;
    lab.expected.retain(|_, e| e.owner != Some(owner));
}

sc_console::command! {
    /// Does what the script says.
    Inside [anytime] () |cx: &mut Cx<'_, Lab>, _out| {
        for op in std::mem::take(&mut cx.host_mut().script) {
            apply(cx, op);
        }
        Ok(())
    }
}

/// What is shown is what lives.
fn check(cx: &mut Cx<'_, Lab>) {
    let snapshot = cx.console_snapshot(Source::Script);
    for (name, text) in NAMES.iter().enumerate() {
        if name != HELP {
            let lives = cx.host().expected.contains_key(&folded(name));
            assert_eq!(snapshot.get(text).is_some(), lives, "{text}");
            assert_eq!(
                cx.complete_line(text, text.len(), Source::Script)
                    .candidates
                    .iter()
                    .any(|c| {
                        c.insert.to_lowercase().replace("ß", "ss")
                            == text.to_lowercase().replace("ß", "ss")
                    }),
                lives,
                "{text}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_registry_does_what_the_model_does(ops in prop::collection::vec(op(2), 1..40)) {
        let mut t = TestWorld::new(Lab::default());
        for _ in 0..3 {
            let world = t.cx().create_world(WorldKind::Game).unwrap();
            t.host.worlds.push(world);
            t.host.world_lives.push(true);
            let owner = t.cx().spawn_worldless(Thing);
            t.cx().initialize(&owner, None).unwrap();
            t.host.owners.push(Some(owner));
            t.host.owner_lives.push(true);
        }
        for op in ops {
            if matches!(op, Op::Tick) {
                t.tick(0.1);
            }
            apply(&mut t.cx(), op);
        }
        for owner in std::mem::take(&mut t.host.owners).into_iter().flatten() {
            let _ = owner.shutdown(&mut t.cx());
        }
    }
}
