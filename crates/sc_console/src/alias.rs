//! Aliases: names for lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::info::{EntryInfo, EntryKind, Flags, Origin, ParamInfo};
use crate::name::fold;
use crate::redact::{Known, mask, secrets_of_alias, takes_secrets};
use crate::source::Source;

/// An alias.
pub(crate) struct Alias {
    pub(crate) name: String,
    /// The line as it is run.
    pub(crate) line: String,
    /// Who has made it.
    pub(crate) by: Source,
    /// That it has lost its name was reported.
    told: bool,
}

impl Alias {
    /// The line as it may be shown, by what its names mean now.
    pub(crate) fn shown(&self, known: &impl Known) -> String {
        mask(&self.line, secrets_of_alias(&self.line, known)).0
    }

    /// Another machine changes what it has made itself, and nothing else.
    pub(crate) fn may_be_changed_by(&self, source: Source) -> bool {
        source != Source::Remote || self.by == Source::Remote
    }

    /// In whose name its line runs for a source: what another machine has made may do no more than that.
    pub(crate) fn source_for(&self, source: Source) -> Source {
        match self.by {
            Source::Remote => Source::Remote,
            _ => source,
        }
    }

    /// What help, lists and completion say about it.
    pub(crate) fn info(&self, known: &impl Known) -> Arc<EntryInfo> {
        Arc::new(EntryInfo {
            name: self.name.clone(),
            folded: fold(&self.name),
            kind: EntryKind::Alias,
            about: self.shown(known),
            params: vec![ParamInfo {
                name: "words".to_owned(),
                about: "Put at the end of the line it stands for.".to_owned(),
                type_name: "words".to_owned(),
                optional: true,
                variadic: true,
                secret: takes_secrets(&self.line, known),
                ..ParamInfo::default()
            }],
            flags: Flags::NONE,
            origin: Origin::Typed,
        })
    }
}

/// The aliases of a console, by folded name.
#[derive(Default)]
pub(crate) struct Aliases {
    names: BTreeMap<String, Alias>,
    revision: u64,
}

impl Aliases {
    /// Sets what a name stands for.
    pub(crate) fn set(&mut self, name: &str, line: &str, by: Source) {
        let alias = Alias {
            name: name.to_owned(),
            line: line.to_owned(),
            by,
            told: false,
        };
        self.names.insert(fold(name), alias);
        self.revision += 1;
    }

    pub(crate) fn get(&self, folded: &str) -> Option<&Alias> {
        self.names.get(folded)
    }

    /// Whether a name is an alias's, the first time that it is lost.
    pub(crate) fn loses(&mut self, folded: &str) -> bool {
        let alias = self.names.get_mut(folded);
        alias.is_some_and(|alias| !std::mem::replace(&mut alias.told, true))
    }

    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.revision += 1;
        self.names.remove(&fold(name)).is_some()
    }

    /// With their folded names, sorted by them.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (&str, &Alias)> {
        self.names
            .iter()
            .map(|(folded, alias)| (folded.as_str(), alias))
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }
}
