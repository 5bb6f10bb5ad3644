//! The configuration file: archived variables in TOML, with what is not theirs kept as it is.
//!
//! They stand in the table `[variables]`, by name: `"MyGame.Volume" = 0.5`, or dotted as
//! `MyGame.Volume = 0.5`; names are compared as everywhere, whatever their case. Where a variable has the
//! name of a table of the file, its value stands in that table, under an empty key: `"MyGame"."" = 1`.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sc_core::{Cx, Report, ReportKind};
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::store::Was;
use super::{SetBy, SetOutcome, VariableExt, Variables};
use crate::error::{FileError, VariableError};
use crate::file::{self, Limit};
use crate::name::fold;
use crate::parse::nearest;
use crate::registry;
use crate::reports;

/// What reading a configuration file came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ConfigRead {
    /// How many variables were set, or had the value already.
    pub set: usize,
    /// Names for which there is no variable yet: their values wait.
    pub waiting: Vec<String>,
    /// Names whose values were refused, with the reason; each was reported.
    pub refused: Vec<(String, String)>,
}

/// A longer file is refused.
const LIMIT: Limit = Limit {
    bytes: 1 << 20,
    fix: "take out what is not the game's, or move it away",
};

const TABLE: &str = "variables";

/// What is said of a variable that stands beside the table.
pub(super) const OUTSIDE: &str = "it stands outside of `[variables]`: move it there";

/// What is in a file, and whether all of its lines end with `\r\n`.
fn parse(path: &Path) -> Result<(DocumentMut, bool), FileError> {
    let text = file::read(path, LIMIT)?.unwrap_or_default();
    let line_ends = text.matches('\n').count();
    let has_crlf = line_ends > 0 && text.matches("\r\n").count() == line_ends;
    let document = document(&text).map_err(|fault| fault.of(path))?;
    Ok((document, has_crlf))
}

/// What is wrong with the text of a configuration file.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    NotToml(String),
    NoTable,
    /// There is none, but one that is spelt nearly so.
    Mistyped(String),
}

impl Fault {
    fn of(self, path: &Path) -> FileError {
        let path = path.to_owned();
        match self {
            Fault::NotToml(message) => FileError::NotToml { path, message },
            Fault::Mistyped(like) => FileError::BadConfig {
                path,
                fault: format!(
                    "`[{like}]` is not `[{TABLE}]`: rename it, or add an empty `[{TABLE}]` if it is another's"
                ),
            },
            Fault::NoTable => FileError::BadConfig {
                path,
                fault: format!("`{TABLE}` is no table: write `[{TABLE}]`, and the values under it"),
            },
        }
    }
}

fn document(text: &str) -> Result<DocumentMut, Fault> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let message = error.message().to_owned();
        let at = error.span().and_then(|span| text.get(..span.start));
        Fault::NotToml(match at {
            Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
            None => message,
        })
    })?;
    match document.get(TABLE) {
        Some(item) if item.as_table_like().is_none() => Err(Fault::NoTable),
        Some(_) => Ok(document),
        None => match mistyped(&document) {
            Some(like) => Err(Fault::Mistyped(like)),
            None => Ok(document),
        },
    }
}

/// A table that is spelt nearly as ours.
fn mistyped(document: &DocumentMut) -> Option<String> {
    let mut tables = document.iter().filter(|(_, item)| item.is_table_like());
    let like = tables.find(|(key, _)| nearest(&fold(key), [TABLE]).is_some());
    like.map(|(key, _)| key.to_owned())
}

/// A value as the word that means it.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        Value::Float(number) => Some(format!("{:?}", number.value())),
        Value::Boolean(is) => Some(is.value().to_string()),
        _ => None,
    }
}

/// The name that a key of a table has in all. An empty key in a table has the table's.
fn whole_name(prefix: &str, key: &str) -> String {
    match (prefix, key) {
        ("", key) => key.to_owned(),
        (prefix, "") => prefix.to_owned(),
        (prefix, key) => format!("{prefix}.{key}"),
    }
}

/// The values of a table by their whole name, tables in it included.
fn values(table: &dyn TableLike, prefix: &str, into: &mut Vec<(String, Option<String>)>) {
    for (key, item) in table.iter() {
        let name = whole_name(prefix, key);
        if let Some(table) = item.as_table_like() {
            values(table, &name, into);
        } else {
            into.push((name, item.as_value().and_then(word)));
        }
    }
}

/// The entries of a configuration file: names and words. A word is missing where the value is neither text,
/// number nor truth.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) ours: Vec<(String, Option<String>)>,
    /// What stands beside our table.
    beside: Vec<(String, Option<String>)>,
}

pub(crate) fn entries(text: &str) -> Result<Entries, Fault> {
    let mut document = document(text)?;
    let mut found = Entries::default();
    if let Some(table) = document.get(TABLE).and_then(Item::as_table_like) {
        values(table, "", &mut found.ours);
    }
    document.remove(TABLE);
    values(document.as_table(), "", &mut found.beside);
    Ok(found)
}

pub(super) fn load<H>(cx: &mut Cx<'_, H>, path: &Path) -> Result<ConfigRead, FileError> {
    registry::console(cx);
    let text = file::read(path, LIMIT)?.unwrap_or_default();
    let found = entries(&text).map_err(|fault| fault.of(path))?;
    let mut read = ConfigRead::default();
    let mut refuse = |cx: &mut Cx<'_, H>, name: String, error: VariableError| {
        let kind = ReportKind::Extension(&reports::VALUE_REFUSED);
        let what = format!("{}: {error}", path.display());
        cx.report(Report::new(kind, what).object(name.as_str()));
        read.refused.push((name, error.to_string()));
    };
    // Others may keep what they like there, but not under the name of a variable.
    for (name, _) in found.beside {
        if super::place::find(cx, &name).is_some() {
            let error = VariableError::NotAllowed {
                name: name.clone(),
                why: OUTSIDE.to_owned(),
            };
            refuse(cx, name, error);
        } else {
            cx.runtime_state::<Variables>().beside.insert(fold(&name));
        }
    }
    for (name, word) in found.ours {
        // Where it belongs, whatever an earlier file said.
        cx.runtime_state::<Variables>().beside.remove(&fold(&name));
        let outcome = match &word {
            Some(word) => cx.set_var_text(&name, word, SetBy::ConfigFile),
            None => Err(VariableError::NotAllowed {
                name: name.clone(),
                why: "the file holds neither a text, a number, true nor false".to_owned(),
            }),
        };
        match outcome {
            Ok(SetOutcome::Waiting) => read.waiting.push(name),
            Ok(_) => {
                read.set += 1;
                mark(cx, &name);
            }
            // Someone else's word counts more, as it should; the entry is good.
            Err(VariableError::LowerPriority { .. }) => {
                tracing::info!(target: "stillcooking", "console: `{name}` of the config file does not override who has set it");
                mark(cx, &name);
            }
            Err(error) => refuse(cx, name, error),
        }
    }
    Ok(read)
}

/// Notes that the file has a good entry of a variable.
fn mark<H>(cx: &mut Cx<'_, H>, name: &str) {
    if let Some(index) = super::place::find(cx, name)
        && let Some(slot) = cx.runtime_state::<Variables>().get_mut(index)
    {
        slot.in_file = true;
    }
}

/// What is to become of an entry of the file.
enum Fate {
    Write(Value),
    Remove,
}

pub(super) fn save<H>(cx: &mut Cx<'_, H>, path: &Path) -> Result<(), FileError> {
    let (mut document, has_crlf) = parse(path)?;
    let fates = fates(cx);
    if !document.contains_key(TABLE) {
        if fates.values().all(|(_, fate)| matches!(fate, Fate::Remove)) {
            note(cx, &fates);
            return Ok(());
        }
        // What stands at the end of the file stays before it.
        let end = document.trailing().as_str().unwrap_or_default().to_owned();
        let is_empty = document.is_empty() && end.is_empty();
        let mut table = toml_edit::Table::new();
        let gap = if is_empty { "" } else { "\n" };
        table.decor_mut().set_prefix(format!("{end}{gap}"));
        document.set_trailing("");
        document.insert(TABLE, Item::Table(table));
    }
    if let Some(table) = document.get_mut(TABLE).and_then(Item::as_table_like_mut) {
        let mut done = BTreeSet::new();
        update(table, "", &fates, &mut done);
        for (folded, (name, fate)) in &fates {
            if let Fate::Write(value) = fate
                && !done.contains(folded)
            {
                add(table, name, value).map_err(|()| FileError::BadConfig {
                    path: path.to_owned(),
                    fault: format!(
                        "`{name}` is a variable, and its entry an array of tables: rename one of them"
                    ),
                })?;
            }
        }
    }
    let mut text = document.to_string();
    if has_crlf {
        // No value of ours has a line break, and all those of others are `\r\n`.
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    if text.len() as u64 > LIMIT.bytes {
        return Err(too_long(path, &fates));
    }
    file::write(path, &text)?;
    note(cx, &fates);
    Ok(())
}

/// The error for what could not be read again.
fn too_long(path: &Path, fates: &BTreeMap<String, (String, Fate)>) -> FileError {
    let lengths = fates.values().map(|(name, fate)| match fate {
        Fate::Write(value) => (value.to_string().len(), name.as_str()),
        Fate::Remove => (0, name.as_str()),
    });
    let (bytes, name) = lengths.max().unwrap_or_default();
    FileError::WouldBeTooLong {
        path: path.to_owned(),
        limit: LIMIT.bytes,
        name: name.to_owned(),
        bytes,
    }
}

/// Adds an entry. What is there under its key is a table: a value was updated before. It stands in that
/// table then, under an empty key, and so on.
fn add(table: &mut dyn TableLike, key: &str, value: &Value) -> Result<(), ()> {
    match table.get_mut(key) {
        None => _ = table.insert(key, Item::Value(value.clone())),
        Some(item) => add(item.as_table_like_mut().ok_or(())?, "", value)?,
    }
    Ok(())
}

/// Notes what the file has now: the variable knows it, and the next one of its name gets it.
fn note<H>(cx: &mut Cx<'_, H>, fates: &BTreeMap<String, (String, Fate)>) {
    for (folded, (name, fate)) in fates {
        let index = super::place::find(cx, name);
        let variables = cx.runtime_state::<Variables>();
        let is_in_file = matches!(fate, Fate::Write(_));
        if let Some(slot) = index.and_then(|index| variables.get_mut(index)) {
            slot.in_file = is_in_file;
        } else if let Some(left) = variables.left.get_mut(folded) {
            left.in_file = is_in_file;
            if !is_in_file {
                // Nothing of it is anywhere any more.
                variables.left.remove(folded);
            }
        }
        match fate {
            Fate::Write(value) => {
                if let Some(word) = word(value) {
                    variables.wait(folded.clone(), &word, SetBy::ConfigFile);
                }
            }
            Fate::Remove => variables.wait_no_more(folded, SetBy::ConfigFile),
        }
    }
}

/// What is to become of the entries of archived variables, by folded name.
fn fates<H>(cx: &mut Cx<'_, H>) -> BTreeMap<String, (String, Fate)> {
    registry::sweep(cx);
    let infos: Vec<_> = registry::console(cx).entries.sorted().cloned().collect();
    let mut fates = BTreeMap::new();
    for info in infos.iter().filter(|info| info.flags.archive) {
        let Some(index) = super::place::find(cx, &info.name) else {
            continue;
        };
        let Some(slot) = cx.runtime_state::<Variables>().get(index) else {
            continue;
        };
        let fate = match slot.set_by {
            _ if slot.is_to_be_saved() => match value(slot) {
                Some(value) => Fate::Write(value),
                None => {
                    let kind = ReportKind::Extension(&reports::VALUE_REFUSED);
                    let what = "it was not saved: its type panicked";
                    cx.report(Report::new(kind, what).object(info.name.as_str()));
                    continue;
                }
            },
            SetBy::Constructor if slot.in_file => Fate::Remove,
            // For one run; or an entry that was refused, or never read, which is not ours to remove.
            _ => continue,
        };
        fates.insert(info.folded.clone(), (info.name.clone(), fate));
    }
    // One that has the name and is archived has it for itself, whatever it made of what was left.
    let has_name = |folded: &String| {
        let mut archived = infos.iter().filter(|info| info.flags.archive);
        archived.any(|info| info.folded == *folded)
    };
    let left = &cx.runtime_state::<Variables>().left;
    for (folded, left) in left.iter().filter(|(folded, _)| !has_name(folded)) {
        let fate = match &left.was {
            Was::Set(_, _, value) => Fate::Write(Value::clone(value)),
            Was::Reset => Fate::Remove,
            Was::ForOneRun => continue,
        };
        fates.insert(folded.clone(), (left.name.clone(), fate));
    }
    fates
}

/// The value of a variable in TOML: as what it is, else as text. `None` if its type panics.
pub(super) fn value(slot: &super::VariableSlot) -> Option<Value> {
    let value = &*slot.value;
    if let Some(&is) = value.downcast_ref::<bool>() {
        return Some(is.into());
    }
    let text = catch_unwind(AssertUnwindSafe(|| (slot.ops.show)(value))).ok()?;
    Some(number(value, &text).unwrap_or_else(|| on_one_line(text)))
}

/// A text as a value without a line break: what the ends of lines are in the file does not change it.
fn on_one_line(text: String) -> Value {
    if !text.contains(['\n', '\r']) {
        return text.into();
    }
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted.parse().unwrap_or_else(|_| text.into())
}

/// A number of one of Rust's types, as far as TOML has it.
fn number(value: &dyn Any, text: &str) -> Option<Value> {
    macro_rules! is_one_of {
        ($($type:ty),*) => { $(value.is::<$type>())||* };
    }
    if is_one_of!(
        i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize
    ) {
        text.parse::<i64>().ok().map(Value::from)
    } else if is_one_of!(f32, f64) {
        text.parse::<f64>().ok().map(Value::from)
    } else {
        None
    }
}

/// Updates the entries that are there, wherever they stand in the table.
fn update(
    table: &mut dyn TableLike,
    prefix: &str,
    fates: &BTreeMap<String, (String, Fate)>,
    done: &mut BTreeSet<String>,
) {
    let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
    for key in keys {
        let name = whole_name(prefix, &key);
        let folded = fold(&name);
        match table.get_mut(&key) {
            Some(item) if item.is_table_like() => {
                if let Some(table) = item.as_table_like_mut() {
                    update(table, &name, fates, done);
                }
                continue;
            }
            Some(Item::Value(old)) => match fates.get(&folded) {
                Some((_, Fate::Write(new))) => {
                    let mut new = new.clone();
                    // Its comment and its spaces stay.
                    *new.decor_mut() = old.decor().clone();
                    *old = new;
                }
                Some((_, Fate::Remove)) => {
                    table.remove(&key);
                }
                None => continue,
            },
            _ => continue,
        }
        done.insert(folded);
    }
}
