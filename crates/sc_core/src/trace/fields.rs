//! One line of a table: its fields, and the number in one of them.

use std::borrow::Cow;

use super::error::{LineProblem, clip};

/// Splits one line into its fields, with quotes kept; `None` if a quoted field never ends.
/// Without a separator the line is one field.
///
/// A quote counts only at a field's start, so that `my"game".exe` needs none.
pub(super) fn split<'a>(
    line: &'a str,
    separator: Option<char>,
    into: &mut Vec<&'a str>,
) -> Option<()> {
    into.clear();
    let Some(separator) = separator else {
        into.push(line);
        return Some(());
    };
    let mut rest = line;
    loop {
        let end = field_end(rest, separator)?;
        let (field, after) = rest.split_at_checked(end)?;
        into.push(field);
        match after.strip_prefix(separator) {
            Some(next) => rest = next,
            None => return Some(()),
        }
    }
}

/// Where the field `rest` begins with ends, in bytes; `None` if its quote never does.
fn field_end(rest: &str, separator: char) -> Option<usize> {
    let blank = |c: char| c != separator && c.is_whitespace();
    let body = rest.trim_start_matches(blank);
    let mut from = rest.len() - body.len();
    if body.starts_with('"') {
        from += 1;
        loop {
            from += rest.get(from..)?.find('"')? + 1;
            // A doubled quote stands for one inside the field.
            if !rest.get(from..)?.starts_with('"') {
                break;
            }
            from += 1;
        }
    }
    let end = rest.get(from..)?.find(separator);
    Some(end.map_or(rest.len(), |at| from + at))
}

/// A field without its blanks and quotes.
pub(super) fn clean(field: &str) -> Cow<'_, str> {
    let field = field.trim();
    let inner = field.strip_prefix('"').and_then(|f| f.strip_suffix('"'));
    match inner {
        Some(inner) if inner.contains("\"\"") => Cow::Owned(inner.replace("\"\"", "\"")),
        Some(inner) => Cow::Borrowed(inner.trim()),
        None => Cow::Borrowed(field),
    }
}

/// What a frame time field says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    /// `NA`.
    NotAvailable,
    /// A finite number, zero or more.
    Is(f64),
}

/// The number in a cleaned field. With `decimal_comma`, one comma may stand for the point.
pub(super) fn number(text: &str, decimal_comma: bool) -> Result<Number, LineProblem> {
    if text.is_empty() {
        return Err(LineProblem::Missing);
    }
    if text.eq_ignore_ascii_case("na") || text.eq_ignore_ascii_case("n/a") {
        return Ok(Number::NotAvailable);
    }
    let pointed = if decimal_comma && !text.contains('.') {
        Cow::Owned(text.replacen(',', ".", 1))
    } else {
        Cow::Borrowed(text)
    };
    let text = || clip(text);
    let Ok(value) = pointed.parse::<f64>() else {
        return Err(LineProblem::NotANumber { text: text() });
    };
    let spelled_out = !pointed.contains(|c: char| c.is_ascii_digit());
    if value.is_nan() {
        Err(LineProblem::Nan)
    } else if value.is_infinite() && spelled_out {
        Err(LineProblem::Infinite)
    } else if value < 0.0 {
        Err(LineProblem::Negative { text: text() })
    } else {
        // Digits beyond an f64 are no infinity, but far beyond an hour all the same.
        Ok(Number::Is(value.min(f64::MAX)))
    }
}

/// Whether the text at the end of a file is the beginning of a frame time, and not a whole one.
pub(super) fn is_stump(text: &str, number: &Result<Number, LineProblem>) -> bool {
    let begins = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '+' | 'e' | 'E' | '-');
    let begun = text.chars().all(begins) || matches!(text, "N" | "n" | "N/" | "n/");
    match number {
        Ok(_) => text.ends_with(['.', ',']),
        Err(LineProblem::Negative { .. }) => false,
        Err(_) => begun,
    }
}

/// Digits after the point, of a number without an exponent.
pub(super) fn decimals(text: &str, decimal_comma: bool) -> usize {
    let point = |c| c == '.' || (decimal_comma && c == ',');
    text.rsplit_once(point).map_or(0, |(_, after)| after.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, separator: char) -> Option<Vec<String>> {
        let mut raw = Vec::new();
        split(line, Some(separator), &mut raw)?;
        Some(raw.into_iter().map(|f| clean(f).into_owned()).collect())
    }

    fn strings(of: &[&str]) -> Option<Vec<String>> {
        Some(of.iter().map(|&s| s.to_owned()).collect())
    }

    #[test]
    fn fields_are_split_trimmed_and_unquoted() {
        assert_eq!(fields("a, b ,c", ','), strings(&["a", "b", "c"]));
        assert_eq!(fields("", ','), strings(&[""]));
        assert_eq!(fields("a,", ','), strings(&["a", ""]));
        assert_eq!(fields("a\t\tb", '\t'), strings(&["a", "", "b"]));
        assert_eq!(fields("\"a,b\";c", ';'), strings(&["a,b", "c"]));
        assert_eq!(fields(" \"a,b\" ,c", ','), strings(&["a,b", "c"]));
        assert_eq!(
            fields("\"say \"\"hi\"\", you\",2", ','),
            strings(&["say \"hi\", you", "2"])
        );
        assert_eq!(
            fields("my\"game.exe,2", ','),
            strings(&["my\"game.exe", "2"])
        );
        assert_eq!(fields("\"\",\"ü\"", ','), strings(&["", "ü"]));
        assert_eq!(fields("a,\"b", ','), None);
        assert_eq!(fields("\"", ','), None);
        assert_eq!(fields("\"\"\"", ','), None);
    }

    #[test]
    fn numbers_by_kind() {
        assert_eq!(number("16.683", false), Ok(Number::Is(16.683)));
        assert_eq!(number("16,683", true), Ok(Number::Is(16.683)));
        assert_eq!(number("16.683", true), Ok(Number::Is(16.683)));
        assert_eq!(number("-0", false), Ok(Number::Is(0.0)));
        assert_eq!(number("1.6e1", false), Ok(Number::Is(16.0)));
        assert_eq!(number("Na", false), Ok(Number::NotAvailable));
        assert_eq!(number("N/A", false), Ok(Number::NotAvailable));
        assert_eq!(number("1e999", false), Ok(Number::Is(f64::MAX)));
        assert_eq!(number("nan", false), Err(LineProblem::Nan));
        assert_eq!(number("-inf", false), Err(LineProblem::Infinite));
        assert_eq!(number("", false), Err(LineProblem::Missing));
        let not = |text: &str| Err(LineProblem::NotANumber { text: text.into() });
        assert_eq!(number("16,683", false), not("16,683"));
        assert_eq!(number("1.234,5", true), not("1.234,5"));
        assert_eq!(number("1,234,5", true), not("1,234,5"));
        assert_eq!(number("0x10", false), not("0x10"));
        let negative = LineProblem::Negative {
            text: "-1e999".into(),
        };
        assert_eq!(number("-1e999", false), Err(negative));
    }

    #[test]
    fn decimals_are_counted() {
        assert_eq!(decimals("16.683", false), 3);
        assert_eq!(decimals("16", false), 0);
        assert_eq!(decimals("16.", false), 0);
        assert_eq!(decimals("16,68", true), 2);
    }
}
