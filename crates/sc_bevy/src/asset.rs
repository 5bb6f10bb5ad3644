//! Awaiting assets.

use bevy_asset::{
    Asset, AssetServer, Assets, Handle, LoadState, RecursiveDependencyLoadState, WaitForAssetError,
};
use bevy_ecs::world::World;
use sc_core::Clock;
use sc_flow::{FlowCx, FlowError};

/// Assets, for async flows.
#[allow(async_fn_in_trait)] // Flows live on one thread: no future of theirs is `Send`.
pub trait AssetFx {
    /// Waits until an asset is loaded, with everything that it depends on. Looked at once a frame
    /// of the flow's world, in the stage `Flows`, also in a pause; of a world that steps, in each step. One that was added to [`Assets`] by hand is loaded.
    ///
    /// ```
    /// # use bevy_asset::{Asset, AssetServer, Handle};
    /// # use bevy_ecs::prelude::*;
    /// # use sc_bevy::*;
    /// # #[derive(Component)] struct Music<A: Asset>(Handle<A>);
    /// fn play<A: Asset>(server: Res<AssetServer>, mut commands: Commands) {
    ///     let theme: Handle<A> = server.load("theme.ogg");
    ///     commands.flow("play the theme", async move |fx| {
    ///         if let Err(error) = fx.asset(&theme).await {
    ///             return fx.with(|cx| cx.host_mut().insert_resource(Silence(error.to_string())));
    ///         }
    ///         fx.with(|cx| { cx.host_mut().spawn(Music(theme)); })
    ///     });
    /// }
    /// # #[derive(Resource)] struct Silence(String);
    /// # bevy_ecs::system::assert_is_system(play::<()>);
    /// ```
    ///
    /// # Errors
    /// [`FlowError::Other`] with a [`WaitForAssetError`] when it, or what it depends on, has failed to load
    /// or is not being loaded; with a text when the app has no asset server.
    async fn asset<A: Asset>(&self, asset: &Handle<A>) -> Result<(), FlowError>;
}

impl AssetFx for FlowCx<World> {
    async fn asset<A: Asset>(&self, asset: &Handle<A>) -> Result<(), FlowError> {
        let mut outcome = Ok(());
        self.wait_until(|cx, _| match state(cx.host(), asset) {
            None => false,
            Some(over) => {
                outcome = over;
                true
            }
        })
        .check_immediately()
        .on(Clock::Real)
        .await?;
        outcome
    }
}

/// What has become of a load; `None` while it is on its way.
fn state<A: Asset>(world: &World, asset: &Handle<A>) -> Option<Result<(), FlowError>> {
    let Some(server) = world.get_resource::<AssetServer>() else {
        let why = "the app has no asset server: add `AssetPlugin`";
        return Some(Err(FlowError::other(why)));
    };
    let failed = |error| Some(Err(FlowError::other(error)));
    match server.get_load_states(asset) {
        Some((LoadState::Failed(error), ..)) => failed(WaitForAssetError::Failed(error)),
        Some((LoadState::Loaded, _, RecursiveDependencyLoadState::Failed(error))) => {
            failed(WaitForAssetError::DependencyFailed(error))
        }
        Some((LoadState::Loaded, _, RecursiveDependencyLoadState::Loaded)) => Some(Ok(())),
        Some((LoadState::Loaded | LoadState::Loading, ..)) => None,
        Some((LoadState::NotLoaded, ..)) | None => {
            let assets = world.get_resource::<Assets<A>>();
            match assets.is_some_and(|assets| assets.contains(asset)) {
                true => Some(Ok(())),
                false => failed(WaitForAssetError::NotLoaded),
            }
        }
    }
}
