//! The commands that every console has.

use std::any::type_name;

use sc_core::Cx;

use crate::command::{CommandDef, Ended, OnVariable};
use crate::error::did_you_mean;
use crate::help;
use crate::info::{EntryInfo, EntryKind, Origin};
use crate::log;
use crate::name::{self, fold};
use crate::output::Output;
use crate::parse::parse_line;
use crate::registry::{self, Declared, console, snapshot};
use crate::run;
use crate::source::Source;
#[cfg(feature = "terminal")]
use crate::terminal::{Item, feeds_of};
use crate::variable::value_info;
use crate::{CommandError, dynamic_command};

/// All of them.
pub(crate) fn all<H>() -> Vec<CommandDef<H>> {
    let mut all = looking_around();
    all.extend(variables_and_lines());
    all.extend(about_the_console());
    all.extend(log::command::all());
    all
}

fn looking_around<H>() -> Vec<CommandDef<H>> {
    vec![
        dynamic_command! {
            /// Lists everything there is, or says everything about one name.
            help (
                /// The name of a command, a variable or an alias.
                #[suggest_from = Names]
                name: Option<String>,
            ) |cx: &mut Cx<'_, H>, out| {
                match name {
                    Some(name) => help_about(cx, &name, out),
                    None => help_about_all(cx, out),
                }
            }
        },
        dynamic_command! {
            /// Lists what has a text in its name or its help.
            find (
                /// The text, whatever its case.
                text: String,
            ) |cx: &mut Cx<'_, H>, out| {
                let text = fold(&text);
                let everything = snapshot(cx, out.source());
                let found = everything.entries().iter();
                let found = found.filter(|entry| {
                    let flags = entry.flags.to_string();
                    help::says(entry).any(|said| fold(said).contains(&text)) || flags.contains(&text)
                });
                let mut count = 0_usize;
                for entry in found {
                    count += 1;
                    list(cx, out, entry)?;
                }
                writeln!(out, "{count} found")?;
                Ok(())
            }
        },
        dynamic_command! {
            /// Shows the lines that were typed, oldest first, secrets as `***`.
            history () |cx: &mut Cx<'_, H>, out| {
                for line in console(cx).history.lines() {
                    writeln!(out, "{line}")?;
                }
                Ok(())
            }
        },
        dynamic_command! {
            /// Clears what is shown. The history stays.
            clear () |cx: &mut Cx<'_, H>, _out| {
                console(cx).shown.clear();
                #[cfg(feature = "terminal")]
                for feed in feeds_of(cx) {
                    feed.push(Item::Clear);
                }
                Ok(())
            }
        },
    ]
}

fn variables_and_lines<H>() -> Vec<CommandDef<H>> {
    vec![
        dynamic_command! {
            /// Sets a variable; the same as its name and the value.
            set (
                /// The name of the variable.
                #[suggest_from = Variables]
                name: String,
                /// Its new value; without one, the variable is shown.
                #[suggest_from = ValuesOfVariable]
                value: Option<String>,
            ) |_cx: &mut Cx<'_, H>, _out| {
                let _ = (name, value);
                Ok(Ended::OnVariable(OnVariable::Set))
            }
        },
        dynamic_command! {
            /// Restores a variable's default, and lets anyone set it again.
            reset (
                /// The name of the variable.
                #[suggest_from = Variables]
                name: String,
            ) |_cx: &mut Cx<'_, H>, _out| {
                let _ = name;
                Ok(Ended::OnVariable(OnVariable::Reset))
            }
        },
        dynamic_command! {
            /// Gives a line a name; or lists the names that were given. Words behind the name, when it is used, are put
            /// at the end of the line.
            alias (
                /// The name. Without a line, what it stands for is shown.
                #[suggest_from = Aliases]
                name: Option<String>,
                /// The line, in quotes if it has spaces. An empty one ("") takes the name away.
                #[suggest_from = Line]
                line: Option<String>,
            ) |cx: &mut Cx<'_, H>, out| {
                match (name, line) {
                    (None, _) => {
                        let console = console(cx);
                        let mut count = 0_usize;
                        for (_, alias) in console.aliases.sorted() {
                            count += 1;
                            writeln!(out, "{} stands for: {}", alias.name, alias.shown(console))?;
                        }
                        writeln!(out, "{count} in all")?;
                        Ok(())
                    }
                    (Some(name), None) => {
                        let console = console(cx);
                        let alias = console.aliases.get(&fold(&name));
                        let alias = alias.ok_or_else(|| no_alias(&name))?;
                        Ok(writeln!(out, "{} stands for: {}", alias.name, alias.shown(console))?)
                    }
                    (Some(name), Some(line)) => set_alias(cx, &name, &line, out.source()),
                }
            }
        },
        dynamic_command! {
            /// Runs a script: the lines of a file, one after the other. Or lists the scripts there are.
            exec (
                /// The file, in the folder of scripts; `.cfg` may be left out. Without one, they are listed.
                #[suggest = scripts]
                path: Option<String>,
                /// Whether to go on after a line that fails.
                keep_going: bool = false,
            ) |cx: &mut Cx<'_, H>, out| {
                let settings = &console(cx).settings;
                let Some(path) = path else {
                    let scripts = run::scripts(settings)?;
                    for script in &scripts.names {
                        writeln!(out, "  {script}")?;
                    }
                    let all = if scripts.more { "and more: there is too much to look at" } else { "in all" };
                    writeln!(out, "{} {all}", scripts.names.len())?;
                    return Ok(Ended::Now);
                };
                let lines = run::read_script(settings, &path, keep_going);
                let lines = lines.map_err(|error| CommandError::at("path", error))?;
                Ok(Ended::Lines(lines))
            }
        },
        dynamic_command! {
            /// Lists the lines that wait, oldest first.
            SC.Line.List () |cx: &mut Cx<'_, H>, out| {
                let lines = run::waiting_lines(cx, out.source());
                for line in &lines {
                    writeln!(out, "{line}")?;
                }
                writeln!(out, "{} in all", lines.len())?;
                Ok(())
            }
        },
        dynamic_command! {
            /// Gives up a line that waits: the rest of it is not run. What it waits for goes on.
            SC.Line.Cancel (
                /// Its number, as `SC.Line.List` shows it.
                #[suggest = waiting_numbers]
                number: u64,
            ) |cx: &mut Cx<'_, H>, out| {
                if !run::cancel_line(cx, number, out.source()) {
                    let text = format!("no line has number {number}: see `SC.Line.List`");
                    Err(CommandError::at("number", text))?;
                }
                Ok(())
            }
        },
        dynamic_command! {
            /// Goes on with the rest of the line, or of the script, some frames later.
            wait (
                /// How many frames.
                #[range = 0..=1_000_000]
                #[special(0 => "goes on at once")]
                frames: u64 = 1,
            ) |_cx: &mut Cx<'_, H>, _out| {
                Ok(if frames == 0 { Ended::Now } else { Ended::Frames(frames) })
            }
        },
    ]
}

fn waiting_numbers<H>(cx: &mut Cx<'_, H>, _typed: &str) -> Vec<String> {
    let asks = console(cx).suggesting.unwrap_or(Source::Local);
    let lines = run::waiting_lines(cx, asks);
    lines
        .into_iter()
        .map(|line| line.number.to_string())
        .collect()
}

/// The scripts, for completion. Without a folder of them there are none.
fn scripts<H>(cx: &mut Cx<'_, H>, _typed: &str) -> Vec<String> {
    let scripts = run::scripts(&console(cx).settings);
    scripts.map_or_else(|_| Vec::new(), |scripts| scripts.names)
}

fn about_the_console<H>() -> Vec<CommandDef<H>> {
    vec![
        dynamic_command! {
            /// Lists commands, variables and parameters that have no text.
            SC.Console.Lint () |cx: &mut Cx<'_, H>, out| {
                lint(cx, out)
            }
        },
        dynamic_command! {
            /// Says what the console has found: which registry is live, what was collected, what
            /// belongs to other hosts.
            SC.Console.SelfTest () |cx: &mut Cx<'_, H>, out| {
                self_test(cx, out)
            }
        },
        dynamic_command! {
            /// Turns cheats on or off, where the host's settings let the asker.
            SC.Console.Cheats (
                /// Whether they are to be on.
                on: bool,
            ) |cx: &mut Cx<'_, H>, out| {
                let settings = &mut console(cx).settings;
                let source = out.source();
                if !settings.cheat_granters.contains(&source) {
                    Err(format!(
                        "{source} may not grant cheats: `console_settings().cheat_granters` says who may"
                    ))?;
                }
                settings.cheats = on;
                writeln!(out, "cheats are {}", if on { "on" } else { "off" })?;
                Ok(())
            }
        },
    ]
}

/// A line of a list: how it is called, or a variable with its value; and what it is.
fn list<H>(cx: &mut Cx<'_, H>, out: &mut Output, entry: &EntryInfo) -> std::fmt::Result {
    let value = match entry.kind {
        EntryKind::Variable => value_info(cx, &entry.name),
        _ => None,
    };
    let head = match value {
        Some(value) => format!("{} = {}", entry.name, value.value),
        None => entry.usage(),
    };
    match entry.summary() {
        "" => writeln!(out, "  {head}"),
        summary => writeln!(out, "  {head}  {summary}"),
    }
}

fn help_about_all<H>(cx: &mut Cx<'_, H>, out: &mut Output) -> Result<(), CommandError> {
    let everything = snapshot(cx, out.source());
    let ours =
        |entry: &EntryInfo| entry.origin == Origin::BuiltIn || name::is_reserved(&entry.folded);
    for (title, is_ours) in [("This program:", false), ("The console:", true)] {
        let mut titled = false;
        for entry in everything.entries() {
            if ours(entry) == is_ours {
                if !titled {
                    writeln!(out, "{title}")?;
                    titled = true;
                }
                list(cx, out, entry)?;
            }
        }
    }
    for line in help::HOW_TO_WRITE.lines() {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn help_about<H>(cx: &mut Cx<'_, H>, name: &str, out: &mut Output) -> Result<(), CommandError> {
    let everything = snapshot(cx, out.source());
    let folded = fold(name);
    if let Some(entry) = everything.get(name) {
        let value = match entry.kind {
            EntryKind::Variable => value_info(cx, name),
            _ => None,
        };
        let lines = match value {
            Some(value) => help::variable(entry, &value),
            None => help::entry(entry),
        };
        for line in lines {
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    // What may not be used is not listed; whoever knows its name is told what running it would tell.
    if let Some(entry) = registry::live(cx, &folded) {
        let settings = &console(cx).settings;
        if let Some(barrier) = settings.barrier(entry.info.flags, out.source()) {
            let text = format!("`{}` {}", entry.info.name, barrier.text());
            Err(CommandError::at("name", text))?;
        }
    }
    // The name of a group.
    let group = format!("{}.", folded.trim_end_matches('.'));
    let entries = everything.entries().iter();
    let mut inside = entries
        .filter(|entry| entry.folded.starts_with(&group))
        .peekable();
    if inside.peek().is_none() {
        let near = run::nearest_visible(cx, &folded, out.source(), |_| true);
        let meant = did_you_mean(near.as_deref());
        Err(CommandError::at(
            "name",
            format!("there is nothing called `{name}`{meant}"),
        ))?;
    }
    for entry in inside {
        list(cx, out, entry)?;
    }
    Ok(())
}

fn no_alias(name: &str) -> CommandError {
    CommandError::at("name", format!("there is no alias `{name}`"))
}

fn set_alias<H>(
    cx: &mut Cx<'_, H>,
    name: &str,
    line: &str,
    source: Source,
) -> Result<(), CommandError> {
    let (console, folded) = (console(cx), fold(name));
    let before = console.aliases.get(&folded);
    if let Some(before) = before.filter(|before| !before.may_be_changed_by(source)) {
        let text = format!(
            "`{name}` was made by {}: {source} may not change it",
            before.by
        );
        Err(CommandError::at("name", text))?;
    }
    if line.trim().is_empty() {
        return match console.aliases.remove(name) {
            true => Ok(()),
            false => Err(no_alias(name)),
        };
    }
    let taken = console.entries.find(&folded);
    let taken = taken.and_then(|slot| console.entries.get(slot));
    let fault = match (name::fault(name), taken) {
        (Some(fault), _) => Some(fault.to_owned()),
        _ if name::is_reserved(&folded) => Some("`SC.` is the console's own".to_owned()),
        (None, Some(entry)) => Some(format!("it is a {}", entry.info.kind)),
        (None, None) => None,
    };
    if let Some(fault) = fault {
        let text = format!("`{name}` cannot be an alias: {fault}");
        Err(CommandError::at("name", text))?;
    }
    let parsed = parse_line(line);
    if let Some(error) = parsed.errors.first() {
        // Its line is not shown: it may hold secrets.
        let text = format!(
            "`{name}` cannot be an alias: at byte {} of this, {error}",
            error.span.start
        );
        Err(CommandError::at("line", text))?;
    }
    if parsed.commands.is_empty() {
        let text = format!("`{name}` cannot be an alias: there is no command in this");
        Err(CommandError::at("line", text))?;
    }
    console.aliases.set(name, line, source);
    Ok(())
}

fn lint<H>(cx: &mut Cx<'_, H>, out: &mut Output) -> Result<(), CommandError> {
    let everything = snapshot(cx, out.source());
    let console = console(cx);
    let (mut looked_at, mut found) = (0_usize, 0_usize);
    let entries = everything.entries().iter();
    for entry in entries.filter(|entry| entry.kind != EntryKind::Alias) {
        looked_at += 1;
        if entry.about.is_empty() {
            found += 1;
            writeln!(
                out,
                "{} `{}` has no text ({})",
                entry.kind, entry.name, entry.origin
            )?;
        }
        // The value of a variable has no text beside the variable's.
        let of_command = entry
            .params
            .iter()
            .filter(|_| entry.kind == EntryKind::Command);
        for param in of_command.filter(|param| param.about.is_empty()) {
            let is_raw = param.type_name == "words" && param.variadic;
            if !is_raw {
                found += 1;
                writeln!(
                    out,
                    "parameter `{}` of `{}` has no text ({})",
                    param.name, entry.name, entry.origin
                )?;
            }
        }
    }
    for (folded, alias) in console.aliases.sorted() {
        if console.entries.find(folded).is_some() {
            found += 1;
            writeln!(
                out,
                "alias `{}` has lost its name to a command or variable",
                alias.name
            )?;
        }
    }
    writeln!(out, "{looked_at} looked at, {found} found")?;
    let unseen = console.entries.sorted().count().saturating_sub(looked_at);
    if unseen > 0 {
        let source = out.source();
        writeln!(out, "{unseen} not looked at: {source} may not see them")?;
    }
    Ok(())
}

fn self_test<H>(cx: &mut Cx<'_, H>, out: &mut Output) -> Result<(), CommandError> {
    registry::sweep(cx);
    let collected = registry::collected();
    let console = console(cx);
    writeln!(out, "host: {}", type_name::<H>())?;
    writeln!(out, "registry: {}", console.registry.name())?;
    let count = |kind, is_static: bool| {
        let of_kind = console.entries.sorted().filter(|entry| entry.kind == kind);
        let of_origin = |entry: &&std::sync::Arc<EntryInfo>| {
            matches!(entry.origin, Origin::Static(_)) == is_static
        };
        of_kind.filter(of_origin).count()
    };
    let (commands, variables) = (collected.commands, collected.variables);
    let ours = collected.ours;
    writeln!(
        out,
        "collected: {commands} commands, {variables} variables; {ours} of them the console's own"
    )?;
    if !console.declared.is_empty() {
        let is_command = |declared: &&Declared| matches!(declared, Declared::Command(_));
        let commands = console.declared.iter().filter(is_command).count();
        let variables = console.declared.len() - commands;
        writeln!(
            out,
            "declared besides: {commands} commands, {variables} variables"
        )?;
    }
    writeln!(
        out,
        "live: {} static commands, {} static variables, {} other commands, {} other variables",
        count(EntryKind::Command, true),
        count(EntryKind::Variable, true),
        count(EntryKind::Command, false),
        count(EntryKind::Variable, false),
    )?;
    for (name, host) in console.elsewhere.values() {
        writeln!(out, "for another host: {name} ({host})")?;
    }
    // Added by hand, they are live all the same.
    let mut entries = console.entries.sorted();
    let is_own = |entry: &std::sync::Arc<EntryInfo>| {
        matches!(entry.origin, Origin::Static(_)) && !name::is_reserved(&entry.folded)
    };
    if commands + variables == ours && !entries.any(is_own) {
        out.warn(
            "nothing of the program's own was collected: if it declares any, this target or linker loses them; give them names, and call `add_commands` and `add_variables`",
        );
    }
    Ok(())
}
