//! What a variable is made of, while it is being declared.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::RangeBounds;
use std::panic::Location;
use std::rc::Rc;

use sc_core::{AnyCx, TickId, WorldId};

use super::declare::AnyVariable;
use crate::arg::{ArgError, ConsoleArg, RangeText};
use crate::command::Bound;
use crate::info::{Flags, ParamInfo, doc_text};
use crate::redact::refusal;

type Check<T> = Box<dyn Fn(&T) -> bool>;

/// Called after a change, whatever the type.
pub(crate) type Changed = Rc<dyn Fn(&mut dyn AnyCx, &dyn Any)>;

/// Says what the value is, whatever the type.
pub(crate) type Current = Rc<dyn Fn(&mut dyn AnyCx) -> Box<dyn Any>>;

/// A variable that is to be registered at run time.
///
/// ```
/// use sc_console::{VariableDef, VariableExt};
/// # use sc_core::Runtime;
/// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// # let mut cx = rt.cx(&mut host);
/// let volume = VariableDef::new("MyGame.Volume", 0.5)
///     .about("How loud it is.")
///     .range(0.0..=1.0)
///     .special(-1.0, "as the system says")
///     .archive()
///     .runtime();
/// let volume = cx.register_variable(volume)?;
/// cx.set_var(volume, 0.75)?;
/// assert_eq!(cx.get_var(volume), Ok(0.75));
/// assert!(cx.set_var(volume, 7.0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VariableDef<T> {
    pub(super) name: Cow<'static, str>,
    about: String,
    default: T,
    flags: Flags,
    secret: bool,
    range: Option<(String, Check<T>)>,
    specials: Vec<(T, String)>,
    changed: Option<fn(&mut dyn AnyCx, &T)>,
    current: Option<fn(&mut dyn AnyCx) -> T>,
    pub(super) owner: Option<TickId>,
    pub(super) bound: Bound,
    /// It may be named as the console's own are.
    pub(super) ours: bool,
    pub(super) location: &'static Location<'static>,
}

impl<T: ConsoleArg + PartialEq> VariableDef<T> {
    /// A variable and its default.
    #[track_caller]
    pub fn new(name: impl Into<Cow<'static, str>>, default: T) -> Self {
        VariableDef {
            name: name.into(),
            about: String::new(),
            default,
            flags: Flags::NONE,
            secret: false,
            range: None,
            specials: Vec::new(),
            changed: None,
            current: None,
            owner: None,
            bound: Bound::Here,
            ours: false,
            location: Location::caller(),
        }
    }

    /// Its text.
    #[must_use]
    pub fn about(mut self, text: &str) -> Self {
        self.about = doc_text(&[text]);
        self
    }

    /// What is allowed; else a set is refused.
    #[must_use]
    pub fn range(mut self, range: impl RangeBounds<T> + 'static) -> Self
    where
        T: PartialOrd,
    {
        let text = RangeText::of(&range);
        self.range = Some((text, Box::new(move |value| range.contains(value))));
        self
    }

    /// A value with a meaning of its own, allowed in any range.
    #[must_use]
    pub fn special(mut self, value: T, meaning: &str) -> Self {
        self.specials.push((value, meaning.to_owned()));
        self
    }

    /// Calls a function after each change, with the new value, in whatever runtime: where the variable
    /// is another part's setting. It is called before those of
    /// [`on_var_change`](crate::VariableExt::on_var_change), and in no world.
    ///
    /// ```
    /// # use sc_console::{ConsoleExt, Source, VariableDef, VariableExt};
    /// # use sc_core::Runtime;
    /// # #[derive(Default)]
    /// # struct Mixer { volume: f32 }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let volume = VariableDef::new("Mixer.Volume", 1.0_f32)
    ///     .changed(|cx, volume| cx.runtime_state::<Mixer>().volume = *volume);
    /// cx.register_variable(volume.runtime())?;
    /// cx.run_line("mixer.volume 0.25", Source::Local);
    /// assert_eq!(cx.runtime_state::<Mixer>().volume, 0.25);
    /// # Ok::<(), sc_console::RegisterError>(())
    /// ```
    #[must_use]
    pub fn changed(mut self, function: fn(&mut dyn AnyCx, &T)) -> Self {
        self.changed = Some(function);
        self
    }

    /// Asks a function for the value before it is read, shown, compared, set or saved: where the value is another part's
    /// setting, which can be changed without the console. With [`changed`](Self::changed), which sets it there.
    /// A value that differs counts as set by code.
    ///
    /// ```
    /// # use sc_console::{VariableDef, VariableExt};
    /// # use sc_core::Runtime;
    /// # #[derive(Default)]
    /// # struct Mixer { volume: f32 }
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// let volume = VariableDef::new("Mixer.Volume", 0.0_f32)
    ///     .changed(|cx, volume| cx.runtime_state::<Mixer>().volume = *volume)
    ///     .current(|cx| cx.runtime_state::<Mixer>().volume);
    /// let volume = cx.register_variable(volume.runtime())?;
    /// cx.runtime_state::<Mixer>().volume = 0.5; // Past the console.
    /// assert_eq!(cx.get_var(volume), Ok(0.5));
    /// # Ok::<(), sc_console::RegisterError>(())
    /// ```
    #[must_use]
    pub fn current(mut self, function: fn(&mut dyn AnyCx) -> T) -> Self {
        self.current = Some(function);
        self
    }

    /// Refused unless cheats are on.
    #[must_use]
    pub fn cheat(mut self) -> Self {
        self.flags.cheat = true;
        self
    }

    /// Seen and set by scripts only.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.flags.hidden = true;
        self
    }

    /// The console shows it and cannot set it.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.flags.read_only = true;
        self
    }

    /// Kept in the configuration file, and from one variable of the name to the next.
    #[must_use]
    pub fn archive(mut self) -> Self {
        self.flags.archive = true;
        self
    }

    /// Refused where the host is no server.
    #[must_use]
    pub fn server_only(mut self) -> Self {
        self.flags.server_only = true;
        self
    }

    /// Its value is `***` wherever it would be shown.
    #[must_use]
    pub fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Bound to one life of an object: when that ends, the variable goes.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<TickId>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Bound to a world. Default: that of the `Cx` it is registered with.
    #[must_use]
    pub fn world(mut self, world: WorldId) -> Self {
        self.bound = Bound::World(world);
        self
    }

    /// Bound to no world: it ends with the runtime.
    #[must_use]
    pub fn runtime(mut self) -> Self {
        self.bound = Bound::Runtime;
        self
    }

    /// For the crates of this project: its name may start with `SC.`.
    #[doc(hidden)]
    #[must_use]
    pub fn ours(mut self) -> Self {
        self.ours = true;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn docs(mut self, lines: &[&str]) -> Self {
        self.about = doc_text(lines);
        self
    }

    /// The same without the type.
    #[doc(hidden)]
    #[must_use]
    pub fn erase(self) -> AnyVariable {
        let specials = self.specials.iter();
        let specials = specials.map(|(value, meaning)| (value.show(), meaning.clone()));
        let mut info = ParamInfo {
            name: "value".to_owned(),
            type_name: T::type_name().into_owned(),
            default: Some(self.default.show()),
            range: self.range.as_ref().map(|(text, _)| text.clone()),
            specials: specials.collect(),
            values: T::values().into_iter().map(str::to_owned).collect(),
            optional: true,
            secret: self.secret,
            ..ParamInfo::default()
        };
        crate::command::mask_default(&mut info);
        let (range, specials) = (self.range, self.specials);
        let param = info.clone();
        let check = move |value: &T| -> Result<(), ArgError> {
            let refused = value.check();
            refused.map_err(|error| refusal(&param, &value.show(), error))?;
            let special = specials.iter().any(|(special, _)| special == value);
            if special || range.as_ref().is_none_or(|(_, is_in)| is_in(value)) {
                return Ok(());
            }
            let out = crate::arg::TakeError::OutOfRange;
            Err(crate::command::param_refusal(&param, out))
        };
        let default = self.default;
        let changed = self.changed.map(|function| -> Changed {
            Rc::new(move |cx: &mut dyn AnyCx, value: &dyn Any| {
                if let Some(value) = value.downcast_ref() {
                    function(cx, value);
                }
            })
        });
        let current = self.current.map(|function| -> Current {
            Rc::new(move |cx: &mut dyn AnyCx| Box::new(function(cx)))
        });
        AnyVariable {
            current,
            about: self.about,
            flags: self.flags,
            info,
            default: Box::new(default),
            changed,
            ops: Ops {
                parse: |word| Ok(Box::new(T::parse(word)?)),
                check: Box::new(move |value| value.downcast_ref().map_or(Ok(()), &check)),
                show: |value| value.downcast_ref().map_or_else(String::new, T::show),
                same: |a, b| a.downcast_ref::<T>() == b.downcast_ref::<T>(),
                clone: |value| match value.downcast_ref::<T>() {
                    Some(value) => Box::new(value.clone()),
                    None => Box::new(()),
                },
            },
        }
    }
}

impl<T> fmt::Debug for VariableDef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VariableDef").field(&self.name).finish()
    }
}

/// What can be done with values whose type is not known.
pub(crate) struct Ops {
    pub(crate) parse: fn(&str) -> Result<Box<dyn Any>, ArgError>,
    #[allow(clippy::type_complexity)]
    pub(crate) check: Box<dyn Fn(&dyn Any) -> Result<(), ArgError>>,
    pub(crate) show: fn(&dyn Any) -> String,
    pub(crate) same: fn(&dyn Any, &dyn Any) -> bool,
    pub(crate) clone: fn(&dyn Any) -> Box<dyn Any>,
}
