//! What is known of an entry of the console: for help, lists, completion.

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

/// Where suggestions for an argument come from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
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
}

/// A parameter: of a command, or the value of a variable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
pub struct EntryInfo {
    /// Its name, as it was given.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its text.
    pub about: String,
    /// Its parameters; of a variable, its value.
    pub params: Vec<ParamInfo>,
    /// Its flags.
    pub flags: Flags,
}
