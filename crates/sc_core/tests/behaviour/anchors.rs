//! Anchors, and owners whose drop is a shutdown.

use sc_core::testing::TestWorld;
use sc_core::{
    Cx, Error, Extension, Owner, ReportKind, TickGroup, TickKey, TickSettings, Tickable,
};

type Log = Vec<&'static str>;

struct Lamp;
impl Tickable<Log> for Lamp {
    fn tick(&mut self, cx: &mut Cx<'_, Log>) {
        cx.host_mut().push("tick");
    }
    fn shutdown(&mut self, cx: &mut Cx<'_, Log>) {
        assert!(cx.world().is_some(), "its world is still there");
        cx.host_mut().push("shutdown");
    }
}

/// Drops an owner in its tick.
struct Dropper(Option<Owner<Lamp>>);
impl Tickable<Log> for Dropper {
    fn tick(&mut self, cx: &mut Cx<'_, Log>) {
        if self.0.take().is_some() {
            cx.host_mut().push("drop");
        }
    }
    fn settings(&self) -> TickSettings {
        TickSettings::default().group(TickGroup::PrePhysics)
    }
}

#[test]
fn a_drop_between_frames_is_a_shutdown_in_the_next_begin() -> Result<(), Error> {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let lamp = t.cx().spawn_in(world, Lamp)?.shutdown_on_drop();
    t.tick(0.1);
    let key = lamp.key();
    drop(lamp);
    assert_eq!(t.cx().get(key).err(), Some(sc_core::TickError::Gone));
    t.tick(0.1);
    assert_eq!(t.host, ["tick", "shutdown"]);
    assert_eq!(t.reports.kinds(), []);
    Ok(())
}

#[test]
fn a_drop_in_a_tick_is_honoured_before_the_next_stage() -> Result<(), Error> {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let lamp = t.cx().spawn_in(world, Lamp)?.shutdown_on_drop();
    let dropper = t.cx().spawn_in(world, Dropper(Some(lamp)))?;
    t.tick(0.1);
    assert_eq!(t.host, ["drop", "shutdown"], "it does not tick in between");
    assert_eq!(t.reports.kinds(), []);
    dropper.shutdown(&mut t.cx())?;
    Ok(())
}

#[test]
fn a_drop_after_the_last_callback_is_honoured_in_end() -> Result<(), Error> {
    #[derive(Default)]
    struct AtEnd(Option<Owner<Lamp>>);
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let lamp = t.cx().spawn_in(world, Lamp)?.shutdown_on_drop();
    let mut cx = t.cx();
    cx.runtime_state::<AtEnd>().0 = Some(lamp);
    cx.install(
        Extension::new("drop").on_runtime_stage(sc_core::Stage::End, |cx| {
            cx.runtime_state::<AtEnd>().0 = None;
        }),
    );
    t.tick(0.1);
    assert_eq!(t.host, ["tick", "shutdown"]);
    assert_eq!(t.reports.kinds(), []);
    Ok(())
}

#[test]
fn the_end_of_the_world_shuts_it_down_once() -> Result<(), Error> {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    let lamp = t.cx().spawn_in(world, Lamp)?.shutdown_on_drop();
    drop(lamp);
    t.cx().destroy_world(world);
    assert_eq!(t.host, ["shutdown"]);
    let other = t.cx().create_world(sc_core::WorldKind::Game)?;
    let lamp = t.cx().spawn_in(other, Lamp)?.shutdown_on_drop();
    t.cx().destroy_world(other);
    drop(lamp);
    t.tick(0.1);
    assert_eq!(t.host, ["shutdown", "shutdown"]);
    let TestWorld {
        mut rt,
        mut host,
        reports,
        ..
    } = t;
    let third = rt.cx(&mut host).create_world(sc_core::WorldKind::Game)?;
    let lamp = rt.cx(&mut host).spawn_in(third, Lamp)?.shutdown_on_drop();
    drop(lamp);
    rt.shutdown(&mut host);
    assert_eq!(host.len(), 3, "the end of the runtime too");
    assert_eq!(reports.kinds(), []);
    Ok(())
}

#[test]
fn an_owner_without_it_is_reported_as_before() -> Result<(), Error> {
    let mut t = TestWorld::new(Log::new());
    let world = t.world;
    drop(t.cx().spawn_in(world, Lamp)?);
    t.tick(0.1);
    assert_eq!(t.host, [""; 0]);
    assert_eq!(t.reports.kinds(), [ReportKind::OwnerDropped]);
    Ok(())
}

#[test]
fn an_anchor_is_a_life_and_nothing_else() -> Result<(), Error> {
    let mut t = TestWorld::new(Log::new());
    let anchor = t.cx().spawn_anchor("door 7")?;
    let kept = t.cx().spawn_anchor("door 8")?;
    t.tick(0.1);
    assert!(t.rt.tick_list().is_empty(), "in no list");
    let life = t.cx().life(&anchor)?;
    assert!(t.cx().is_living(life));
    let mut cx = t.cx();
    cx.install(Extension::new("told").on_lives_ended(|cx, lives| {
        for _ in lives {
            cx.host_mut().push("ended");
        }
    }));
    let key: TickKey<sc_core::Anchor> = anchor.key();
    drop(anchor);
    assert!(!t.cx().is_living(life));
    t.tick(0.1);
    assert_eq!(t.host, ["ended"]);
    assert!(t.cx().get(key).is_err());
    let TestWorld { rt, reports, .. } = t;
    drop(rt);
    drop(kept);
    assert_eq!(reports.kinds(), [], "neither end is an omission");
    Ok(())
}
