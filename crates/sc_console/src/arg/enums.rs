//! Enums as arguments: their values come from the type.

/// Makes an enum without fields a console argument. Every variant must be listed: one that is
/// missing does not compile. A word names a variant whatever its case.
///
/// ```
/// use sc_console::{ConsoleArg, console_enum};
///
/// #[derive(Clone, Copy, PartialEq, Debug)]
/// enum Item { Sword, HealthPotion }
/// console_enum!(Item: Sword, HealthPotion = "potion");
///
/// assert_eq!(Item::parse("sword"), Ok(Item::Sword));
/// assert_eq!(Item::HealthPotion.show(), "potion");
/// assert_eq!(Item::values(), ["Sword", "potion"]);
/// ```
///
/// ```compile_fail
/// # use sc_console::console_enum;
/// # #[derive(Clone, Copy)]
/// enum Item { Sword, Shield }
/// console_enum!(Item: Sword);
/// ```
#[macro_export]
macro_rules! console_enum {
    ($type:ident : $($variant:ident $(= $word:literal)?),+ $(,)?) => {
        impl $crate::ConsoleArg for $type {
            fn type_name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(::core::stringify!($type))
            }

            fn parse(word: &str) -> ::core::result::Result<Self, $crate::ArgError> {
                $(
                    if $crate::__private::same_word(word, $crate::__enum_word!($variant $($word)?)) {
                        return ::core::result::Result::Ok($type::$variant);
                    }
                )+
                ::core::result::Result::Err($crate::ArgError::one_of(
                    word,
                    &<Self as $crate::ConsoleArg>::values(),
                ))
            }

            fn show(&self) -> ::std::string::String {
                ::std::string::String::from(match self {
                    $($type::$variant => $crate::__enum_word!($variant $($word)?)),+
                })
            }

            fn values() -> ::std::vec::Vec<&'static str> {
                ::std::vec![$($crate::__enum_word!($variant $($word)?)),+]
            }
        }
    };
}

/// The word of a variant.
#[doc(hidden)]
#[macro_export]
macro_rules! __enum_word {
    ($variant:ident) => {
        ::core::stringify!($variant)
    };
    ($variant:ident $word:literal) => {
        $word
    };
}
