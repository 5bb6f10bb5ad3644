//! The marker under a bad word, and how places move when secrets are taken out of a line.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::visible::visible;

/// How many columns a text takes as it is shown.
fn width(text: &str) -> usize {
    visible(text).chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The line, and below it a marker under the span with what is to say about it.
pub(crate) fn mark(line: &str, span: &Range<usize>, text: &str) -> String {
    let before = line.get(..span.start).unwrap_or(line);
    let marked = line.get(span.clone()).unwrap_or_default();
    let mut out = visible(line);
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', width(before)));
    out.extend(std::iter::repeat_n('^', width(marked).max(1)));
    out.push(' ');
    out.push_str(text);
    out
}

/// Which parts of a line were replaced by another text: where a place of the line is now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shifts(Vec<(Range<usize>, usize)>);

impl Shifts {
    /// Replaces parts of a line, in order, none overlapping.
    pub(crate) fn replace(line: &str, parts: &[Range<usize>], by: &str) -> (String, Shifts) {
        let (mut text, mut at) = (String::with_capacity(line.len()), 0);
        let mut shifts = Shifts::default();
        for part in parts {
            text.push_str(line.get(at..part.start).unwrap_or_default());
            text.push_str(by);
            shifts.0.push((part.clone(), by.len()));
            at = part.end;
        }
        text.push_str(line.get(at..).unwrap_or_default());
        (text, shifts)
    }

    /// Where a span is now. In what was replaced, the whole of the replacement.
    pub(crate) fn map(&self, span: &Range<usize>) -> Range<usize> {
        let mut shift = 0_isize;
        let signed = |n: usize| isize::try_from(n).unwrap_or(isize::MAX);
        for (part, by) in &self.0 {
            if part.end <= span.start {
                shift += signed(*by) - signed(part.len());
            } else if part.start <= span.start {
                let start = part.start.saturating_add_signed(shift);
                return start..start + by;
            }
        }
        span.start.saturating_add_signed(shift)..span.end.saturating_add_signed(shift)
    }
}
