//! Reports: what went wrong without stopping the frame, through one handler a runtime.

use std::borrow::Cow;
use std::fmt;

use crate::tick::TickId;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Something worked, perhaps not as meant.
    Warning,
    /// Something did not happen.
    Error,
}

/// What a report is about. `docs/diagnostics.md` has cause and fix of each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReportKind {
    /// An object was initialized that already is.
    AlreadyInitialized,
    /// Something was started, initialized or created in a world that is dead, dying or unnamed.
    NoLiveWorld,
    /// An owner was dropped while its object was still initialized.
    OwnerDropped,
    /// The runtime was dropped while an object was still initialized.
    RuntimeDropped,
    /// User code panicked and the policy is to go on.
    Panicked,
    /// A world's dilated delta was beyond the range of a clock.
    DeltaSaturated,
    /// An extension of somebody else's has a name of ours.
    ReservedExtension,
    /// Something in an extension; which, it says.
    Extension(&'static ExtensionReport),
}

/// A kind of report of an extension's own.
///
/// ```
/// use sc_core::{ExtensionReport, Report, ReportKind, Severity};
/// static TOO_MANY_FLOWERS: ExtensionReport = ExtensionReport {
///     name: "TooManyFlowers",
///     severity: Severity::Warning,
///     fix: "plant fewer",
/// };
/// let report = Report::new(ReportKind::Extension(&TOO_MANY_FLOWERS), "900 flowers");
/// assert_eq!(report.to_string(), "900 flowers; to fix: plant fewer");
/// ```
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct ExtensionReport {
    /// Its name, one word.
    pub name: &'static str,
    /// How bad reports of it are.
    pub severity: Severity,
    /// What to do about them.
    pub fix: &'static str,
}

impl ReportKind {
    /// Its name, one word.
    ///
    /// ```
    /// assert_eq!(sc_core::ReportKind::OwnerDropped.name(), "OwnerDropped");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ReportKind::AlreadyInitialized => "AlreadyInitialized",
            ReportKind::NoLiveWorld => "NoLiveWorld",
            ReportKind::OwnerDropped => "OwnerDropped",
            ReportKind::RuntimeDropped => "RuntimeDropped",
            ReportKind::Panicked => "Panicked",
            ReportKind::DeltaSaturated => "DeltaSaturated",
            ReportKind::ReservedExtension => "ReservedExtension",
            ReportKind::Extension(kind) => kind.name,
        }
    }

    /// How bad reports of this kind are.
    ///
    /// ```
    /// use sc_core::{ReportKind, Severity};
    /// assert_eq!(ReportKind::OwnerDropped.severity(), Severity::Error);
    /// ```
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            ReportKind::AlreadyInitialized | ReportKind::DeltaSaturated => Severity::Warning,
            ReportKind::NoLiveWorld
            | ReportKind::OwnerDropped
            | ReportKind::RuntimeDropped
            | ReportKind::Panicked
            | ReportKind::ReservedExtension => Severity::Error,
            ReportKind::Extension(kind) => kind.severity,
        }
    }

    /// What to do about reports of this kind.
    ///
    /// ```
    /// use sc_core::ReportKind;
    /// assert!(ReportKind::OwnerDropped.fix().contains("shutdown"));
    /// ```
    #[must_use]
    pub const fn fix(self) -> &'static str {
        match self {
            ReportKind::AlreadyInitialized => {
                "initialize an object once, or shut it down before initializing it again"
            }
            ReportKind::NoLiveWorld => {
                "pass a world that exists and is not being destroyed; an object meant to live without one is made with `spawn_worldless`"
            }
            ReportKind::OwnerDropped => "call `owner.shutdown(cx)` before the owner goes",
            ReportKind::RuntimeDropped => "call `runtime.shutdown(&mut host)` before dropping it",
            ReportKind::Panicked => {
                "fix the panic; the object is uninitialized and does not tick until it is initialized again"
            }
            ReportKind::DeltaSaturated => "use a smaller dilation, or `set_max_delta`",
            ReportKind::ReservedExtension => {
                "give it another name: those that start with `sc.` are the library's own"
            }
            ReportKind::Extension(kind) => kind.fix,
        }
    }
}

/// One report: something went wrong, and the frame goes on.
///
/// ```
/// use sc_core::{Report, ReportKind, Severity};
/// # let report = Report::new(ReportKind::OwnerDropped, "destroyed while still initialized")
/// #     .object("Spinner").world("level");
/// assert_eq!(report.severity, Severity::Error);
/// assert_eq!(
///     report.to_string(),
///     "Spinner (world `level`): destroyed while still initialized; \
///      to fix: call `owner.shutdown(cx)` before the owner goes"
/// );
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub kind: ReportKind,
    /// The object concerned, if one is: tells apart what shares a name.
    pub id: Option<TickId>,
    /// The name of the object concerned, if one is.
    pub object: Option<String>,
    /// The name of the world concerned, if one is.
    pub world: Option<String>,
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub fix: Cow<'static, str>,
}

impl Report {
    /// A report of a kind, with that kind's severity and fix.
    ///
    /// ```
    /// # use sc_core::{Report, ReportKind};
    /// let report = Report::new(ReportKind::NoLiveWorld, "was to be opened").object("Door").world("level");
    /// assert_eq!(report.fix, ReportKind::NoLiveWorld.fix());
    /// assert!(report.to_string().starts_with("Door (world `level`): was to be opened; to fix: "));
    /// ```
    #[must_use]
    pub fn new(kind: ReportKind, what: impl Into<String>) -> Self {
        Report {
            severity: kind.severity(),
            kind,
            id: None,
            object: None,
            world: None,
            what: what.into(),
            fix: Cow::Borrowed(kind.fix()),
        }
    }

    /// The same, naming an object.
    #[must_use]
    pub fn object(mut self, name: impl Into<String>) -> Self {
        self.object = Some(name.into());
        self
    }

    /// The same, naming a world.
    #[must_use]
    pub fn world(mut self, name: impl Into<String>) -> Self {
        self.world = Some(name.into());
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (object, world) = (self.object.as_deref(), self.world.as_deref());
        match (object.map(OneLine), world.map(OneLine)) {
            (Some(object), Some(world)) => write!(f, "{object} (world `{world}`): ")?,
            (Some(object), None) => write!(f, "{object}: ")?,
            (None, Some(world)) => write!(f, "world `{world}`: ")?,
            (None, None) => {}
        }
        write!(f, "{}; to fix: {}", OneLine(&self.what), self.fix)
    }
}

/// A text on one line: control characters are escaped, so that neither a name nor a panic's message
/// can forge a line of a log; an empty name is seen.
struct OneLine<'s>(&'s str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("(unnamed)");
        }
        for c in self.0.chars() {
            if c.is_control() {
                write!(f, "{}", c.escape_default())?;
            } else {
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

/// Receives every report of one runtime. It has no access to the runtime: it is called in
/// the middle of the frame.
pub type ReportHandler = Box<dyn FnMut(&Report)>;

/// The default handler: a `tracing` event with target `stillcooking`.
pub(crate) fn trace_report(report: &Report) {
    let object = report.object.as_deref().unwrap_or_default();
    let world = report.world.as_deref().unwrap_or_default();
    let kind = report.kind.name();
    match report.severity {
        Severity::Warning => {
            tracing::warn!(target: "stillcooking", kind, object, world, "{report}");
        }
        Severity::Error => {
            tracing::error!(target: "stillcooking", kind, object, world, "{report}");
        }
    }
}
