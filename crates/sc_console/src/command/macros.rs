//! The macros that declare commands. Each is written twice: a `cfg` in the body of a macro is asked
//! in the caller's crate, not in this one.

/// Declares a command. It is there from program start, in every runtime of its host type: no
/// registration call.
///
/// ```
/// use sc_console::{command, console_enum};
/// use sc_core::Cx;
///
/// struct Game { items: u32 }
///
/// #[derive(Clone, Copy, PartialEq)]
/// enum Item { Sword, Shield }
/// console_enum!(Item: Sword, Shield);
///
/// command! {
///     /// Gives an item to the player.
///     MyGame.Debug.GiveItem [cheat] (
///         /// Which item.
///         item: Item,
///         /// How many. 0 empties the slot.
///         #[range = 0..=99]
///         count: u32 = 1,
///     ) |cx: &mut Cx<'_, Game>, out| {
///         cx.host_mut().items = count;
///         writeln!(out, "gave {count} of item {}", item as u32)?;
///         Ok(())
///     }
/// }
/// ```
///
/// - Doc comments are the help, of the command and of each parameter.
/// - In brackets, flags: `cheat`, `hidden`, `server_only`, and `anytime` for a command that runs
///   without a game world too.
/// - A parameter with a default or of type `Option<T>` may be left out; one of type `Vec<T>` takes
///   all that follows. `#[range = 1..=9]` and `#[special(0 => "no limit")]` say what is allowed,
///   `#[secret]` keeps it out of history, echo, error lines and log, and `#[suggest = function]`
///   (`fn(&mut Cx<'_, Game>, &str) -> Vec<String>`, given what is typed so far) completes it.
/// - `(raw words)` in place of parameters: the words as they are, a slice of [`Word`](crate::Word).
/// - The body returns a `Result` of `()`, or of a [`Latent`](crate::Latent) if it is not done yet.
///   Every error converts into its [`CommandError`](crate::CommandError). A body that only fails ends with
///   `Ok(())` all the same, and one that only panics says what it would be, else the compiler cannot know
///   which of the two it returns (E0283): `{ Err("not yet")?; Ok(()) }`, `{ todo!() as Result<(), _> }`.
/// - With `|cx: &mut dyn AnyCx, out|` the body is for runtimes of every host.
/// - `=> registry` in place of a body sends the call to the registry's
///   [`on_static_command`](crate::CommandRegistry::on_static_command).
/// - `pub NAME =` before the name makes a static to pass to
///   [`add_commands`](crate::ConsoleExt::add_commands), for targets on which nothing is collected.
///
/// ```
/// # use sc_console::command;
/// # use sc_core::{AnyCx, Cx};
/// # struct Game { friends: Vec<String> }
/// fn friends(cx: &mut Cx<'_, Game>, _typed: &str) -> Vec<String> { cx.host().friends.clone() }
///
/// command! {
///     /// Sends a message.
///     pub WHISPER = MyGame.Whisper (
///         /// To whom.
///         #[suggest = friends]
///         friend: String,
///         /// Seconds until it vanishes.
///         #[range = 1.0..=60.0]
///         #[special(0.0 => "it stays")]
///         seconds: f64 = 5.0,
///     ) |cx: &mut Cx<'_, Game>, out| {
///         if !cx.host().friends.contains(&friend) { Err(format!("{friend} is no friend"))?; }
///         writeln!(out, "to {friend}, for {seconds} s")?;
///         Ok(())
///     }
/// }
///
/// command! {
///     /// Is not there yet.
///     MyGame.Later () |_cx: &mut Cx<'_, Game>, _out| { todo!() as Result<(), _> }
/// }
///
/// command! {
///     /// Says how many frames there were.
///     MyGame.Frames [anytime] () |cx: &mut dyn AnyCx, out| {
///         writeln!(out, "{}", cx.frame())?;
///         Ok(())
///     }
/// }
/// ```
#[cfg(feature = "commands")]
#[macro_export]
macro_rules! command {
    ($(#[doc = $doc:literal])* $vis:vis $KEY:ident = $head:ident $(. $tail:ident)* $([$($flag:ident),* $(,)?])?
        ($($params:tt)*) $($body:tt)+
    ) => {
        $(#[doc = $doc])*
        $vis static $KEY: $crate::StaticCommand = $crate::__static_command!(
            [$($doc),*] [$head $($tail)*] [$($($flag),*)?] ($($params)*) $($body)+
        );
        $crate::__private::inventory::submit! { $crate::__private::CommandEntry(&$KEY) }
    };
    ($(#[doc = $doc:literal])* $head:ident $(. $tail:ident)* $([$($flag:ident),* $(,)?])?
        ($($params:tt)*) $($body:tt)+
    ) => {
        const _: () = {
            static COMMAND: $crate::StaticCommand = $crate::__static_command!(
                [$($doc),*] [$head $($tail)*] [$($($flag),*)?] ($($params)*) $($body)+
            );
            $crate::__private::inventory::submit! { $crate::__private::CommandEntry(&COMMAND) }
        };
    };
}

/// As with the feature `commands`, but only the types are checked: nothing of it is in the binary.
#[cfg(not(feature = "commands"))]
#[macro_export]
macro_rules! command {
    ($(#[doc = $doc:literal])* $vis:vis $KEY:ident = $head:ident $(. $tail:ident)* $([$($flag:ident),* $(,)?])?
        ($($params:tt)*) $($body:tt)+
    ) => {
        $(#[doc = $doc])*
        $vis static $KEY: $crate::StaticCommand = $crate::StaticCommand::stripped();
        $crate::__check_command!([$($($flag),*)?] ($($params)*) $($body)+);
    };
    ($(#[doc = $doc:literal])* $head:ident $(. $tail:ident)* $([$($flag:ident),* $(,)?])?
        ($($params:tt)*) $($body:tt)+
    ) => {
        $crate::__check_command!([$($($flag),*)?] ($($params)*) $($body)+);
    };
}

/// A command to be registered at run time: the same syntax as [`command!`](crate::command), as an
/// expression. The body is a closure and takes what it captures with it. In place of the name there
/// may be a block, for names that are made at run time.
///
/// ```
/// use sc_console::{ConsoleExt, Source, dynamic_command};
/// use sc_core::{Cx, Runtime, WorldKind};
///
/// let (mut rt, mut host) = (Runtime::<u32>::new(), 0);
/// let mut cx = rt.cx(&mut host);
/// let level = cx.create_world(WorldKind::Game)?;
/// for door in [7_u32, 8] {
///     cx.register_command(dynamic_command! {
///         /// Opens this door.
///         {format!("Door{door}.Open")} (
///             /// How wide, in degrees.
///             degrees: u32 = 90,
///         ) |cx: &mut Cx<'_, u32>, out| {
///             *cx.host_mut() = door;
///             writeln!(out, "door {door} is open by {degrees} degrees")?;
///             Ok(())
///         }
///     }.world(level))?;
/// }
/// # #[cfg(feature = "commands")]
/// assert_eq!(cx.run_line("door8.open", Source::Local).text(), "door 8 is open by 90 degrees");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "commands")]
#[macro_export]
macro_rules! dynamic_command {
    ($(#[doc = $doc:literal])* $name:block $([$($flag:ident),* $(,)?])?
        ($($params:tt)*) $($body:tt)+
    ) => {
        $crate::__dynamic_command!([$($doc),*] [$name] [$($($flag),*)?] ($($params)*) $($body)+)
    };
    ($(#[doc = $doc:literal])* $head:ident $(. $tail:ident)* $([$($flag:ident),* $(,)?])?
        ($($params:tt)*) $($body:tt)+
    ) => {
        $crate::__dynamic_command!(
            [$($doc),*]
            [::core::concat!(::core::stringify!($head) $(, ".", ::core::stringify!($tail))*)]
            [$($($flag),*)?] ($($params)*) $($body)+
        )
    };
}

/// As with the feature `commands`, but only the types are checked: nothing of it is in the binary.
#[cfg(not(feature = "commands"))]
#[macro_export]
macro_rules! dynamic_command {
    ($(#[doc = $doc:literal])* $name:block $([$($flag:ident),* $(,)?])?
        ($($params:tt)*) $($body:tt)+
    ) => {{
        if false {
            let _ = $crate::__dynamic_command!([$($doc),*] [$name] [$($($flag),*)?] ($($params)*) $($body)+);
        }
        $crate::__private::CommandDef::stripped()
    }};
    ($(#[doc = $doc:literal])* $head:ident $(. $tail:ident)* $([$($flag:ident),* $(,)?])?
        ($($params:tt)*) $($body:tt)+
    ) => {{
        if false {
            let _ = $crate::__dynamic_command!([] [""] [$($($flag),*)?] ($($params)*) $($body)+);
        }
        $crate::__private::CommandDef::stripped()
    }};
}

/// The value of a static command.
#[doc(hidden)]
#[macro_export]
macro_rules! __static_command {
    ([$($doc:literal),*] [$head:ident $($tail:ident)*] [$($flag:ident),*] $params:tt $($body:tt)+) => {
        $crate::StaticCommand::new(
            ::core::concat!(::core::stringify!($head) $(, ".", ::core::stringify!($tail))*),
            &[$($doc),*],
            (::core::file!(), ::core::line!(), ::core::module_path!()),
            $crate::__params!($params $($body)+),
            $crate::__static_body!($params $($body)+),
        )$(.$flag())*
    };
}

/// Checks the types of a static command, and leaves nothing of it.
#[doc(hidden)]
#[macro_export]
macro_rules! __check_command {
    ([$($flag:ident),*] $params:tt $($body:tt)+) => {
        const _: () = {
            #[allow(dead_code)]
            fn check() {
                let _: fn() -> ::std::vec::Vec<$crate::__private::ParamDef> =
                    $crate::__params!($params $($body)+);
                let _: fn() -> $crate::__private::StaticBody =
                    $crate::__static_body!($params $($body)+);
                let _ = $crate::StaticCommand::stripped()$(.$flag())*;
            }
        };
    };
}

/// The value of a dynamic command.
#[doc(hidden)]
#[macro_export]
macro_rules! __dynamic_command {
    ([$($doc:literal),*] [$name:expr] [$($flag:ident),*] $params:tt $(move)? |$cx:tt : $cx_type:ty, $out:tt| $body:block
    ) => {
        $crate::__private::CommandDef::new(
            $name,
            &[$($doc),*],
            ($crate::__params!($params |$cx: $cx_type, $out| $body))(),
            move |cx: $cx_type, call: &mut $crate::__private::Call<'_>| {
                $crate::__run_body!($params, cx, call, $cx, $cx_type, $out, $body)
            },
        )$(.$flag())*
    };
}

/// The body of a static command, as a function that makes it.
#[doc(hidden)]
#[macro_export]
macro_rules! __static_body {
    ($params:tt => registry) => {
        || $crate::__private::IntoStaticBody::into_body($crate::__private::Forwarded)
    };
    ($params:tt |$cx:tt : $cx_type:ty, $out:tt| $body:block) => {
        || {
            let body: fn(
                $cx_type,
                &mut $crate::__private::Call<'_>,
            ) -> $crate::__private::CallResult =
                |cx, call| $crate::__run_body!($params, cx, call, $cx, $cx_type, $out, $body);
            $crate::__private::IntoStaticBody::into_body(body)
        }
    };
}

/// Reads the parameters off a call, then runs the body.
#[doc(hidden)]
#[macro_export]
macro_rules! __run_body {
    ((raw $words:ident $(,)?), $given:ident, $call:ident, $cx:tt, $cx_type:ty, $out:tt, $body:block) => {{
        let ($words, out) = $call.raw();
        $crate::__private::run($given, out, |$cx: $cx_type, $out| $body)
    }};
    (($($(#[$($attr:tt)+])* $param:ident : $type:ty $(= $default:expr)?),* $(,)?),
        $given:ident, $call:ident, $cx:tt, $cx_type:ty, $out:tt, $body:block
    ) => {{
        $(
            let $param: $type = $call.read(
                &$crate::__rule!($type, [$($default)?] $([$($attr)+])*)
            )?;
        )*
        $call.expect_no_words()?;
        $crate::__private::run($given, $call.out(), |$cx: $cx_type, $out| $body)
    }};
}

/// The parameters of a command, as a function that makes them.
#[doc(hidden)]
#[macro_export]
macro_rules! __params {
    ((raw $words:ident $(,)?) $($body:tt)+) => {
        || ::std::vec![$crate::__private::ParamDef::raw(::core::stringify!($words))]
    };
    (($($(#[$($attr:tt)+])* $param:ident : $type:ty $(= $default:expr)?),* $(,)?)
        |$cx:tt : $cx_type:ty, $out:tt| $body:block
    ) => {
        || ::std::vec![$($crate::__param!(
            $param, $type, $cx_type, [$($default)?] $([$($attr)+])*
        )),*]
    };
    (($($(#[$($attr:tt)+])* $param:ident : $type:ty $(= $default:expr)?),* $(,)?) => registry) => {
        || ::std::vec![$($crate::__param!(
            $param, $type, &mut dyn $crate::__private::AnyCx, [$($default)?] $([$($attr)+])*
        )),*]
    };
}

/// One parameter.
#[doc(hidden)]
#[macro_export]
macro_rules! __param {
    ($param:ident, $type:ty, $cx_type:ty, [$($default:expr)?] $([$($attr:tt)+])*) => {{
        #[allow(unused_mut)]
        let mut param = $crate::__private::ParamDef::new::<$type>(
            ::core::stringify!($param),
            $crate::__rule!($type, [$($default)?] $([$($attr)+])*),
        );
        $($crate::__param_attr!(param, $type, $cx_type, $($attr)+);)*
        param.docs(&[$($crate::__doc!($($attr)+)),*]);
        param
    }};
}

/// The text of a doc comment; of another attribute, none.
#[doc(hidden)]
#[macro_export]
macro_rules! __doc {
    (doc = $doc:literal) => {
        $doc
    };
    ($($other:tt)+) => {
        ""
    };
}

/// What an attribute of a parameter says about it.
#[doc(hidden)]
#[macro_export]
macro_rules! __param_attr {
    ($param:ident, $type:ty, $cx_type:ty, doc = $doc:literal) => {};
    ($param:ident, $type:ty, $cx_type:ty, secret) => {
        $param.secret()
    };
    ($param:ident, $type:ty, $cx_type:ty, range = $range:expr) => {
        $param.range::<$type>($range)
    };
    ($param:ident, $type:ty, $cx_type:ty, special($($value:expr => $meaning:literal),+ $(,)?)) => {
        $($param.special::<$type>($value, $meaning);)+
    };
    ($param:ident, $type:ty, $cx_type:ty, suggest = $function:expr) => {{
        let function: fn($cx_type, &str) -> ::std::vec::Vec<::std::string::String> = $function;
        $param.suggest(function)
    }};
    ($param:ident, $type:ty, $cx_type:ty, suggest_from = $source:ident) => {
        $param.suggest_from($crate::Suggest::$source)
    };
}

/// What a parameter allows, and what stands in for it.
#[doc(hidden)]
#[macro_export]
macro_rules! __rule {
    ($type:ty, [$($default:expr)?] $([$($attr:tt)+])*) => {{
        #[allow(unused_mut)]
        let mut rule = $crate::__private::Rule::<$type>::default();
        $(rule.default = ::core::option::Option::Some(|| $default);)?
        $($crate::__rule_attr!(rule, $type, $($attr)+);)*
        // Several attributes may name special values.
        rule.is_special = ::core::option::Option::Some(|value| {
            let _ = value;
            $($crate::__is_special!(value, $type, $($attr)+);)*
            false
        });
        rule
    }};
}

/// What an attribute of a parameter says about what is allowed.
#[doc(hidden)]
#[macro_export]
macro_rules! __rule_attr {
    ($rule:ident, $type:ty, range = $range:expr) => {
        $rule.in_range =
            ::core::option::Option::Some(|value| ::core::ops::RangeBounds::contains(&$range, value))
    };
    ($rule:ident, $type:ty, $($other:tt)+) => {};
}

/// Returns `true` for what an attribute of a parameter says is a special value.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_special {
    ($given:ident, $type:ty, special($($value:expr => $meaning:literal),+ $(,)?)) => {
        $(if $crate::__private::same::<$type>($given, &$value) { return true; })+
    };
    ($given:ident, $type:ty, $($other:tt)+) => {};
}
