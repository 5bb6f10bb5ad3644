//! The plugin: added twice, placed, in several apps, through panics, to the end.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{
    Heard, app, bare, flows, flows as flows_of, listen, log, report_texts, reports, say, updates,
};
use bevy_app::{
    App, AppExit, FixedPostUpdate, Last, OnAppExitSystems, PluginGroup, PostUpdate, PreUpdate,
    Update,
};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;
use bevy_ecs::system::RunSystemOnce;
use bevy_time::{Fixed, Time, Virtual};
use sc_bevy::{
    BevyCx, BevyFx, Cooking, CxError, EntityFlowCommands, FixedCooking, FixedStageSystems,
    FlowCommands, FlowHandle, FlowState, Flows, LocalFlows, StageSystems, StillCookingPlugin,
    StillCookingPlugins, WorldCx,
};
use sc_core::{PanicPolicy, Stage, secs};
use sc_flow::{FlowExt, FlowFinish};

#[test]
fn added_twice_the_first_stays() {
    let mut app = app();
    app.world_mut().commands().flow("kept", async |fx| {
        fx.delay(secs(60)).await?;
        Ok(())
    });
    app.update();
    app.add_plugins(StillCookingPlugins);
    app.add_plugins(StillCookingPlugin::default());
    app.update();
    assert_eq!(flows(&mut app), 1);
    let frames = app.world_mut().with_cx(|cx| cx.frame());
    assert_eq!(frames, Ok(3), "one frame an update");
}

#[test]
fn stages_can_be_placed_and_ordered_against() {
    let mut app = bare();
    let plugin = StillCookingPlugin::default()
        .place(Stage::Begin, PreUpdate)
        .place(Stage::Timers, PreUpdate)
        .place(Stage::PrePhysics, PreUpdate)
        .place(Stage::DuringPhysics, PreUpdate)
        .place(Stage::End, PostUpdate);
    app.add_plugins(StillCookingPlugins.set(plugin));
    listen(&mut app);
    app.add_systems(Update, |world: &mut World| say(world, "update"));
    app.add_systems(
        Cooking,
        (
            (|world: &mut World| say(world, "before flows")).before(StageSystems(Stage::Flows)),
            (|world: &mut World| say(world, "after flows")).after(StageSystems(Stage::Flows)),
        ),
    );
    app.world_mut()
        .commands()
        .flow("flow", async |fx| fx.with(|cx| say(cx.host_mut(), "flow")));
    app.update();
    assert_eq!(
        log(&mut app),
        ["update", "before flows", "flow", "after flows"]
    );
    let frames = app.world_mut().with_cx(|cx| cx.frame());
    assert_eq!(frames, Ok(1));
}

#[test]
fn places_that_come_second_are_reported_unless_they_are_those_in_force() {
    let plugin = StillCookingPlugin::default()
        .place(Stage::End, PostUpdate)
        .place_fixed(Stage::End, FixedPostUpdate);
    let mut app = bare();
    app.add_plugins(StillCookingPlugins.set(plugin.clone()));
    listen(&mut app);
    app.add_plugins(StillCookingPlugins);
    app.add_plugins(StillCookingPlugin::default().place(Stage::End, PostUpdate));
    app.add_plugins(plugin);
    app.add_plugins(StillCookingPlugin::default().place(Stage::Begin, Cooking));
    assert_eq!(report_texts(&app), [""; 0]);
    let other = StillCookingPlugin::default()
        .place(Stage::Console, PostUpdate)
        .place(Stage::End, PostUpdate)
        .place_fixed(Stage::End, FixedCooking);
    app.add_plugins(other);
    assert_eq!(
        report_texts(&app),
        [
            "StillCookingPlugin: was added after another one, and places Console in PostUpdate, End of a step in \
             FixedCooking; to fix: place stages in the plugin that is added first; its places are in force"
        ]
    );
    app.update();
    assert_eq!(report_texts(&app), [""; 0]);
}

#[test]
fn systems_that_were_added_before_the_plugin_run_as_those_after_it_do() {
    let mut app = bare();
    let said = |line| move |world: &mut World| say(world, line);
    app.add_systems(Cooking, said("before").after(StageSystems(Stage::Flows)))
        .add_systems(
            FixedCooking,
            said("fixed before").after(FixedStageSystems(Stage::Flows)),
        )
        .add_plugins(StillCookingPlugins)
        .add_systems(Cooking, said("after").before(StageSystems(Stage::Flows)))
        .add_systems(
            FixedCooking,
            said("fixed after").before(FixedStageSystems(Stage::Flows)),
        );
    listen(&mut app);
    updates(&mut app, 1);
    assert_eq!(log(&mut app), ["after", "before"]);
    app.insert_resource(Time::<Fixed>::from_seconds(0.25));
    updates(&mut app, 1);
    assert_eq!(
        log(&mut app),
        ["fixed after", "fixed before", "after", "before"]
    );
}

#[test]
#[should_panic(
    expected = "stage PrePhysics is placed in PreUpdate, which runs before stage Timers"
)]
fn a_placement_that_breaks_the_order_is_an_error_when_the_app_is_built() {
    let mut app = bare();
    app.add_plugins(
        StillCookingPlugins.set(StillCookingPlugin::default().place(Stage::PrePhysics, PreUpdate)),
    );
    app.finish();
}

#[test]
#[should_panic(expected = "which is no schedule of the main loop")]
fn a_placement_outside_the_main_loop_is_an_error_when_the_app_is_built() {
    let mut app = bare();
    app.add_plugins(
        StillCookingPlugins
            .set(StillCookingPlugin::default().place(Stage::Begin, bevy_app::FixedUpdate)),
    );
    app.finish();
}

/// The message of the panic of an update, of an app that was never finished.
fn panic_of_an_update(plugin: StillCookingPlugin) -> String {
    let mut app = bare();
    app.add_plugins(StillCookingPlugins.set(plugin));
    let panic = catch_unwind(AssertUnwindSafe(|| app.update()));
    let message = panic.map_err(|panic| panic.downcast::<String>());
    match message {
        Err(Ok(message)) => *message,
        other => format!("{other:?}"),
    }
}

#[test]
fn a_wrong_placement_is_an_error_in_the_first_update_of_an_app_that_is_never_finished() {
    let plugin = StillCookingPlugin::default();
    assert_eq!(
        panic_of_an_update(plugin.clone().place(Stage::PrePhysics, PreUpdate)),
        "StillCookingPlugin: stage PrePhysics is placed in PreUpdate, which runs before stage Timers: place the \
         stages in the order of `Stage::ALL`"
    );
    assert_eq!(
        panic_of_an_update(plugin.place_fixed(Stage::End, Update)),
        "StillCookingPlugin: stage End is placed in Update, which is no schedule of the fixed main loop: place it \
         in one of `FixedMainScheduleOrder`"
    );
}

#[test]
fn two_apps_do_not_disturb_each_other_also_on_threads() {
    fn run(steps: u32) -> Vec<String> {
        let mut app = app();
        app.world_mut().commands().flow("count", async move |fx| {
            for step in 0..steps {
                fx.with(|cx| say(cx.host_mut(), step.to_string()))?;
                fx.next_tick().await?;
            }
            Ok(())
        });
        updates(&mut app, 10);
        log(&mut app)
    }
    let (mut one, mut two) = (app(), app());
    for (app, text) in [(&mut one, "one"), (&mut two, "two")] {
        app.world_mut().commands().flow("say", async move |fx| {
            fx.next_tick().await?;
            fx.with(|cx| say(cx.host_mut(), text))
        });
    }
    for _ in 0..2 {
        one.update();
        two.update();
    }
    assert_eq!(
        (log(&mut one), log(&mut two)),
        (vec!["one".into()], vec!["two".into()])
    );
    let threads: Vec<_> = (3..6)
        .map(|steps| std::thread::spawn(move || run(steps)))
        .collect();
    for (thread, steps) in threads.into_iter().zip(3..6_usize) {
        assert_eq!(thread.join().map(|log| log.len()).ok(), Some(steps));
    }
}

/// What a flow of an entity and one of the app say in some updates at a speed, and how they end.
fn life(speed: f32, deaths: u32) -> (Vec<String>, Vec<&'static str>) {
    let mut app = app();
    let mut time = app.world_mut().resource_mut::<Time<Virtual>>();
    time.set_relative_speed(speed);
    let door = app.world_mut().spawn_empty().id();
    let mut commands = app.world_mut().commands();
    commands.entity(door).flow("door", async |fx, _| {
        loop {
            fx.delay(secs(0.5)).await?;
            fx.with(|cx| say(cx.host_mut(), "door"))?;
        }
    });
    commands.flow("fails", async |fx| {
        fx.delay(secs(0.75)).await?;
        Err(sc_flow::FlowError::other("over"))
    });
    for update in 0..8 {
        if update == deaths {
            app.world_mut().despawn(door);
        }
        app.update();
    }
    let reports = reports(&app);
    (log(&mut app), reports)
}

#[test]
fn apps_at_different_speeds_on_threads_and_one_after_the_other_live_the_same_lives() {
    let right = [(1.0, 6, 3), (0.5, 8, 2), (0.5, 5, 1), (1.0, 2, 1)];
    let of = |(speed, deaths, doors): (f32, u32, usize)| {
        assert_eq!(
            life(speed, deaths),
            (vec!["door".to_owned(); doors], vec!["FlowFailed"]),
            "{speed} {deaths}"
        );
    };
    right.into_iter().for_each(of);
    let threads = right.map(|case| std::thread::spawn(move || (0..20).for_each(|_| of(case))));
    for thread in threads {
        assert!(thread.join().is_ok());
    }
}

#[test]
fn an_app_that_lives_in_a_flow_of_another_has_its_own_runtime() {
    let mut outer = app();
    outer
        .world_mut()
        .run_system_cached(|mut flows: LocalFlows| {
            let mut inner = app();
            inner.world_mut().commands().flow("inner", async |fx| {
                fx.delay(secs(0.5)).await?;
                fx.with(|cx| say(cx.host_mut(), "inner"))
            });
            flows.start("outer", async move |fx| {
                for _ in 0..3 {
                    fx.next_tick().await?;
                    // A whole update of another app, while this one's runtime is running.
                    inner.update();
                    let said = log(&mut inner).join(", ");
                    let flows = flows_of(&mut inner);
                    fx.with(|cx| {
                        let frame = cx.frame();
                        say(cx.host_mut(), format!("{said}: {flows}, {frame}"));
                    })?;
                }
                Ok(())
            });
        })
        .unwrap_or_else(|error| unreachable!("{error}"));
    updates(&mut outer, 5);
    assert_eq!(log(&mut outer), [": 1, 3", "inner: 0, 4", ": 0, 5"]);
    assert_eq!(reports(&outer), [""; 0]);
}

#[test]
fn app_exit_shuts_the_runtime_down() {
    let mut app = app();
    let handle = app.world_mut().commands().flow("long", async |fx| {
        fx.delay(secs(3600)).await?;
        Ok(())
    });
    app.update();
    app.world_mut().write_message(AppExit::Success);
    app.update();
    assert_eq!(handle.state(), FlowState::Ended(FlowFinish::Aborted));
    let handle = app.world_mut().commands().flow("late", async |_| Ok(()));
    app.update();
    assert_eq!(handle.state(), FlowState::Refused);
    let ask = |flows: Flows| flows.start("later still", async |_| Ok(()));
    let asked = app.world_mut().run_system_cached(ask);
    assert_eq!(
        asked.map(|asked| asked.state()).ok(),
        Some(FlowState::Refused),
        "at once: nobody will come to it"
    );
    assert_eq!(reports(&app), [""; 0], "the log says so");
}

#[test]
fn after_a_panic_the_runtime_is_back_and_whole() {
    let mut app = app();
    app.world_mut()
        .commands()
        .flow("faulty", async |_| panic!("oops"));
    app.world_mut().commands().flow("sound", async |fx| {
        fx.next_tick().await?;
        fx.with(|cx| say(cx.host_mut(), "sound"))
    });
    assert!(catch_unwind(AssertUnwindSafe(|| app.update())).is_err());
    // Bevy has lost its schedules by the panic; what is left is driven by hand.
    assert_eq!(app.world_mut().with_cx(|cx| cx.flow_list().len()), Ok(1));
    let mut cooking = Schedule::default();
    cooking.add_systems(|world: &mut World| {
        let frame = world.with_cx(|cx| cx.frame());
        assert_eq!(frame, Ok(2));
    });
    cooking.run(app.world_mut());
}

#[test]
fn isolated_panics_are_reports() {
    let mut app = app();
    let set = app
        .world_mut()
        .with_runtime(|runtime| runtime.set_panic_policy(PanicPolicy::Isolate));
    assert_eq!(set, Ok(()));
    app.world_mut()
        .commands()
        .flow("faulty", async |_| panic!("oops"));
    app.world_mut()
        .commands()
        .with_cx(|_| panic!("in a request"));
    let direct = app.world_mut().with_cx(|_| panic!("in a call"));
    let direct: Result<(), CxError> = direct;
    assert_eq!(direct, Err(CxError::Panicked));
    app.update();
    assert_eq!(reports(&app), ["Panicked"; 3]);
}

#[derive(Resource, Default)]
struct Started(Option<FlowHandle>);

/// Runs inside a flow, while the runtime is out of the `World`.
fn inside(flows: Flows, mut commands: Commands, mut started: ResMut<Started>) {
    let by_param = flows.start("by param", async |fx| {
        fx.with(|cx| say(cx.host_mut(), "by param"))
    });
    commands.flow("by commands", async |fx| {
        fx.with(|cx| say(cx.host_mut(), "by commands"))
    });
    assert_eq!(by_param.state(), FlowState::Pending);
    started.0 = Some(by_param);
}

#[test]
fn systems_that_run_inside_flows_start_cancel_and_query() {
    let mut app = app();
    app.init_resource::<Started>();
    let victim = app.world_mut().commands().flow("victim", async |fx| {
        fx.delay(secs(60)).await?;
        Ok(())
    });
    let target = victim.clone();
    app.world_mut().commands().flow("story", async move |fx| {
        fx.next_tick().await?;
        fx.run_system(inside, ())?;
        let cancel = move |flows: Flows| {
            assert!(matches!(target.state(), FlowState::Running));
            flows.cancel(&target);
        };
        fx.run_system(cancel, ())?;
        // The whole `World` does not help: the `cx` at hand is the way.
        let inner = fx.with(|cx| cx.host_mut().with_cx(|_| ()))?;
        assert_eq!(inner, Err(CxError::Running));
        fx.with(|cx| say(cx.host_mut(), "story"))
    });
    updates(&mut app, 2);
    assert_eq!(
        log(&mut app),
        ["story"],
        "what it started has its first turn in the next frame"
    );
    assert_eq!(
        victim.state(),
        FlowState::Ended(FlowFinish::Cancelled),
        "by the next stage"
    );
    app.update();
    let mut said = log(&mut app);
    said.sort();
    assert_eq!(said, ["by commands", "by param"]);
    let by_param = app.world().resource::<Started>().0.as_ref();
    assert_eq!(
        by_param.map(FlowHandle::state),
        Some(FlowState::Ended(FlowFinish::Completed))
    );
}

#[test]
fn a_flow_cancelled_before_its_start_never_starts() {
    let mut app = app();
    let mut commands = app.world_mut().commands();
    let handle = commands.flow("never", async |fx| fx.with(|cx| say(cx.host_mut(), "ran")));
    handle_cancelled_first(&mut app, &handle);
    app.update();
    assert_eq!(log(&mut app), [""; 0]);
    assert_eq!(handle.state(), FlowState::Ended(FlowFinish::Cancelled));
    assert_eq!(reports(&app), [""; 0]);
}

/// The commands of the `World` are not applied yet: this goes first.
fn handle_cancelled_first(app: &mut App, handle: &FlowHandle) {
    let mut queue = bevy_ecs::world::CommandQueue::default();
    Commands::new(&mut queue, app.world()).cancel_flow(handle);
    queue.apply(app.world_mut());
}

#[test]
fn bodies_that_are_not_send_go_by_local_flows() {
    let mut app = app();
    app.add_systems(Update, |mut flows: LocalFlows, mut once: Local<bool>| {
        if !std::mem::replace(&mut *once, true) {
            let text = std::rc::Rc::new("local");
            flows.start("local", async move |fx| {
                fx.with(|cx| say(cx.host_mut(), *text))
            });
        }
    });
    app.update();
    assert_eq!(log(&mut app), ["local"]);
}

#[test]
fn flows_reach_the_world_and_its_commands_are_applied() {
    #[derive(Component)]
    struct Spawned;
    let mut app = app();
    app.world_mut().commands().flow("spawner", async |fx| {
        fx.with(|cx| cx.host_mut().spawn(Spawned).id())?;
        fx.with(|cx| {
            cx.host_mut().commands().spawn(Spawned);
        })?;
        fx.run_system(
            |mut commands: Commands| {
                commands.spawn(Spawned);
            },
            (),
        )?;
        Ok(())
    });
    app.update();
    let mut spawned = app.world_mut().query::<&Spawned>();
    assert_eq!(spawned.iter(app.world()).count(), 3);
    let app_world = app.world_mut().with_cx(|cx| (cx.world(), cx.app_world()));
    assert!(app_world.is_ok_and(|(here, app)| here.is_some() && here == app));
}

#[test]
fn the_list_of_flows_names_who_asked_for_them() {
    let mut app = app();
    app.add_systems(
        Update,
        |mut commands: Commands, flows: Flows, mut local: LocalFlows, mut asked: Local<bool>| {
            if std::mem::replace(&mut *asked, true) {
                return;
            }
            let entity = commands.spawn_empty().id();
            commands.flow("1", async |fx| fx.delay(secs(9)).await);
            let mut entity_commands = commands.entity(entity);
            entity_commands.flow("2", async |fx, _| fx.delay(secs(9)).await);
            flows.start("3", async |fx| fx.delay(secs(9)).await);
            flows.start_for(entity, "4", async |fx, _| fx.delay(secs(9)).await);
            local.start("5", async |fx| fx.delay(secs(9)).await);
            local.start_for(entity, "6", async |fx, _| fx.delay(secs(9)).await);
        },
    );
    // The line of flow 1.
    const FIRST: u32 = line!() - 10;
    app.update();
    let listed = app.world_mut().with_cx(|cx| cx.flow_list());
    let listed = listed.unwrap_or_default();
    let mut started: Vec<_> = listed
        .iter()
        .map(|flow| {
            (
                flow.name.as_str(),
                flow.started_at.line() - FIRST,
                flow.started_at.file(),
            )
        })
        .collect();
    started.sort_unstable();
    let here = file!();
    let expected = [
        ("1", 0, here),
        ("2", 2, here),
        ("3", 3, here),
        ("4", 4, here),
        ("5", 5, here),
        ("6", 6, here),
    ];
    assert_eq!(started, expected);
}

#[test]
fn registered_systems_run_in_flows_and_keep_their_state() {
    let mut app = app();
    let id = app.world_mut().register_system(
        |mut calls: Local<u32>, mut log: ResMut<crate::common::Log>| {
            *calls += 1;
            log.0.push(calls.to_string());
        },
    );
    app.world_mut().commands().flow("runs", async move |fx| {
        for _ in 0..3 {
            let ran = fx.with(|cx| cx.host_mut().run_system(id).is_ok())?;
            assert!(ran);
            fx.next_tick().await?;
        }
        Ok(())
    });
    updates(&mut app, 4);
    assert_eq!(log(&mut app), ["1", "2", "3"]);
}

#[test]
fn reports_are_events_of_bevys_log() {
    let heard = Heard::default();
    tracing::subscriber::with_default(heard.clone(), || {
        let mut app = bare();
        app.add_plugins(StillCookingPlugins);
        app.world_mut().commands().flow("cake", async |_| {
            Err(sc_flow::FlowError::other("the cake is burnt"))
        });
        app.update();
    });
    let heard = heard.texts();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].contains("the cake is burnt"), "{heard:?}");
}

#[test]
fn a_panic_in_one_request_leaves_those_after_it_waiting() {
    let mut app = app();
    let handles = app
        .world_mut()
        .run_system_once(|flows: Flows, mut local: LocalFlows| {
            flows.with_cx(|_| panic!("oops"));
            let later = flows.start("later", async |fx| fx.delay(secs(60)).await);
            local.with_cx(|_| panic!("oops again"));
            let last = local.start("last", async |fx| fx.delay(secs(60)).await);
            [later, last]
        });
    let Ok([later, last]) = handles else {
        unreachable!("the system has run");
    };
    // Bevy loses its schedules by a panic: the frames are driven by hand.
    let mut cooking = app.world_mut().resource_mut::<Schedules>().remove(Cooking);
    let mut run = |app: &mut App| {
        let run = AssertUnwindSafe(|| {
            if let Some(cooking) = cooking.as_mut() {
                cooking.set_executor(SingleThreadedExecutor::new());
                cooking.run(app.world_mut());
            }
        });
        catch_unwind(run).is_err()
    };
    assert!(run(&mut app));
    assert!(!matches!(later.state(), FlowState::Running));
    assert!(run(&mut app), "the local one");
    assert!(matches!(later.state(), FlowState::Running));
    assert!(!run(&mut app));
    assert!(matches!(last.state(), FlowState::Running));
}

#[test]
fn what_waits_at_the_end_of_the_app_is_refused() {
    let mut app = app();
    app.add_systems(
        Last,
        (|flows: Flows, mut exit: MessageWriter<AppExit>, mut commands: Commands| {
            let handle = flows.start("too late", async |_| Ok(()));
            commands.insert_resource(Asked(handle));
            exit.write(AppExit::Success);
        })
        .before(OnAppExitSystems),
    );
    app.update();
    let state = app.world().resource::<Asked>().0.state();
    assert_eq!(state, FlowState::Refused);
    assert_eq!(reports(&app).len(), 1);
}

#[derive(Resource)]
struct Asked(FlowHandle);

#[test]
fn commands_that_are_never_applied_leave_no_flow_pending() {
    let app = app();
    let mut queue = bevy_ecs::world::CommandQueue::default();
    let flow = Commands::new(&mut queue, app.world()).flow("never", async |_| Ok(()));
    assert_eq!(flow.state(), FlowState::Pending);
    drop(queue);
    assert_eq!(flow.state(), FlowState::Refused);
}

/// What a flow and a command run, with a body that cannot be sent.
fn ask_locally(mut flows: LocalFlows, mut asked: Local<u32>) {
    *asked += 1;
    let text = std::rc::Rc::new(format!("local {}", *asked));
    let flow = flows.start("local", async move |fx| {
        fx.with(|cx| say(cx.host_mut(), &**text))
    });
    assert_eq!(flow.state(), FlowState::Pending);
}

#[test]
fn local_flows_in_a_system_that_a_flow_runs() {
    let mut app = app();
    app.world_mut().commands().flow("outer", async |fx| {
        fx.run_system(ask_locally, ())?;
        fx.next_tick().await?;
        fx.with(|cx| {
            let registered = cx.host_mut().register_system(ask_locally);
            for _ in 0..2 {
                assert!(cx.host_mut().run_system(registered).is_ok());
            }
        })
    });
    app.update();
    assert_eq!(
        log(&mut app),
        [""; 0],
        "its first turn is in the next frame"
    );
    app.update();
    assert_eq!(log(&mut app), ["local 1"]);
    app.update();
    assert_eq!(log(&mut app), ["local 1", "local 2"]);
}

#[cfg(feature = "commands")]
#[test]
fn local_flows_in_a_system_that_a_command_runs() {
    use crate::common::with;
    use sc_bevy::{AppConsole, console_command};
    use sc_console::{ConsoleExt, LineOutcome, Source};
    let mut app = app();
    app.add_console_command(console_command! {
        /// Asks.
        Test.Ask () => ask_locally
    });
    // At once, from outside; in the stage; and by a flow.
    let line = with(&mut app, |cx| cx.run_line("Test.Ask", Source::Local));
    assert_eq!(line.outcome, LineOutcome::Done);
    with(&mut app, |cx| {
        cx.queue_line("Test.Ask; Test.Ask", Source::Local, |_, _| ());
    });
    app.update();
    assert_eq!(log(&mut app), ["local 1"]);
    app.world_mut().commands().flow("asks", async |fx| {
        fx.with(|cx| drop(cx.run_line("Test.Ask", Source::Local)))
    });
    app.update();
    assert_eq!(log(&mut app), ["local 2", "local 3"]);
    app.update();
    assert_eq!(log(&mut app), ["local 4"]);
    assert_eq!(reports(&app), [""; 0]);
}
