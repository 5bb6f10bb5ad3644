//! The filter of the log: which events are caught, changed at run time.
//!
//! It is a filter of its own layer, so other layers keep seeing what they want; and it changes what it
//! holds, never itself, so that nothing has to be taken out of the subscriber.

use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Filter};

/// Why a log filter was refused. The old one stays.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogFilterError {
    /// There is nothing in it.
    #[error(
        "a log filter of `{text}` has an empty part: write levels and target=level, with commas between them, as in `warn,stillcooking=trace`"
    )]
    Empty {
        /// The filter given.
        text: String,
    },
    /// No level of that name.
    #[error(
        "`{level}` is no log level: write off, error, warn, info, debug or trace, or target=level"
    )]
    Level {
        /// What stands where a level should be.
        level: String,
    },
    /// No target can have that name.
    #[error(
        "`{target}` is no log target: write the path of a module, as in `stillcooking` or `game::audio`"
    )]
    Target {
        /// What stands where a target should be.
        target: String,
    },
    /// The same target twice, or two levels for everything else.
    #[error("`{part}` is said twice in the log filter: leave one level for each target")]
    Repeated {
        /// The second of them.
        part: String,
    },
}

/// A filter that was understood.
#[derive(Clone, Debug)]
pub(super) struct Directives {
    /// Its text, as it would be written again.
    pub(super) text: String,
    targets: Targets,
}

impl Directives {
    /// Everything from `INFO` up.
    pub(super) fn standard() -> Self {
        Directives {
            text: "info".to_owned(),
            targets: Targets::new().with_default(LevelFilter::INFO),
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, LogFilterError> {
        let mut targets = Targets::new();
        let mut seen: Vec<(Option<&str>, LevelFilter)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            if part.is_empty() {
                let text = text.to_owned();
                return Err(LogFilterError::Empty { text });
            }
            let (target, level) = match part.split_once('=') {
                Some((target, level)) => (Some(target.trim()), level.trim()),
                None => (None, part),
            };
            if let Some(target) = target.filter(|target| !is_target(target)) {
                let target = target.to_owned();
                return Err(LogFilterError::Target { target });
            }
            let Some(parsed) = parse_level(level) else {
                let level = level.to_owned();
                return Err(LogFilterError::Level { level });
            };
            if seen.iter().any(|(other, _)| *other == target) {
                let part = part.to_owned();
                return Err(LogFilterError::Repeated { part });
            }
            seen.push((target, parsed));
            targets = match target {
                Some(target) => targets.with_target(target, parsed),
                None => targets.with_default(parsed),
            };
        }
        let parts = seen.iter().map(|(target, level)| match target {
            Some(target) => format!("{target}={level}"),
            None => level.to_string(),
        });
        let text = parts.collect::<Vec<_>>().join(",");
        Ok(Directives { text, targets })
    }
}

/// A level by its name: `LevelFilter` takes numbers, and nothing at all, too.
fn parse_level(text: &str) -> Option<LevelFilter> {
    let is_name = !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic());
    LevelFilter::from_str(text).ok().filter(|_| is_name)
}

fn is_target(text: &str) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "_:-./".contains(c);
    !text.is_empty() && text.chars().all(allowed)
}

/// The filter of a ring's layer.
#[derive(Clone, Debug)]
pub(super) struct LiveFilter(pub(super) Arc<RwLock<Directives>>);

impl LiveFilter {
    pub(super) fn read<R>(&self, ask: impl FnOnce(&Directives) -> R) -> R {
        ask(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts another filter in force everywhere: each place in the code that logs keeps for itself
    /// whether anybody listens, and is asked again.
    pub(super) fn replace(&self, with: Directives) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = with;
        tracing::callsite::rebuild_interest_cache();
    }
}

impl<S: Subscriber> Filter<S> for LiveFilter {
    fn enabled(&self, metadata: &Metadata<'_>, cx: &Context<'_, S>) -> bool {
        self.read(|now| Filter::<S>::enabled(&now.targets, metadata, cx))
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.read(|now| Filter::<S>::callsite_enabled(&now.targets, metadata))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        self.read(|now| Filter::<S>::max_level_hint(&now.targets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, String> {
        let directives = Directives::parse(text);
        directives
            .map(|d| d.text)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_filter_is_levels_and_targets_with_levels() {
        assert_eq!(parsed("warn"), Ok("warn".into()));
        assert_eq!(
            parsed(" WARN , a::b = Trace "),
            Ok("warn,a::b=trace".into())
        );
        assert_eq!(parsed("stillcooking=off"), Ok("stillcooking=off".into()));
    }

    #[test]
    fn what_is_none_says_why() {
        let refused = |text: &str| parsed(text).expect_err("is refused");
        for empty in ["", " ", "info,", ",info", "a=info,,b=info"] {
            assert!(refused(empty).contains("has an empty part"), "{empty}");
        }
        for level in ["trce", "a=trce", "a=", "a", "3", "a=3", "a=b=info"] {
            assert!(refused(level).contains("is no log level"), "{level}");
        }
        for target in ["=info", "a b=info", "a[x]=info", "{a}=info"] {
            assert!(refused(target).contains("is no log target"), "{target}");
        }
        for twice in ["info,warn", "a=info,b=warn,a=warn"] {
            assert!(refused(twice).contains("is said twice"), "{twice}");
        }
    }
}
