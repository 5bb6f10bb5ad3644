//! An app on a manual clock, with a log and the reports.

#![allow(dead_code)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use sc_bevy::{FlowCommands, FlowHandle, StillCookingPlugins, WorldCx};
use sc_core::{Cx, ReportKind};
use sc_flow::{FlowCx, FlowError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

/// What happened, in order.
#[derive(Resource, Default)]
pub(crate) struct Log(pub(crate) Vec<String>);

/// The reports of the runtime.
#[derive(Default)]
pub(crate) struct Reports(std::rc::Rc<std::cell::RefCell<Vec<sc_core::Report>>>);

impl Reports {
    pub(crate) fn kept(&self) -> std::rc::Rc<std::cell::RefCell<Vec<sc_core::Report>>> {
        std::rc::Rc::clone(&self.0)
    }
}

/// An app whose updates take a quarter of a second.
pub(crate) fn app() -> App {
    let mut app = bare();
    app.add_plugins(StillCookingPlugins);
    listen(&mut app);
    // Bevy's clocks stand in the first update.
    app.update();
    app
}

/// The same without the plugin.
pub(crate) fn bare() -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin)
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
            250,
        )))
        .init_resource::<Log>();
    app
}

/// Keeps the reports.
pub(crate) fn listen(app: &mut App) {
    let reports = Reports::default();
    let sink = std::rc::Rc::clone(&reports.0);
    app.insert_non_send(reports);
    let set = app.world_mut().with_runtime(|runtime| {
        runtime.set_report_handler(move |report| sink.borrow_mut().push(report.clone()));
    });
    assert!(set.is_ok());
}

/// The kinds of the reports so far, leaving none.
pub(crate) fn reports(app: &App) -> Vec<&'static str> {
    let reports = &app.world().non_send::<Reports>().0;
    let kinds = reports.take();
    kinds
        .iter()
        .map(|report| ReportKind::name(report.kind))
        .collect()
}

/// The texts of the reports so far, leaving none.
pub(crate) fn report_texts(app: &App) -> Vec<String> {
    let made = app.world().non_send::<Reports>().kept().take();
    made.iter().map(ToString::to_string).collect()
}

pub(crate) fn updates(app: &mut App, n: u32) {
    for _ in 0..n {
        app.update();
    }
}

/// What was logged so far, leaving nothing.
pub(crate) fn log(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}

/// Logs a line.
pub(crate) fn say(world: &mut World, line: impl Into<String>) {
    world.resource_mut::<Log>().0.push(line.into());
}

/// How many flows live.
pub(crate) fn flows(app: &mut App) -> usize {
    use sc_flow::FlowExt;
    let count = app.world_mut().with_cx(|cx| cx.flow_list().len());
    count.unwrap_or(usize::MAX)
}

/// Starts a flow by commands, applied by the next update.
pub(crate) fn flow<F>(app: &mut App, name: &'static str, body: F) -> FlowHandle
where
    F: AsyncFnOnce(FlowCx<World>) -> Result<(), FlowError> + Send + 'static,
{
    app.world_mut().commands().flow(name, body)
}

/// Does something with the runtime, which must be there.
pub(crate) fn with<R>(app: &mut App, f: impl FnOnce(&mut Cx<'_, World>) -> R) -> R {
    match app.world_mut().with_cx(f) {
        Ok(value) => value,
        Err(error) => unreachable!("{error}"),
    }
}

/// Says its name when it is dropped by the runtime.
pub(crate) struct Says<'f>(pub(crate) &'f FlowCx<World>, pub(crate) &'static str);

impl Drop for Says<'_> {
    fn drop(&mut self) {
        let said = self.0.with(|cx| say(cx.host_mut(), self.1));
        assert!(said.is_ok());
    }
}

/// The errors of the log.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

struct Text(String);
impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl Heard {
    pub(crate) fn texts(&self) -> Vec<String> {
        self.0.lock().map(|heard| heard.clone()).unwrap_or_default()
    }
}

impl Subscriber for Heard {
    fn enabled(&self, of: &Metadata<'_>) -> bool {
        of.target() == "stillcooking" && *of.level() == tracing::Level::ERROR
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        if let Ok(mut heard) = self.0.lock() {
            heard.push(text.0);
        }
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
