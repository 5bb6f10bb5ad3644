//! Awaiting assets, from a source in memory.

use std::path::Path;

use crate::common::{bare, listen, log, say};
use bevy_app::{App, TaskPoolPlugin};
use bevy_asset::io::memory::{Dir, MemoryAssetReader};
use bevy_asset::io::{AssetSourceBuilder, AssetSourceId, Reader};
use bevy_asset::{
    Asset, AssetApp, AssetLoader, AssetPlugin, AssetServer, Assets, Handle, LoadContext,
    WaitForAssetError,
};
use bevy_ecs::prelude::*;
use bevy_reflect::TypePath;
use bevy_time::{Time, Virtual};
use sc_bevy::{AssetFx, FlowCommands, StillCookingPlugins};
use sc_flow::FlowError;

/// A file of lines: `> name` is a dependency, `!` cannot be loaded.
#[derive(Asset, TypePath, Default)]
struct Tale {
    #[dependency]
    parts: Vec<Handle<Tale>>,
}

#[derive(Default, TypePath)]
struct TaleLoader;

impl AssetLoader for TaleLoader {
    type Asset = Tale;
    type Settings = ();
    type Error = std::io::Error;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        _: &(),
        context: &mut LoadContext<'_>,
    ) -> Result<Tale, std::io::Error> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.contains('!') {
            return Err(std::io::Error::other("bad tale"));
        }
        let parts = text.lines().filter_map(|line| line.strip_prefix("> "));
        let parts = parts.map(|part| context.load(part.to_owned())).collect();
        Ok(Tale { parts })
    }

    fn extensions(&self) -> &[&str] {
        &["tale"]
    }
}

/// An app with these files.
fn library(files: &[(&str, &str)]) -> App {
    let root = Dir::default();
    for (name, text) in files {
        root.insert_asset_text(Path::new(name), text);
    }
    let mut app = bare();
    let reader = move || Box::new(MemoryAssetReader { root: root.clone() });
    app.register_asset_source(
        AssetSourceId::Default,
        AssetSourceBuilder::new(move || reader()),
    );
    app.add_plugins((
        TaskPoolPlugin::default(),
        AssetPlugin::default(),
        StillCookingPlugins,
    ));
    app.init_asset::<Tale>().init_asset_loader::<TaleLoader>();
    listen(&mut app);
    app.update();
    app
}

fn load(app: &App, name: &str) -> Handle<Tale> {
    app.world().resource::<AssetServer>().load(name.to_owned())
}

/// Logs how the wait for an asset ends.
fn read(app: &mut App, tale: Handle<Tale>) {
    app.world_mut().commands().flow("read", async move |fx| {
        let line = match fx.asset(&tale).await {
            Ok(()) => {
                let parts = fx.with(|cx| {
                    let tales = cx.host().get_resource::<Assets<Tale>>();
                    tales.and_then(|tales| Some(tales.get(&tale)?.parts.len()))
                })?;
                format!("loaded with {parts:?} parts")
            }
            Err(FlowError::Other(error)) => match error.downcast_ref::<WaitForAssetError>() {
                Some(WaitForAssetError::Failed(why)) => format!("failed: {why}"),
                Some(WaitForAssetError::DependencyFailed(_)) => "a part failed".to_owned(),
                Some(WaitForAssetError::NotLoaded) => "nobody loads it".to_owned(),
                None => error.to_string(),
            },
            Err(error) => return Err(error),
        };
        fx.with(|cx| say(cx.host_mut(), line))
    });
}

/// Runs until something is logged: the loads are done by threads of Bevy's.
fn until_told(app: &mut App) -> Vec<String> {
    for _ in 0..100_000 {
        app.update();
        let told = log(app);
        if !told.is_empty() {
            return told;
        }
        std::thread::yield_now();
    }
    Vec::new()
}

#[test]
fn an_asset_is_awaited_with_all_that_it_depends_on() {
    let files = [
        ("a.tale", "> b.tale\n> c.tale"),
        ("b.tale", "> c.tale"),
        ("c.tale", ""),
    ];
    let mut app = library(&files);
    let tale = load(&app, "a.tale");
    read(&mut app, tale.clone());
    assert_eq!(until_told(&mut app), ["loaded with Some(2) parts"]);
    read(&mut app, tale);
    app.update();
    assert_eq!(
        log(&mut app),
        ["loaded with Some(2) parts"],
        "at once by now"
    );
}

#[test]
fn an_asset_that_fails_or_whose_part_does_is_a_typed_error() {
    let files = [("bad.tale", "!"), ("hopeful.tale", "> bad.tale")];
    let mut app = library(&files);
    let bad = load(&app, "bad.tale");
    read(&mut app, bad);
    let told = until_told(&mut app);
    assert!(
        told[0].starts_with("failed: ") && told[0].contains("bad tale"),
        "{told:?}"
    );
    let hopeful = load(&app, "hopeful.tale");
    read(&mut app, hopeful);
    assert_eq!(until_told(&mut app), ["a part failed"]);
    let missing = load(&app, "missing.tale");
    read(&mut app, missing);
    let told = until_told(&mut app);
    assert!(told[0].contains("missing.tale"), "{told:?}");
}

#[test]
fn an_asset_made_by_hand_is_there_and_one_that_nobody_loads_is_an_error() {
    let mut app = library(&[]);
    let mut tales = app.world_mut().resource_mut::<Assets<Tale>>();
    let (made, reserved) = (tales.add(Tale::default()), tales.reserve_handle());
    read(&mut app, made);
    read(&mut app, reserved);
    app.update();
    assert_eq!(
        log(&mut app),
        ["loaded with Some(0) parts", "nobody loads it"]
    );
}

#[test]
fn an_asset_is_awaited_through_a_pause() {
    let mut app = library(&[("a.tale", "")]);
    app.world_mut()
        .commands()
        .flow("pause and read", async |fx| {
            let tale = fx.with(|cx| {
                cx.host_mut().resource_mut::<Time<Virtual>>().pause();
                let server = cx.host().resource::<AssetServer>();
                server.load::<Tale>("a.tale")
            })?;
            fx.asset(&tale).await?;
            fx.with(|cx| say(cx.host_mut(), "loaded"))
        });
    assert_eq!(until_told(&mut app), ["loaded"]);
    assert!(app.world().resource::<Time<Virtual>>().was_paused());
}

#[test]
fn without_an_asset_server_the_error_says_what_is_missing() {
    let mut app = crate::common::app();
    read(&mut app, Handle::default());
    app.update();
    assert_eq!(
        log(&mut app),
        ["the app has no asset server: add `AssetPlugin`"]
    );
}
