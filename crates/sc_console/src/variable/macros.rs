//! The macro that declares variables. Variables stay in every build.

/// Declares a variable and its typed key. Each runtime has its own value of it.
///
/// ```
/// use sc_console::{SetBy, VariableExt, variable};
/// use sc_core::Runtime;
///
/// variable! {
///     /// Seconds between two saves.
///     pub AUTOSAVE = MyGame.AutosaveSeconds: f64 = 60.0, range 1.0..=3600.0, special 0.0 => "never", archive
/// }
///
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let mut cx = rt.cx(&mut host);
/// assert_eq!(cx.var(AUTOSAVE), 60.0);
/// cx.set_var(AUTOSAVE, 30.0)?;
/// assert_eq!(cx.var(AUTOSAVE), 30.0);
/// assert!(cx.set_var_text("mygame.autosaveseconds", "-5", SetBy::Console).is_err());
/// # Ok::<(), sc_console::VariableError>(())
/// ```
///
/// After the default, in any order: `range 0.0..=1.0`, `special 0.0 => "never"` (a value with a
/// meaning of its own, allowed in any range), `archive`, `cheat`, `hidden`, `read_only`,
/// `server_only`, `secret`, and two for what is another part's setting: `changed function`, a
/// `fn(&mut dyn AnyCx, &T)` that is called after each change in whatever runtime, and `current function`, a
/// `fn(&mut dyn AnyCx) -> T` that says what it is now (see [`VariableDef::current`](crate::VariableDef::current)):
///
/// ```
/// use sc_console::{ConsoleExt, Source, VariableExt, variable};
/// use sc_core::{AnyCx, Runtime};
///
/// #[derive(Default)]
/// struct Mixer { volume: f32 }
///
/// variable! {
///     /// How loud it is.
///     VOLUME = MyGame.MixerVolume: f32 = 0.0, range 0.0..=1.0, changed turn, current volume
/// }
/// fn turn(cx: &mut dyn AnyCx, volume: &f32) { cx.runtime_state::<Mixer>().volume = *volume; }
/// fn volume(cx: &mut dyn AnyCx) -> f32 { cx.runtime_state::<Mixer>().volume }
///
/// let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// let mut cx = rt.cx(&mut host);
/// cx.run_line("MyGame.MixerVolume 0.25", Source::Local);
/// assert_eq!(cx.runtime_state::<Mixer>().volume, 0.25);
/// cx.runtime_state::<Mixer>().volume = 0.5;
/// assert_eq!(cx.get_var(VOLUME), Ok(0.5));
/// ```
#[macro_export]
macro_rules! variable {
    ($(#[doc = $doc:literal])* $vis:vis $KEY:ident = $head:ident $(. $tail:ident)* : $type:ty
        = $default:expr $(, $($option:tt)*)?
    ) => {
        $(#[doc = $doc])*
        $vis const $KEY: $crate::Variable<$type> = {
            static DECLARED: $crate::StaticVariable = $crate::StaticVariable::new(
                ::core::concat!(::core::stringify!($head) $(, ".", ::core::stringify!($tail))*),
                (::core::file!(), ::core::line!(), ::core::module_path!()),
                || {
                    let definition = $crate::VariableDef::<$type>::new("", $default).docs(&[$($doc),*]);
                    $crate::__variable_options!(definition, $($($option)*)?).erase()
                },
            );
            $crate::__private::inventory::submit! { $crate::__private::VariableEntry(&DECLARED) }
            $crate::Variable::new(&DECLARED, || $default)
        };
    };
}

/// The options of a variable, one by one.
#[doc(hidden)]
#[macro_export]
macro_rules! __variable_options {
    ($definition:expr, $(,)?) => { $definition };
    ($definition:expr, range $range:expr $(, $($rest:tt)*)?) => {
        $crate::__variable_options!($definition.range($range), $($($rest)*)?)
    };
    ($definition:expr, special $value:expr => $meaning:literal $(, $($rest:tt)*)?) => {
        $crate::__variable_options!($definition.special($value, $meaning), $($($rest)*)?)
    };
    ($definition:expr, changed $function:expr $(, $($rest:tt)*)?) => {
        $crate::__variable_options!($definition.changed($function), $($($rest)*)?)
    };
    ($definition:expr, current $function:expr $(, $($rest:tt)*)?) => {
        $crate::__variable_options!($definition.current($function), $($($rest)*)?)
    };
    ($definition:expr, $flag:ident $(, $($rest:tt)*)?) => {
        $crate::__variable_options!($definition.$flag(), $($($rest)*)?)
    };
}
