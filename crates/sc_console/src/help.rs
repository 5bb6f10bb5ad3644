//! Help: everything there is to say about an entry. Nothing that a parameter says is left out.

use crate::info::{EntryInfo, EntryKind, ParamInfo};
use crate::variable::VariableInfo;

/// What stands where there is no text.
const NO_TEXT: &str = "(no text)";

fn or_no_text(text: &str) -> &str {
    if text.is_empty() { NO_TEXT } else { text }
}

/// Everything about a command or an alias.
pub(crate) fn entry(info: &EntryInfo) -> Vec<String> {
    if info.kind == EntryKind::Alias {
        return vec![format!("{} stands for: {}", info.name, info.about)];
    }
    let mut lines = vec![info.usage()];
    push_text(&mut lines, "  ", or_no_text(&info.about));
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
