//! A variable whose declaration the console refuses. Alone in its program: each app there reports it.

#![forbid(unsafe_code)]
#![cfg(feature = "commands")]

#[path = "behaviour/common.rs"]
mod common;

use common::{bare, listen, reports};
use sc_bevy::{AppConsole, StillCookingPlugins, Var, console_variable};

console_variable! {
    /// Its default is none of its values.
    pub Bad = Test.Bad: f64 = 50.0, range 0.0..=20.0
}

#[test]
fn a_variable_that_is_refused_is_reported_and_the_app_goes_on() {
    let mut app = bare();
    app.add_plugins(StillCookingPlugins);
    listen(&mut app);
    app.add_console_variable::<Bad>();
    assert!(!app.world().contains_resource::<Var<Bad>>());
    app.update();
    assert_eq!(reports(&app), ["BadDeclaration", "VariableRefused"]);
}
