//! What is known of an entry of the console: for help, lists, completion.

use std::fmt;

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntryKind {
    /// A command.
    Command,
    /// A variable.
    Variable,
    /// An alias.
    Alias,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryKind::Command => "command",
            EntryKind::Variable => "variable",
            EntryKind::Alias => "alias",
        })
    }
}

/// The flags of a command or a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct Flags {
    /// Refused unless cheats are on.
    pub cheat: bool,
    /// Seen and run by scripts only.
    pub hidden: bool,
    /// A variable that the console cannot set.
    pub read_only: bool,
    /// A variable that is kept in the configuration file.
    pub archive: bool,
    /// Refused where the host is no server.
    pub server_only: bool,
}

impl Flags {
    pub(crate) const NONE: Flags = Flags {
        cheat: false,
        hidden: false,
        read_only: false,
        archive: false,
        server_only: false,
    };
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (self.cheat, "cheat"),
            (self.hidden, "hidden"),
            (self.read_only, "read-only"),
            (self.archive, "archive"),
            (self.server_only, "server-only"),
        ];
        let set: Vec<&str> = names.iter().filter(|n| n.0).map(|n| n.1).collect();
        f.write_str(&set.join(", "))
    }
}

/// Where suggestions for an argument come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Suggest {
    /// From the values of its type, if there are some.
    #[default]
    Values,
    /// From a function over the live game.
    Live,
    /// From the names of everything.
    Names,
    /// From the names of variables.
    Variables,
    /// From the values of the variable that the argument before names.
    ValuesOfVariable,
    /// From the names of aliases.
    Aliases,
    /// A line of its own.
    Line,
}

/// A parameter: of a command, or the value of a variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ParamInfo {
    /// Its name.
    pub name: String,
    /// Its own text.
    pub about: String,
    /// The name of its type.
    pub type_name: String,
    /// Its default, as text.
    pub default: Option<String>,
    /// What is allowed, as text.
    pub range: Option<String>,
    /// Values with a meaning of their own, and that meaning.
    pub specials: Vec<(String, String)>,
    /// The values of its type, if they can be listed.
    pub values: Vec<String>,
    /// It can be left out.
    pub optional: bool,
    /// It takes everything that follows.
    pub variadic: bool,
    /// Its value is shown nowhere.
    pub secret: bool,
    /// Where suggestions come from.
    pub suggest: Suggest,
}

/// An entry of the console.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EntryInfo {
    /// Its name, as it was given.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its text; of an alias, the line it stands for.
    pub about: String,
    /// Its parameters; of a variable, its value.
    pub params: Vec<ParamInfo>,
    /// Its flags.
    pub flags: Flags,
    /// Where in the program it comes from.
    pub origin: Origin,
    /// The name as names are compared.
    pub(crate) folded: String,
}

/// Where in the program an entry comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Origin {
    /// Declared in the program, at a file and line.
    Static(String),
    /// Registered at run time, at a file and line.
    Dynamic(String),
    /// Part of the console.
    BuiltIn,
    /// Typed, or from a script.
    Typed,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Static(place) => write!(f, "declared at {place}"),
            Origin::Dynamic(place) => write!(f, "registered at {place}"),
            Origin::BuiltIn => f.write_str("built in"),
            Origin::Typed => f.write_str("an alias"),
        }
    }
}

impl EntryInfo {
    /// How it is called: its name and its parameters, those that may be left out in brackets.
    #[must_use]
    pub fn usage(&self) -> String {
        let mut usage = self.name.clone();
        for param in &self.params {
            let dots = if param.variadic { " .." } else { "" };
            if param.optional || self.kind == EntryKind::Variable {
                usage.push_str(&format!(" [{}{dots}]", param.name));
            } else {
                usage.push_str(&format!(" <{}{dots}>", param.name));
            }
        }
        usage
    }

    /// The first line of its text.
    #[must_use]
    pub fn summary(&self) -> &str {
        self.about.lines().next().unwrap_or_default()
    }

    /// Whether an argument, by its place, is a secret.
    #[must_use]
    pub fn is_secret(&self, argument: usize) -> bool {
        self.param(argument).is_some_and(|param| param.secret)
    }

    /// The parameter that an argument belongs to, by its place.
    #[must_use]
    pub fn param(&self, argument: usize) -> Option<&ParamInfo> {
        let last = self.params.last().filter(|last| last.variadic);
        self.params.get(argument).or(last)
    }
}

/// The text of doc comments: lines of a paragraph are joined, an empty line starts a new one.
pub(crate) fn doc_text(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines
        .iter()
        .flat_map(|line| line.split('\n'))
        .map(str::trim)
    {
        if line.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
        } else {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push(' ');
            }
            text.push_str(line);
        }
    }
    text.truncate(text.trim_end().len());
    text
}
