//! Help: everything there is to say about an entry. Nothing that a parameter says is left out.

use crate::info::{EntryInfo, EntryKind, ParamInfo};
use crate::variable::VariableInfo;

/// What stands where there is no text.
const NO_TEXT: &str = "(no text)";

/// What stands under the list of everything: how a line is written, and where there is more.
pub(crate) const HOW_TO_WRITE: &str = "\
How to write a line:
  name word ..  Runs a command. The name of a variable shows it; with a value, sets it.
  one; two  Runs one after the other. What fails ends the line.
  \"two words\" or 'two words'  Is one word. In quotes \\\" \\' \\\\ \\n \\r \\t mean what they do elsewhere.
  // text  Is a comment.
More: help <name> about one of them; exec alone lists the scripts, alias alone the aliases";

fn or_no_text(text: &str) -> &str {
    if text.is_empty() { NO_TEXT } else { text }
}

/// All that help says of an entry itself, piece by piece: where in the program it is from is not part of it.
pub(crate) fn says(info: &EntryInfo) -> impl Iterator<Item = &str> {
    let of_params = info.params.iter().flat_map(|param| {
        let specials = param.specials.iter();
        let specials = specials.flat_map(|special| [special.0.as_str(), special.1.as_str()]);
        let texts = [&param.name, &param.about, &param.type_name];
        let values = param
            .values
            .iter()
            .chain(&param.default)
            .chain(&param.range);
        texts
            .into_iter()
            .chain(values)
            .map(String::as_str)
            .chain(specials)
    });
    [info.name.as_str(), info.about.as_str()]
        .into_iter()
        .chain(of_params)
}

/// Everything about a command or an alias.
pub(crate) fn entry(info: &EntryInfo) -> Vec<String> {
    let mut lines = Vec::new();
    if info.kind == EntryKind::Alias {
        lines.push(format!("{} stands for: {}", info.name, info.about));
    } else {
        lines.push(info.usage());
        push_text(&mut lines, "  ", or_no_text(&info.about));
    }
    for param in &info.params {
        lines.push(format!("  {}: {}", param.name, properties(param)));
        push_text(&mut lines, "      ", or_no_text(&param.about));
        push_specials(&mut lines, param);
    }
    push_rest(&mut lines, info);
    lines
}

/// Everything about a variable: value, default, who set it, and its help.
pub(crate) fn variable(info: &EntryInfo, now: &VariableInfo) -> Vec<String> {
    let mut lines = vec![format!(
        "{} = {} (default {}, set by {})",
        info.name, now.value, now.default, now.set_by
    )];
    push_text(&mut lines, "  ", or_no_text(&info.about));
    for param in &info.params {
        let mut param = param.clone();
        (param.default, param.optional) = (None, false);
        lines.push(format!("  {}", properties(&param)));
        push_specials(&mut lines, &param);
    }
    push_rest(&mut lines, info);
    lines
}

fn push_text(lines: &mut Vec<String>, indent: &str, text: &str) {
    lines.extend(text.lines().map(|line| format!("{indent}{line}")));
}

fn push_specials(lines: &mut Vec<String>, param: &ParamInfo) {
    for (value, meaning) in &param.specials {
        lines.push(format!("      {value} = {meaning}"));
    }
}

fn push_rest(lines: &mut Vec<String>, info: &EntryInfo) {
    let flags = info.flags.to_string();
    let flags = if flags.is_empty() {
        flags
    } else {
        format!("{flags}; ")
    };
    let kind = match info.kind {
        EntryKind::Command => "command, ",
        EntryKind::Variable => "variable, ",
        EntryKind::Alias => "",
    };
    lines.push(format!("  {flags}{kind}{}", info.origin));
}

/// The type of a parameter, its default, its range, its values.
fn properties(param: &ParamInfo) -> String {
    let mut parts = vec![param.type_name.clone()];
    if let Some(range) = &param.range {
        parts.push(range.clone());
    }
    if !param.values.is_empty() {
        parts.push(format!("one of {}", param.values.join(", ")));
    }
    match &param.default {
        Some(_) if param.secret => parts.push("may be left out".to_owned()),
        Some(default) if !(param.variadic && default.is_empty()) => {
            parts.push(format!("default {default}"));
        }
        _ if param.optional && !param.variadic => {
            parts.push("may be left out".to_owned());
        }
        _ => {}
    }
    if param.variadic {
        parts.push("any number".to_owned());
    }
    if param.secret {
        parts.push("secret".to_owned());
    }
    parts.join(", ")
}
