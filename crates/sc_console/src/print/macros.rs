//! `print_string!`, twice: with the feature `print`, and without. A `cfg` inside a macro's body would
//! ask for a feature of the caller's crate.

/// Prints a text to the screen and the log, checked when it is compiled, like `format!`.
///
/// After a `;` come options: `key`, `duration`, `color`, `to`, as the methods of
/// [`Print`](crate::Print) of these names. Without a `cx` it goes to the log only, and has no options.
///
/// Without the feature `print` nothing of it is evaluated, and everything in it still counts as used.
///
/// ```
/// use sc_console::{Color, PrintExt, PrintTo, print_string};
/// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
/// # let cx = &mut rt.cx(&mut host);
/// let (target, damage) = ("an ogre", 12.5);
/// print_string!(cx, "Hit {target} for {damage:.1}");
/// print_string!(cx, "{} enemies left", 3; key = "enemies", duration = 5, color = Color::ORANGE);
/// print_string!(cx, "{n} frames", n = cx.frame(); to = PrintTo::Screen);
/// print_string!("loaded {target}");
/// # #[cfg(feature = "print")]
/// assert_eq!(cx.screen().messages().len(), 3);
/// ```
///
/// What does not fit does not compile:
///
/// ```compile_fail
/// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
/// # let cx = &mut rt.cx(&mut host);
/// sc_console::print_string!(cx, "Hit {}");
/// ```
#[cfg(feature = "print")]
#[macro_export]
macro_rules! print_string {
    ($($input:tt)+) => { $crate::__print_string!($($input)+) };
}

/// Prints a text to the screen and the log, checked when it is compiled. The feature `print` is off:
/// nothing of it is evaluated.
#[cfg(not(feature = "print"))]
#[macro_export]
macro_rules! print_string {
    ($($input:tt)+) => { if false { $crate::__print_string!($($input)+) } };
}

/// Takes a print apart: the text and its arguments, the options behind the `;`.
#[doc(hidden)]
#[macro_export]
macro_rules! __print_string {
    // No cx: to the log.
    ($text:literal $($rest:tt)*) => {
        $crate::__private::tracing::info!(target: $crate::PRINT_TARGET, "{}", ::std::format_args!($text $($rest)*))
    };
    ($cx:expr, $text:literal $($rest:tt)*) => {
        $crate::__print_string!(@split [$cx] [$text] $($rest)*)
    };

    // Token by token to the `;`, four at a time.
    (@split [$cx:expr] [$($text:tt)*]) => {
        $crate::__print_string!(@print [$cx] [$($text)*])
    };
    (@split [$cx:expr] [$($text:tt)*] ; $($options:tt)*) => {
        $crate::__print_string!(@print [$cx] [$($text)*] $($options)*)
    };
    (@split [$cx:expr] [$($text:tt)*] $a:tt) => {
        $crate::__print_string!(@print [$cx] [$($text)* $a])
    };
    (@split [$cx:expr] [$($text:tt)*] $a:tt ; $($options:tt)*) => {
        $crate::__print_string!(@print [$cx] [$($text)* $a] $($options)*)
    };
    (@split [$cx:expr] [$($text:tt)*] $a:tt $b:tt) => {
        $crate::__print_string!(@print [$cx] [$($text)* $a $b])
    };
    (@split [$cx:expr] [$($text:tt)*] $a:tt $b:tt ; $($options:tt)*) => {
        $crate::__print_string!(@print [$cx] [$($text)* $a $b] $($options)*)
    };
    (@split [$cx:expr] [$($text:tt)*] $a:tt $b:tt $c:tt) => {
        $crate::__print_string!(@print [$cx] [$($text)* $a $b $c])
    };
    (@split [$cx:expr] [$($text:tt)*] $a:tt $b:tt $c:tt ; $($options:tt)*) => {
        $crate::__print_string!(@print [$cx] [$($text)* $a $b $c] $($options)*)
    };
    (@split [$cx:expr] [$($text:tt)*] $a:tt $b:tt $c:tt $d:tt $($rest:tt)*) => {
        $crate::__print_string!(@split [$cx] [$($text)* $a $b $c $d] $($rest)*)
    };

    // The text is made before the `cx` is borrowed to print it.
    (@print [$cx:expr] [$($text:tt)*] $($option:ident = $value:expr),* $(,)?) => {{
        let print = $crate::Print::new(::std::format!($($text)*)) $(.$option($value))*;
        {
            use $crate::PrintExt as _;
            $cx.print(print);
        }
    }};
}
