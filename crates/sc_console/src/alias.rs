//! Aliases: names for lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::info::{EntryInfo, EntryKind, Flags, Origin, ParamInfo};
use crate::name::fold;

/// An alias.
pub(crate) struct Alias {
    /// With the line as it may be shown.
    pub(crate) info: Arc<EntryInfo>,
    /// The line as it is run.
    pub(crate) line: String,
}

/// The aliases of a console, by folded name.
#[derive(Default)]
pub(crate) struct Aliases {
    names: BTreeMap<String, Alias>,
    revision: u64,
}

impl Aliases {
    /// Sets what a name stands for, and how that is shown. `secret` when the line holds secrets, or
    /// takes some at its end.
    pub(crate) fn set(&mut self, name: &str, line: &str, shown: &str, secret: bool) {
        let folded = fold(name);
        let info = Arc::new(EntryInfo {
            name: name.to_owned(),
            folded: folded.clone(),
            kind: EntryKind::Alias,
            about: shown.to_owned(),
            params: vec![ParamInfo {
                name: "words".to_owned(),
                about: "Put at the end of the line it stands for.".to_owned(),
                type_name: "words".to_owned(),
                optional: true,
                variadic: true,
                secret,
                ..ParamInfo::default()
            }],
            flags: Flags::NONE,
            origin: Origin::Typed,
        });
        let line = line.to_owned();
        self.names.insert(folded, Alias { info, line });
        self.revision += 1;
    }

    pub(crate) fn get(&self, folded: &str) -> Option<&Alias> {
        self.names.get(folded)
    }

    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.revision += 1;
        self.names.remove(&fold(name)).is_some()
    }

    /// Sorted by folded name.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = &Arc<EntryInfo>> {
        self.names.values().map(|alias| &alias.info)
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }
}
