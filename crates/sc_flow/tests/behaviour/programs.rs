//! The flow programs that users write, as short as users write them.

use sc_core::testing::TestWorld;
use sc_core::*;
use sc_flow::*;

#[derive(Default)]
struct Game {
    enemies: Vec<usize>,
    wave_over: bool,
    wave: Option<FlowId>,
    boss: Option<&'static str>,
    fade: f32,
    fought: bool,
    fell_back: bool,
}

impl Game {
    fn fallback(&mut self) {
        self.fell_back = true;
    }
}

fn spawn_enemy(cx: &mut Cx<'_, Game>, i: usize) {
    cx.host_mut().enemies.push(i);
}

fn start_fight(cx: &mut Cx<'_, Game>) {
    cx.host_mut().fought = true;
}

/// A level that starts its flow when it is initialized.
struct Level(fn(&mut Cx<'_, Game>) -> Result<(), FlowError>);

impl Tickable<Game> for Level {
    fn initialize(&mut self, cx: &mut Cx<'_, Game>) {
        (self.0)(cx).unwrap();
    }
}

fn play(level: fn(&mut Cx<'_, Game>) -> Result<(), FlowError>) -> (TestWorld<Game>, Owner<Level>) {
    let mut t = TestWorld::new(Game::default());
    let world = t.world;
    let level = t.cx().spawn_in(world, Level(level)).unwrap();
    (t, level)
}

#[rustfmt::skip]
fn wave(cx: &mut Cx<'_, Game>) -> Result<(), FlowError> {
    let wave = ForEach::index(10)
        .delay(secs(0.25))
        .each(|cx, i| { spawn_enemy(cx, i); Step::Continue })
        .completed(|cx, finish| cx.host_mut().wave_over = finish == FlowFinish::Completed)
        .start(cx)?;
    cx.host_mut().wave = Some(wave);
    Ok(())
}

#[test]
fn a_wave_of_enemies_as_a_node_with_callbacks() {
    let (mut t, _level) = play(wave);
    t.ticks(0.25, 9);
    assert_eq!(t.host.enemies, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let wave = t.host.wave.unwrap();
    let progress = t.cx().flow(wave).unwrap().progress;
    assert_eq!(
        progress,
        Progress::Index {
            next: 9,
            of: Some(10)
        }
    );
    assert!(!t.host.wave_over);
    t.tick(0.25);
    assert_eq!(t.host.enemies.len(), 10);
    assert!(t.host.wave_over);
}

#[test]
fn a_wave_that_is_cancelled_is_not_over() {
    let (mut t, _level) = play(wave);
    t.ticks(0.25, 3);
    let wave = t.host.wave.unwrap();
    assert!(t.cx().cancel(wave));
    t.ticks(0.25, 10);
    assert_eq!(t.host.enemies, [0, 1, 2]);
    assert!(!t.host.wave_over);
}

#[rustfmt::skip]
fn boss_intro(cx: &mut Cx<'_, Game>) -> Result<(), FlowError> {
    cx.spawn_flow("boss intro", async |fx| {
        fx.for_each_with_delay(10, secs(0.25), async |i| fx.with(|cx| spawn_enemy(cx, i))).await?;
        match fx.wait_until(|cx, _attempt| cx.host().boss.is_some()).every(secs(0.5)).timeout(secs(10)).await? {
            Wait::Satisfied => fx.with(start_fight)?,
            Wait::TimedOut => fx.with(|cx| cx.host_mut().fallback())?,
        }
        fx.do_for_duration(secs(0.5), |cx, alpha, _delta| cx.host_mut().fade = alpha).ease(Ease::OutCubic).await?;
        Ok(())
    })?;
    Ok(())
}

#[test]
fn a_boss_intro_as_a_story() {
    let (mut t, _level) = play(boss_intro);
    t.ticks(0.25, 10);
    assert_eq!(t.host.enemies.len(), 10);
    t.host.boss = Some("dragon");
    t.tick(0.25);
    assert!(!t.host.fought, "it looks every half second");
    t.tick(0.25);
    assert!(t.host.fought);
    t.tick(0.25);
    // 1 - (1 - 0.5)^3
    assert_eq!(t.host.fade, 0.875);
    t.tick(0.25);
    assert_eq!(t.host.fade, 1.0);
    assert!(!t.host.fell_back);
    assert!(t.cx().flow_list().is_empty());
    assert!(t.reports.take().is_empty());
}

#[test]
fn a_boss_intro_without_a_boss_does_not_wait_for_ever() {
    let (mut t, _level) = play(boss_intro);
    t.ticks(0.25, 10 + 39);
    assert!(!t.host.fell_back);
    t.tick(0.25);
    assert!(t.host.fell_back);
    t.ticks(0.25, 2);
    assert_eq!(t.host.fade, 1.0);
    assert!(!t.host.fought);
}

#[rustfmt::skip]
fn open_door(cx: &mut Cx<'_, Game>) -> Result<(), FlowError> {
    cx.spawn_flow("open door", async |fx| {
        fx.do_for_duration(secs(0.5), |cx, alpha, _delta| cx.host_mut().fade = alpha).await?;
        fx.delay(secs(3)).await?;
        fx.with(|cx| cx.host_mut().fade = 0.0)?;
        Ok(())
    })?;
    Ok(())
}

#[test]
fn a_door_that_opens_and_closes() {
    let (mut t, _level) = play(open_door);
    t.tick(0.25);
    assert_eq!(t.host.fade, 0.5);
    t.ticks(0.25, 12);
    assert_eq!(t.host.fade, 1.0);
    t.tick(0.25);
    assert_eq!(t.host.fade, 0.0, "three seconds after it was open");
}

#[rustfmt::skip]
fn scan(cx: &mut Cx<'_, Game>) -> Result<(), FlowError> {
    ForEach::items(0..1000).items_per_tick(100).each(spawn_enemy).start(cx)?;
    Ok(())
}

#[test]
fn a_thousand_items_without_a_hitch() {
    let (mut t, _level) = play(scan);
    for frame in 1..=10 {
        t.tick(0.016);
        assert_eq!(t.host.enemies.len(), frame * 100);
    }
    assert!(t.cx().flow_list().is_empty());
}
