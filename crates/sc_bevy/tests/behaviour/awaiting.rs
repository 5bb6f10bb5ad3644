//! What async flows await in the `World`.

use crate::common::{app, log, report_texts, reports, say, updates};
use bevy_ecs::prelude::*;
use sc_bevy::{BevyFx, FlowCommands, FlowState};
use sc_core::secs;
use sc_flow::FlowFinish;

#[derive(Message, Clone)]
struct Hit(u32);

#[test]
fn messages_from_now_on_each_once() {
    let mut app = app();
    app.add_message::<Hit>();
    app.world_mut().write_message(Hit(1));
    app.world_mut().commands().flow("hits", async |fx| {
        loop {
            let Hit(points) = fx.message::<Hit>().await?;
            fx.with(|cx| say(cx.host_mut(), points.to_string()))?;
        }
    });
    app.update();
    assert_eq!(log(&mut app), [""; 0], "written before");
    app.world_mut().write_message(Hit(2));
    updates(&mut app, 3);
    assert_eq!(log(&mut app), ["2"]);
    app.world_mut().write_message(Hit(3));
    app.update();
    assert_eq!(log(&mut app), ["3"]);
}

#[test]
fn a_stream_sees_every_message_of_a_frame() {
    let mut app = app();
    app.add_message::<Hit>();
    app.world_mut().write_message(Hit(1));
    app.world_mut().commands().flow("hits", async |fx| {
        let mut hits = fx.messages::<Hit>()?;
        loop {
            let Hit(points) = hits.next().await?;
            fx.with(|cx| say(cx.host_mut(), points.to_string()))?;
            if points == 3 {
                // Busy for a frame: what is written meanwhile is seen all the same.
                fx.next_tick().await?;
            }
            if points == 4 {
                fx.with(|cx| cx.host_mut().write_message(Hit(5)))?;
            }
        }
    });
    app.update();
    assert_eq!(log(&mut app), [""; 0], "written before");
    app.world_mut().write_message(Hit(2));
    app.world_mut().write_message(Hit(3));
    app.update();
    assert_eq!(log(&mut app), ["2", "3"]);
    app.world_mut().write_message(Hit(4));
    app.update();
    assert_eq!(log(&mut app), ["4"], "its answer is of the next frame");
    updates(&mut app, 3);
    assert_eq!(log(&mut app), ["5"]);
}

#[test]
fn a_message_that_comes_with_the_end_of_a_wait_is_not_lost() {
    let mut app = app();
    app.add_message::<Hit>();
    app.world_mut().commands().flow("hits", async |fx| {
        let mut hits = fx.messages::<Hit>()?;
        loop {
            let hit = fx.timeout(secs(0.25), hits.next()).await?;
            if let Some(hit) = hit {
                let Hit(points) = hit?;
                fx.with(|cx| say(cx.host_mut(), points.to_string()))?;
            }
        }
    });
    for points in 1..=6 {
        app.world_mut().write_message(Hit(points));
        app.update();
    }
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["2", "3", "4", "5", "6"]);
}

#[test]
fn messages_that_the_app_does_not_have_are_an_error() {
    let mut app = app();
    let handle = app.world_mut().commands().flow("hits", async |fx| {
        fx.message::<Hit>().await?;
        Ok(())
    });
    app.update();
    assert_eq!(reports(&app), ["FlowFailed"]);
    assert!(matches!(handle.state(), FlowState::Ended(_)));
}

#[test]
fn messages_that_were_gone_before_the_flow_has_read_them_are_reported() {
    let mut app = app();
    app.add_message::<Hit>();
    const LINE: u32 = line!() + 2;
    let slow = app.world_mut().commands().flow("slow", async |fx| {
        let mut hits = fx.messages::<Hit>()?;
        loop {
            let Hit(points) = hits.next().await?;
            fx.with(|cx| say(cx.host_mut(), points.to_string()))?;
            fx.delay(secs(1)).await?;
        }
    });
    app.update();
    for points in 1..=6 {
        app.world_mut().write_message(Hit(points));
        app.update();
    }
    updates(&mut app, 12);
    // The flow slept while 2, 3 and 4 came and went, and then 6.
    assert_eq!(log(&mut app), ["1", "5"]);
    let told = report_texts(&app);
    let lost = |missed| {
        format!(
            "messages of {} (world `app`): {missed} gone before the flow that reads them at {}:{LINE} came to them; to fix: \
         come to a stream once in two updates; let a flow of its own read and keep what a slower one needs",
            std::any::type_name::<Hit>(),
            file!(),
        )
    };
    assert_eq!(told, [lost(3), lost(1)], "once");
    assert_eq!(slow.state(), FlowState::Running);
}

#[test]
fn a_flow_that_comes_every_frame_misses_no_message_however_many_wait() {
    let mut app = app();
    app.add_message::<Hit>();
    app.world_mut().commands().flow("steady", async |fx| {
        let mut hits = fx.messages::<Hit>()?;
        loop {
            let Hit(points) = hits.next().await?;
            fx.with(|cx| say(cx.host_mut(), points.to_string()))?;
            fx.next_tick().await?;
        }
    });
    app.update();
    for points in 1..=5 {
        app.world_mut().write_message(Hit(points));
    }
    updates(&mut app, 2);
    app.world_mut().write_message(Hit(6));
    updates(&mut app, 8);
    assert_eq!(log(&mut app), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(reports(&app).len(), 0);
}

#[test]
fn messages_that_were_removed_from_the_app_end_the_wait() {
    let mut app = app();
    app.add_message::<Hit>();
    let hits = app.world_mut().commands().flow("hits", async |fx| {
        fx.message::<Hit>().await?;
        Ok(())
    });
    app.update();
    app.world_mut().remove_resource::<Messages<Hit>>();
    app.update();
    assert!(matches!(hits.state(), FlowState::Ended(_)));
    let name = std::any::type_name::<Hit>();
    let texts = report_texts(&app);
    assert_eq!(texts.len(), 1);
    let why = format!("the app has no messages of type {name}: add them by `add_message`");
    assert!(texts[0].contains(&why), "{texts:?}");
}

/// How many observers there are.
fn observers(app: &mut bevy_app::App) -> usize {
    let mut observers = app.world_mut().query::<&Observer>();
    observers.iter(app.world()).count()
}

#[test]
fn an_event_whose_observer_was_despawned_ends_the_wait_when_what_was_seen_is_given() {
    let mut app = app();
    let opened = app.world_mut().commands().flow("opened", async |fx| {
        let mut doors = fx.events::<Opened>()?;
        loop {
            let Opened(door) = doors.next().await?;
            fx.with(|cx| say(cx.host_mut(), door.to_string()))?;
        }
    });
    app.update();
    app.world_mut().trigger(Opened(1));
    app.world_mut().trigger(Opened(2));
    let mut observers = app.world_mut().query_filtered::<Entity, With<Observer>>();
    let all: Vec<Entity> = observers.iter(app.world()).collect();
    for observer in all {
        app.world_mut().despawn(observer);
    }
    updates(&mut app, 2);
    assert_eq!(log(&mut app), ["1", "2"]);
    assert!(matches!(opened.state(), FlowState::Ended(_)));
    let name = std::any::type_name::<Opened>();
    let texts = report_texts(&app);
    let why = format!(
        "the observer of events of type {name} was despawned: leave observers that are not yours alone, or await the event anew"
    );
    assert_eq!(texts.len(), 1);
    assert!(texts[0].contains(&why), "{texts:?}");
}

#[test]
fn a_stream_that_is_dropped_where_the_world_is_in_use_takes_its_observer_along() {
    let mut app = app();
    app.world_mut().commands().flow("drops", async |fx| {
        let doors = fx.events::<Opened>()?;
        fx.with(|_| drop(doors))?;
        fx.delay(secs(60)).await
    });
    updates(&mut app, 2);
    assert_eq!(observers(&mut app), 0);
    assert_eq!(reports(&app), [""; 0]);
}

#[derive(Event, Clone)]
struct Opened(u32);

#[test]
fn an_events_observer_ends_with_the_wait() {
    let mut app = app();
    let entities = app.world().entities().count_spawned();
    let handle = app.world_mut().commands().flow("opened", async |fx| {
        let first = fx.timeout(secs(0.5), fx.event::<Opened>()).await?;
        let said = first.map_or("none".to_owned(), |first| match first {
            Ok(Opened(door)) => door.to_string(),
            Err(error) => error.to_string(),
        });
        fx.with(|cx| say(cx.host_mut(), said))?;
        let Opened(door) = fx.event::<Opened>().await?;
        fx.with(|cx| say(cx.host_mut(), door.to_string()))
    });
    updates(&mut app, 4);
    assert_eq!(log(&mut app), ["none"]);
    app.world_mut().trigger(Opened(7));
    app.world_mut().trigger(Opened(8));
    app.update();
    assert_eq!(log(&mut app), ["7"], "the first one");
    assert_eq!(handle.state(), FlowState::Ended(FlowFinish::Completed));
    assert_eq!(app.world().entities().count_spawned(), entities);
}

#[test]
fn a_stream_sees_every_event_and_its_observer_ends_with_it() {
    let mut app = app();
    let entities = app.world().entities().count_spawned();
    app.world_mut().commands().flow("opened", async |fx| {
        let mut opened = fx.events::<Opened>()?;
        fx.next_tick().await?;
        fx.next_tick().await?;
        for _ in 0..4 {
            let Opened(door) = opened.next().await?;
            fx.with(|cx| {
                say(cx.host_mut(), door.to_string());
                cx.host_mut().trigger(Opened(door + 10));
            })?;
        }
        Ok(())
    });
    app.update();
    app.world_mut().trigger(Opened(1));
    app.world_mut().trigger(Opened(2));
    app.update();
    assert_eq!(log(&mut app), [""; 0], "it is busy");
    app.update();
    assert_eq!(log(&mut app), ["1", "2"]);
    app.update();
    assert_eq!(log(&mut app), ["11", "12"]);
    assert_eq!(app.world().entities().count_spawned(), entities);
}

#[derive(Component)]
struct Health(u32);

#[test]
fn a_change_by_a_later_flow_of_the_same_stage_is_seen() {
    let mut app = app();
    let player = app.world_mut().spawn(Health(3)).id();
    let mut commands = app.world_mut().commands();
    let waits = commands.flow("waits", async move |fx| {
        fx.component_changed::<Health>(player).await
    });
    commands.flow("hits", async move |fx| {
        fx.with(|cx| {
            if let Some(mut health) = cx.host_mut().get_mut::<Health>(player) {
                health.0 -= 1;
            }
        })
    });
    updates(&mut app, 2);
    assert_eq!(waits.state(), FlowState::Ended(FlowFinish::Completed));
}

#[test]
fn changes_of_components() {
    let mut app = app();
    let player = app.world_mut().spawn(Health(3)).id();
    app.world_mut().commands().flow("health", async move |fx| {
        loop {
            fx.component_changed::<Health>(player).await?;
            let left = fx.with(|cx| cx.host().get::<Health>(player).map(|h| h.0))?;
            fx.with(|cx| say(cx.host_mut(), format!("{left:?}")))?;
        }
    });
    updates(&mut app, 2);
    assert_eq!(log(&mut app), [""; 0], "added before");
    if let Some(mut health) = app.world_mut().get_mut::<Health>(player) {
        health.0 -= 1;
    }
    updates(&mut app, 3);
    assert_eq!(log(&mut app), ["Some(2)"]);
    app.world_mut().despawn(player);
    app.update();
    assert_eq!(
        reports(&app),
        ["FlowFailed"],
        "nobody takes the error that it is gone"
    );
}
