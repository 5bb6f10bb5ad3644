//! Typed keys of variables: of static ones, and of those registered at run time.

use std::fmt;
use std::marker::PhantomData;

use sc_core::AnyCx;

use super::declare::StaticVariable;
use super::store::Variables;
use crate::arg::ConsoleArg;
use crate::error::VariableError;

/// The key of a static variable. [`variable!`](crate::variable) makes it.
pub struct Variable<T> {
    pub(crate) declared: &'static StaticVariable,
    pub(crate) default: fn() -> T,
}

impl<T> Variable<T> {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(declared: &'static StaticVariable, default: fn() -> T) -> Self {
        Variable { declared, default }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.declared.name
    }

    /// Its value in any runtime: as [`VariableExt::var`](crate::VariableExt::var), for code that does
    /// not know the host type.
    ///
    /// ```
    /// use sc_console::{command, variable};
    /// use sc_core::AnyCx;
    /// variable! {
    ///     /// What is said.
    ///     WORDS = MyGame.Words: String = "hello".to_owned()
    /// }
    /// command! {
    ///     /// Says it, whatever the host.
    ///     MyGame.Say [anytime] () |cx: &mut dyn AnyCx, out| {
    ///         writeln!(out, "{}", WORDS.get(cx))?;
    ///         Ok(())
    ///     }
    /// }
    /// # use sc_console::{ConsoleExt, Source};
    /// # let (mut rt, mut host) = (sc_core::Runtime::<()>::new(), ());
    /// # #[cfg(feature = "commands")]
    /// assert_eq!(rt.cx(&mut host).run_line("MyGame.Say", Source::Local).text(), "hello");
    /// ```
    pub fn get(self, cx: &mut dyn AnyCx) -> T
    where
        T: ConsoleArg,
    {
        let variables = cx.runtime_state::<Variables>();
        let mut at = variables.find_static(self.declared);
        if let Some(index) = at
            && let Some(refresh) = variables.refresh
            && variables.is_elsewhere(index)
        {
            refresh(cx, index);
            // What is asked may have ended it.
            at = cx.runtime_state::<Variables>().find_static(self.declared);
        }
        let variables = cx.runtime_state::<Variables>();
        let value = at.and_then(|at| variables.read::<T>(at));
        value.cloned().unwrap_or_else(self.default)
    }

    /// Its declaration, for [`add_variables`](crate::VariableExt::add_variables).
    #[must_use]
    pub fn declaration(self) -> &'static StaticVariable {
        self.declared
    }
}

impl<T> Clone for Variable<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Variable<T> {}

impl<T> fmt::Debug for Variable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.declared.fmt(f)
    }
}

/// The key of a variable that was registered at run time. Inert once the variable is gone; in another runtime
/// that lives at the same time, too.
pub struct DynVariable<T> {
    pub(crate) index: u32,
    pub(crate) generation: u32,
    pub(crate) runtime: u32,
    pub(crate) of: PhantomData<fn() -> T>,
}

impl<T> Clone for DynVariable<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for DynVariable<T> {}

impl<T> fmt::Debug for DynVariable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynVariable({}v{})", self.index, self.generation)
    }
}

mod sealed {
    use super::{ConsoleArg, DynVariable, Variable, VariableError, Variables};

    pub trait Find {
        #[allow(private_interfaces)]
        fn find(&self, variables: &Variables) -> Option<u32>;
        /// Why it was not found.
        fn missing(&self) -> VariableError;
    }

    impl<T: ConsoleArg> Find for Variable<T> {
        #[allow(private_interfaces)]
        fn find(&self, variables: &Variables) -> Option<u32> {
            variables.find_static(self.declared)
        }

        fn missing(&self) -> VariableError {
            VariableError::NotLive {
                name: self.declared.name,
            }
        }
    }

    impl<T: ConsoleArg> Find for DynVariable<T> {
        #[allow(private_interfaces)]
        fn find(&self, variables: &Variables) -> Option<u32> {
            variables.get(self.index)?;
            (variables.runtime == self.runtime
                && variables.generation(self.index) == self.generation)
                .then_some(self.index)
        }

        fn missing(&self) -> VariableError {
            VariableError::Gone
        }
    }
}

/// A typed key: a [`Variable`] or a [`DynVariable`].
pub trait VariableKey: sealed::Find + Copy {
    /// The type of its value.
    type Value: ConsoleArg + PartialEq;
}

impl<T: ConsoleArg + PartialEq> VariableKey for Variable<T> {
    type Value = T;
}
impl<T: ConsoleArg + PartialEq> VariableKey for DynVariable<T> {
    type Value = T;
}
