//! Two runtimes do not meet: not by names, not by values, not by ids.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(feature = "commands")]

use sc_console::{
    ConsoleExt, LineOutcome, Source, VariableDef, VariableError, VariableExt, dynamic_command,
};
use sc_core::Cx;
use sc_core::testing::TestWorld;

#[test]
fn ids_of_one_runtime_are_inert_in_another() {
    let (mut a, mut b) = (TestWorld::new(()), TestWorld::new(()));
    let nothing = |name: &'static str| {
        dynamic_command! {
            {name} () |_cx: &mut Cx<'_, ()>, _out| { Ok(()) }
        }
        .runtime()
    };
    let of_a = a.cx().register_command(nothing("Open")).unwrap();
    let of_b = b.cx().register_command(nothing("Other")).unwrap();
    assert_ne!(of_a, of_b);
    assert!(!b.cx().unregister_command(of_a));
    assert_eq!(
        b.cx().run_line("other", Source::Local).outcome,
        LineOutcome::Done
    );
    assert!(a.cx().unregister_command(of_a));

    let variable = |value: u32| VariableDef::new("My.Number", value).runtime();
    let of_a = a.cx().register_variable(variable(1)).unwrap();
    let of_b = b.cx().register_variable(variable(2)).unwrap();
    assert_eq!(b.cx().get_var(of_a), Err(VariableError::Gone));
    assert_eq!(b.cx().set_var(of_a, 7), Err(VariableError::Gone));
    assert!(b.cx().on_var_change(of_a, |_, _| {}).is_err());
    assert_eq!((a.cx().get_var(of_a), b.cx().get_var(of_b)), (Ok(1), Ok(2)));
}
