//! What the console knows at one moment, for any thread: names, texts, parameters.

use std::sync::Arc;

use crate::info::{EntryInfo, EntryKind, Flags};
use crate::name::fold;
use crate::parse::nearest;
use crate::redact::{Known, is_delicate, redact};

/// What one source can see of the console at one moment. `Send + Sync`, and never changed.
///
/// ```
/// use sc_console::{ConsoleExt, Source};
/// # use sc_core::Runtime;
/// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
/// # let mut cx = rt.cx(&mut host);
/// let snapshot = cx.console_snapshot(Source::Terminal);
/// # #[cfg(feature = "commands")]
/// let completions = std::thread::spawn(move || snapshot.complete("hel", 3)).join();
/// # #[cfg(feature = "commands")]
/// assert_eq!(completions.unwrap().candidates[0].insert, "help");
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConsoleSnapshot {
    /// Sorted by folded name.
    entries: Vec<Arc<EntryInfo>>,
    /// Aliases, and what may take secrets, seen or not: sorted by folded name.
    delicate: Vec<Arc<EntryInfo>>,
    pub(crate) names: Names,
}

/// The folded names of the entries one behind the other, so that going through thousands of them is
/// quick.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    text: String,
    names: Vec<Name>,
}

#[derive(Clone, Copy, Debug)]
struct Name {
    end: usize,
    /// Which letters are in it.
    letters: u64,
    /// How many bytes of its start are those of the name before.
    shared: usize,
}

impl Names {
    fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut all = Names::default();
        let mut before = "";
        for name in names {
            all.text.push_str(name);
            let pairs = name.bytes().zip(before.bytes());
            all.names.push(Name {
                end: all.text.len(),
                letters: letters(name),
                shared: pairs.take_while(|(a, b)| a == b).count(),
            });
            before = name;
        }
        all
    }

    /// The names that have all of some letters, with their place in the order of entries, and how much of its start
    /// each shares with the one given before it.
    pub(crate) fn with_letters(&self, of: &str) -> impl Iterator<Item = (usize, &str, usize)> {
        let wanted = letters(of);
        let (mut start, mut least) = (0, 0);
        let names = self.names.iter().enumerate();
        names.filter_map(move |(at, name)| {
            let from = std::mem::replace(&mut start, name.end);
            least = name.shared.min(least);
            if name.letters & wanted != wanted {
                return None;
            }
            let shared = std::mem::replace(&mut least, usize::MAX);
            Some((at, self.text.get(from..name.end)?, shared))
        })
    }
}

/// Which letters and digits are in a name: a bit each, and one for all others.
fn letters(name: &str) -> u64 {
    let bit = |byte: u8| match byte {
        b'a'..=b'z' => byte - b'a',
        b'0'..=b'9' => 26 + byte - b'0',
        b'.' => 36,
        b'_' => 37,
        b'-' => 38,
        _ => 63,
    };
    name.bytes().fold(0, |set, byte| set | 1 << bit(byte))
}

impl ConsoleSnapshot {
    pub(crate) fn new<'e>(
        entries: impl Iterator<Item = &'e Arc<EntryInfo>>,
        aliases: impl Iterator<Item = &'e Arc<EntryInfo>>,
        visible: impl Fn(Flags) -> bool,
    ) -> Self {
        let mut all: Vec<Arc<EntryInfo>> = entries.chain(aliases).cloned().collect();
        // Where an alias has lost its name to a command, the command comes first and is the one.
        all.sort_by(|a, b| (&a.folded, a.kind).cmp(&(&b.folded, b.kind)));
        all.dedup_by(|later, first| later.folded == first.folded);
        let delicate = all.iter().filter(|entry| may_take_secrets(entry));
        let delicate = delicate.cloned().collect();
        all.retain(|entry| visible(entry.flags));
        ConsoleSnapshot {
            names: Names::of(all.iter().map(|entry| entry.folded.as_str())),
            entries: all,
            delicate,
        }
    }

    /// Every entry that the source can see, sorted by name.
    #[must_use]
    pub fn entries(&self) -> &[Arc<EntryInfo>] {
        &self.entries
    }

    /// The entry of a name, whatever its case.
    ///
    /// ```
    /// # use sc_console::{ConsoleExt, Source};
    /// # use sc_core::Runtime;
    /// # let (mut rt, mut host) = (Runtime::<()>::new(), ());
    /// # let mut cx = rt.cx(&mut host);
    /// # #[cfg(feature = "commands")]
    /// assert!(cx.console_snapshot(Source::Local).get("sc.debug.ping").is_some());
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&EntryInfo> {
        find(&self.entries, &fold(name))
    }

    /// The line with every secret as `***`: what may be shown and kept of it.
    #[must_use]
    pub fn redact(&self, line: &str) -> String {
        redact(line, self).0
    }

    /// As [`redact`](Self::redact), of a line before which others may make names.
    #[cfg(feature = "terminal")]
    pub(crate) fn redact_unsure(&self, line: &str) -> String {
        crate::redact::redact_unsure(line, self)
    }
}

fn find<'e>(sorted: &'e [Arc<EntryInfo>], folded: &str) -> Option<&'e EntryInfo> {
    let at = sorted.binary_search_by(|entry| entry.folded.as_str().cmp(folded));
    sorted.get(at.ok()?).map(Arc::as_ref)
}

impl ConsoleSnapshot {
    /// What a name means, whether the source can see it or not.
    fn meant(&self, folded: &str) -> Option<&EntryInfo> {
        find(&self.entries, folded).or_else(|| find(&self.delicate, folded))
    }
}

impl Known for ConsoleSnapshot {
    fn entry(&self, folded: &str) -> Option<&EntryInfo> {
        self.meant(folded)
            .filter(|entry| entry.kind != EntryKind::Alias)
    }

    // With its secrets masked, each still a word: what leads where is the same.
    fn alias(&self, folded: &str) -> Option<&str> {
        let alias = self.meant(folded);
        let alias = alias.filter(|entry| entry.kind == EntryKind::Alias)?;
        Some(&alias.about)
    }

    fn nearest(&self, folded: &str) -> Option<&str> {
        nearest(
            folded,
            self.delicate.iter().map(|entry| entry.folded.as_str()),
        )
    }
}

/// Whether a mistyped name is looked for among them.
pub(crate) fn may_take_secrets(entry: &EntryInfo) -> bool {
    entry.kind == EntryKind::Alias || entry.params.iter().any(is_delicate)
}
