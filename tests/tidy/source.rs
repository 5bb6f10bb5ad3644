//! Just enough reading of Rust source for the tidy test: what is code and what is comment or
//! literal, where the tests of a file begin, what a string literal says, which variants an enum has.

/// The text with every comment and every string and character literal overwritten by spaces.
/// Line breaks and byte positions stay.
pub(crate) fn code_only(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut previous = ' ';
    while let Some(first) = rest.chars().next() {
        let opaque = opaque_len(rest, previous);
        let (head, tail) = rest.split_at(if opaque == 0 {
            first.len_utf8()
        } else {
            opaque
        });
        for c in head.chars() {
            if opaque == 0 || c == '\n' {
                out.push(c);
            } else {
                out.extend(std::iter::repeat_n(' ', c.len_utf8()));
            }
            previous = c;
        }
        rest = tail;
    }
    out
}

/// The length in bytes of the comment or literal that `text` starts with, or 0.
fn opaque_len(text: &str, previous: char) -> usize {
    let comment = comment_len(text);
    if comment > 0 {
        return comment;
    }
    if text.starts_with('\'') {
        return char_literal_len(text);
    }
    // `r"` is a raw string, but not at the end of a name; `br"` and `cr"` are seen at their `b`, `c`.
    let prefix = match text.get(..2) {
        Some("br" | "cr") => 1,
        _ => 0,
    };
    let literal = text.get(prefix..).unwrap_or_default();
    if literal.starts_with('r') && is_name(previous) {
        return 0;
    }
    read_literal(literal).map_or(0, |(_, rest)| text.len() - rest.len())
}

fn comment_len(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if !text.starts_with("/*") {
        return 0;
    }
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let step = if rest.starts_with("/*") {
            depth += 1;
            2
        } else if rest.starts_with("*/") {
            depth -= 1;
            2
        } else {
            c.len_utf8()
        };
        rest = rest.split_at(step).1;
        if depth == 0 {
            break;
        }
    }
    text.len() - rest.len()
}

/// The length of a character literal, 0 for a lifetime.
fn char_literal_len(text: &str) -> usize {
    let mut chars = text.chars();
    chars.next();
    match chars.next() {
        Some('\\') => {
            chars.next();
            let tail = chars.as_str();
            tail.find('\'')
                .map_or(0, |end| text.len() - tail.len() + end + 1)
        }
        Some(_) if chars.next() == Some('\'') => text.len() - chars.as_str().len(),
        _ => 0,
    }
}

pub(crate) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The value of the string literal (plain or raw) that `text` starts with, and what follows it.
pub(crate) fn read_literal(text: &str) -> Option<(String, &str)> {
    if let Some(raw) = text.strip_prefix('r') {
        let body = raw.trim_start_matches('#');
        let close = format!("\"{}", "#".repeat(raw.len() - body.len()));
        let (value, rest) = body.strip_prefix('"')?.split_once(close.as_str())?;
        return Some((value.to_owned(), rest));
    }
    let mut chars = text.strip_prefix('"')?.chars();
    let mut value = String::new();
    loop {
        match chars.next()? {
            '"' => return Some((value, chars.as_str())),
            '\\' => match chars.next()? {
                // A line that goes on below: the break and the indentation are not part of it.
                '\n' | '\r' => chars = chars.as_str().trim_start().chars(),
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                '0' => value.push('\0'),
                'x' => {
                    let code = chars
                        .as_str()
                        .get(..2)
                        .and_then(|hex| u8::from_str_radix(hex, 16).ok())?;
                    value.push(char::from(code));
                    chars = chars.as_str().get(2..)?.chars();
                }
                'u' => {
                    let (hex, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                    value.push(
                        u32::from_str_radix(&hex.replace('_', ""), 16)
                            .ok()
                            .and_then(char::from_u32)?,
                    );
                    chars = rest.chars();
                }
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
}

/// What the argument of one `#[error(..)]` attribute is.
#[derive(Debug, PartialEq)]
pub(crate) enum ErrorAttribute {
    /// A literal message, as the source has it, or the literals of a `concat!` put together.
    Message(String),
    /// Hands on the message of another error.
    Transparent,
    /// Anything else.
    Other,
}

/// The `#[error(..)]` attributes of a source text, each with its line.
pub(crate) fn error_attributes(text: &str) -> Vec<(usize, ErrorAttribute)> {
    let mut found = Vec::new();
    for (at, opening) in code_only(text).match_indices("#[error(") {
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let argument = skip_blanks(text.get(at + opening.len()..).unwrap_or_default());
        let attribute = if argument.starts_with("transparent") {
            ErrorAttribute::Transparent
        } else if let Some((message, _)) = read_literal(argument) {
            ErrorAttribute::Message(message)
        } else if let Some(list) = argument.strip_prefix("concat!(") {
            read_concat(list).map_or(ErrorAttribute::Other, ErrorAttribute::Message)
        } else {
            ErrorAttribute::Other
        };
        found.push((line, attribute));
    }
    found
}

/// Spaces and comments skipped.
fn skip_blanks(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        match comment_len(rest) {
            0 => return rest,
            len => rest = rest.split_at(len).1.trim_start(),
        }
    }
}

fn read_concat(list: &str) -> Option<String> {
    let mut value = String::new();
    let mut rest = skip_blanks(list);
    while !rest.starts_with(')') {
        let (part, after) = read_literal(rest)?;
        value.push_str(&part);
        let after = skip_blanks(after);
        rest = skip_blanks(after.strip_prefix(',').unwrap_or(after));
    }
    Some(value)
}

/// A string literal between brackets.
#[derive(Debug, PartialEq)]
pub(crate) struct Literal {
    /// Its line in the whole text.
    pub(crate) line: usize,
    /// How many brackets are open around it, the first one counted.
    pub(crate) depth: usize,
    /// Whether a comma stands before it that is inside the first bracket only.
    pub(crate) after_comma: bool,
    pub(crate) value: String,
}

/// The string literals between the first bracket at or behind byte `from` and the one that closes it.
pub(crate) fn literals_in_brackets(text: &str, from: usize) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut rest = text.get(from..).unwrap_or_default();
    let mut previous = ' ';
    let (mut depth, mut after_comma) = (0_usize, false);
    while let Some(first) = rest.chars().next() {
        let opaque = opaque_len(rest, previous);
        if opaque > 0 {
            if depth > 0
                && let Some((value, _)) = read_literal(rest)
            {
                let before = text.len() - rest.len();
                let line = text.get(..before).unwrap_or_default().matches('\n').count() + 1;
                found.push(Literal {
                    line,
                    depth,
                    after_comma,
                    value,
                });
            }
        } else if matches!(first, '(' | '[' | '{') {
            depth += 1;
        } else if matches!(first, ')' | ']' | '}') {
            if depth <= 1 {
                break;
            }
            depth -= 1;
        } else if first == ',' && depth == 1 {
            after_comma = true;
        }
        previous = first;
        rest = rest.split_at(opaque.max(first.len_utf8())).1;
    }
    found
}

/// The text before its `#[cfg(test)] mod name { .. }`. A `mod tests;` ends nothing: that module is
/// in a file of its own.
pub(crate) fn before_tests(text: &str) -> &str {
    let code = code_only(text);
    let mut marked = None;
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with("#[cfg(test)]") {
            marked = Some(at);
        }
        let item = trimmed.trim_start_matches("#[cfg(test)]").trim_start();
        if let Some(start) = marked
            && !item.is_empty()
            && !item.starts_with("#[")
        {
            if item.split_whitespace().any(|word| word == "mod") && item.contains('{') {
                return text.get(..start).unwrap_or(text);
            }
            marked = None;
        }
        at += line.len();
    }
    text
}

/// The variants of `pub enum name`, or `None` where the text has no such enum.
pub(crate) fn enum_variants(text: &str, name: &str) -> Option<Vec<String>> {
    let code = code_only(text);
    let opening = format!("pub enum {name}");
    let body = code
        .match_indices(&opening)
        .filter_map(|(at, _)| {
            code.get(at + opening.len()..)?
                .trim_start()
                .strip_prefix('{')
        })
        .next()?;
    let mut variants = Vec::new();
    let mut word = String::new();
    let mut depth = 0_usize;
    let mut expected = true;
    for c in body.chars() {
        if depth == 0 && expected && is_name(c) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            variants.push(std::mem::take(&mut word));
            expected = false;
        }
        match c {
            '}' if depth == 0 => break,
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => expected = true,
            _ => {}
        }
    }
    Some(variants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let text = "a(); // x\n/* y /* y */ y */ b::<'a>('\\'', 'c', \"d\\\"d\", r#\"e\"e\"#, br\"f\", xr) ä \"ö\"";
        let code = code_only(text);
        assert_eq!(code.len(), text.len());
        let words: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(
            words,
            ["a();", "b::<'a>(", ",", ",", ",", ",", ",", "xr)", "ä"]
        );
    }

    #[test]
    fn literals_are_read_as_the_compiler_does() {
        let read = |text| read_literal(text).map(|(value, _)| value);
        assert_eq!(read(r#""a\tb\u{e4}\x41\"" rest"#).unwrap(), "a\tbäA\"");
        assert_eq!(read("\"one \\\n     two\"").unwrap(), "one two");
        assert_eq!(read("r##\"a\"#b\\n\"## rest").unwrap(), "a\"#b\\n");
        assert_eq!(read("\"open"), None);
        assert_eq!(read("name"), None);
    }

    #[test]
    fn error_attributes_are_found_in_code_only() {
        let text = "//! #[error(\"no\")]\n#[error(\n  // why\n  \"one {0}\"\n)]\n#[error(transparent)]\n\
                    #[error(concat!(\"two \", \"three\",))]\n#[error(fmt = f)]\nlet s = \"#[error(\\\"no\\\")]\";";
        assert_eq!(
            error_attributes(text),
            [
                (2, ErrorAttribute::Message("one {0}".to_owned())),
                (6, ErrorAttribute::Transparent),
                (7, ErrorAttribute::Message("two three".to_owned())),
                (8, ErrorAttribute::Other),
            ]
        );
    }

    #[test]
    fn literals_between_brackets_are_found() {
        let text =
            "let a = \"no\";\nf(\"one\", // \"no\"\n [g(\"two\", 'x')], r\"three\"); h(\"no\")";
        let found: Vec<_> = literals_in_brackets(text, 0)
            .into_iter()
            .map(|l| (l.line, l.depth, l.after_comma, l.value))
            .collect();
        assert_eq!(
            found,
            [
                (2, 1, false, "one".to_owned()),
                (3, 3, true, "two".to_owned()),
                (3, 1, true, "three".to_owned()),
            ]
        );
        assert_eq!(literals_in_brackets("no \"brackets\"", 0), []);
        assert_eq!(literals_in_brackets("(", 9), []);
    }

    #[test]
    fn tests_begin_at_a_module_with_a_body() {
        assert_eq!(
            before_tests("a\n#[cfg(test)]\n#[allow(x)]\nmod t {\n}\n"),
            "a\n"
        );
        assert_eq!(before_tests("a\n#[cfg(test)] mod t { }\n"), "a\n");
        for all in [
            "#[cfg(test)]\nmod t;\na\n",
            "#[cfg(test)]\nuse x::{y};\nmod t {}\n",
            "// #[cfg(test)] mod t {\na",
        ] {
            assert_eq!(before_tests(all), all);
        }
    }

    #[test]
    fn variants_are_read_with_and_without_fields() {
        let text = "pub enum KindOther { No }\n#[x]\npub enum Kind {\n /// Doc, doc.\n #[y(A, B)]\n One,\n \
                    Two { a: u8, b: u8 },\n Three(u8, u8),\n Four = 4,\n Five\n}\nenum After { Six }";
        assert_eq!(
            enum_variants(text, "Kind").unwrap(),
            ["One", "Two", "Three", "Four", "Five"]
        );
        assert_eq!(enum_variants("enum Kind { One }", "Kind"), None);
    }
}
