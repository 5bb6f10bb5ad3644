//! Which line is the header, what separates its fields, and which column holds what.

use super::error::{LineProblem, TraceError, clip};
use super::fields;
use super::source::{TraceFormat, TraceUnit};

/// The accepted column names, for messages. In any case; blanks and punctuation do not count.
pub(super) const ACCEPTED: &str = "MsBetweenPresents, frametime (FrameTime), frametime_ms, \
                                   frametime_us, frametime_ns, MsBetweenAppStart";

/// The unit a column's name tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Named {
    /// The name tells it.
    Is(TraceUnit),
    /// Milliseconds, unless a column `fps` tells otherwise.
    Untold,
}

/// Accepted names, the best first; folded.
const NAMES: [(&str, Named); 7] = [
    ("msbetweenpresents", Named::Is(TraceUnit::Milliseconds)),
    ("frametime", Named::Untold),
    ("frametimems", Named::Is(TraceUnit::Milliseconds)),
    ("frametimeus", Named::Is(TraceUnit::Microseconds)),
    ("frametimeµs", Named::Is(TraceUnit::Microseconds)),
    ("frametimens", Named::Is(TraceUnit::Nanoseconds)),
    ("msbetweenappstart", Named::Is(TraceUnit::Milliseconds)),
];

/// How many lines before the header are looked at; MangoHud has six.
const PREAMBLE: usize = 32;

/// How to read the rows.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) separator: Option<char>,
    /// Fields of the header, without empty ones at its end.
    pub(super) width: usize,
    pub(super) frame: usize,
    pub(super) unit: Named,
    pub(super) name: Option<String>,
    pub(super) fps: Option<usize>,
    pub(super) elapsed: Option<usize>,
    pub(super) application: Option<usize>,
    pub(super) process_id: Option<usize>,
    pub(super) swap_chain: Option<usize>,
    pub(super) format: TraceFormat,
    /// How many lines come before the first row.
    pub(super) skip: usize,
    pub(super) comments: usize,
    pub(super) preamble: usize,
}

impl Layout {
    /// A comma is a decimal comma if and only if it does not separate.
    pub(super) fn decimal_comma(&self) -> bool {
        self.separator != Some(',')
    }

    fn plain(name: Option<String>, unit: Named) -> Self {
        Layout {
            separator: None,
            width: 1,
            frame: 0,
            unit,
            name,
            fps: None,
            elapsed: None,
            application: None,
            process_id: None,
            swap_chain: None,
            format: TraceFormat::Plain,
            skip: 0,
            comments: 0,
            preamble: 0,
        }
    }
}

/// Whether a line is a comment: it begins with `#` or `//`.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') || line.starts_with("//")
}

/// Finds the header, or that the file is one column without one.
pub(super) fn locate(lines: &[&str]) -> Result<Layout, TraceError> {
    let mut seen = Vec::new();
    let (mut comments, mut info) = (0, false);
    for (index, &line) in lines.iter().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if is_comment(line) {
            comments += 1;
            info |= line.trim_start().starts_with("//");
            continue;
        }
        let first = seen.is_empty();
        let found = match first.then(|| headerless(line)).flatten() {
            Some(Err(problem)) => {
                return Err(TraceError::Line {
                    line: index + 1,
                    problem,
                });
            }
            Some(Ok(layout)) => Some(Layout {
                skip: index,
                ..layout
            }),
            None => header(line).map(|layout| Layout {
                skip: index + 1,
                ..layout
            }),
        };
        if let Some(mut layout) = found {
            layout.comments = comments;
            layout.preamble = seen.len();
            if info && layout.format == TraceFormat::PresentMon {
                layout.format = TraceFormat::CapFrameX;
            }
            return Ok(layout);
        }
        seen.push((index, line, comments));
        if seen.len() > PREAMBLE {
            break;
        }
    }
    own_name(&seen)
}

/// A first line that is a number already.
fn headerless(line: &str) -> Option<Result<Layout, LineProblem>> {
    let text = fields::clean(line);
    let number = match fields::number(&text, false) {
        Err(LineProblem::NotANumber { .. } | LineProblem::Missing) => None,
        _ => Some(Ok(Layout::plain(None, Named::Untold))),
    };
    let doubtful = || {
        let (whole, after) = text.split_once(',')?;
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        (digits(whole) && digits(after))
            .then(|| Err(LineProblem::DecimalComma { text: clip(&text) }))
    };
    number.or_else(doubtful)
}

/// A line that names a frame time column, split by whichever separator gives most fields.
fn header(line: &str) -> Option<Layout> {
    let mut best: Option<Layout> = None;
    for separator in [None, Some(','), Some(';'), Some('\t')] {
        let Some(names) = split_header(line, separator) else {
            continue;
        };
        let wider = best.as_ref().is_none_or(|b| names.len() > b.width);
        if wider && let Some(layout) = columns(&names, separator) {
            best = Some(layout);
        }
    }
    best
}

fn split_header(line: &str, separator: Option<char>) -> Option<Vec<String>> {
    let mut raw = Vec::new();
    fields::split(line, separator, &mut raw)?;
    let mut names: Vec<_> = raw
        .into_iter()
        .map(|f| fields::clean(f).into_owned())
        .collect();
    while names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    Some(names)
}

fn columns(names: &[String], separator: Option<char>) -> Option<Layout> {
    let folded: Vec<_> = names.iter().map(|name| fold(name)).collect();
    let find = |wanted: &str| folded.iter().position(|name| name == wanted);
    let (frame, unit) = NAMES
        .iter()
        .find_map(|&(name, unit)| Some((find(name)?, unit)))?;
    let (fps, application, process_id) = (find("fps"), find("application"), find("processid"));
    let format = if names.len() == 1 {
        TraceFormat::Plain
    } else if fps.is_some() && unit == Named::Untold {
        TraceFormat::MangoHud
    } else if application.is_some()
        || process_id.is_some()
        || folded
            .get(frame)
            .is_some_and(|n| n.starts_with("msbetween"))
    {
        TraceFormat::PresentMon
    } else {
        TraceFormat::Table
    };
    Some(Layout {
        separator,
        width: names.len(),
        frame,
        fps,
        elapsed: find("elapsed"),
        application,
        process_id,
        swap_chain: find("swapchainaddress"),
        format,
        ..Layout::plain(names.get(frame).cloned(), unit)
    })
}

/// A column name without case, blanks and punctuation. Separators stay: `Frame, Time (ms)` read
/// as one field is no `frametime_ms`.
fn fold(name: &str) -> String {
    let kept = name
        .chars()
        .filter(|&c| c.is_alphanumeric() || matches!(c, ',' | ';' | '\t'));
    // Two characters look alike: the micro sign, and the Greek letter Excel turns it into.
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == 'μ' { 'µ' } else { c })
        .collect()
}

/// No accepted name: still a one-column file if numbers follow its own name of the column.
fn own_name(seen: &[(usize, &str, usize)]) -> Result<Layout, TraceError> {
    let mut lines = seen.iter();
    let Some(&(index, line, comments)) = lines.next() else {
        return Err(TraceError::Empty);
    };
    let one = !line.contains([',', ';', '\t']);
    let follows = lines.next().is_some_and(|(_, next, _)| {
        let text = fields::clean(next);
        !matches!(
            fields::number(&text, true),
            Err(LineProblem::NotANumber { .. } | LineProblem::Missing)
        )
    });
    let name = fields::clean(line).into_owned();
    if let Some(unit) = own_unit(&name).filter(|_| one && follows) {
        return Ok(Layout {
            skip: index + 1,
            comments,
            ..Layout::plain(Some(name), unit)
        });
    }
    // The widest line is likeliest the header, and its rows come after it.
    let mut shown = (index, Vec::new());
    for &(index, line, _) in seen {
        for separator in [',', ';', '\t'] {
            let names = split_header(line, Some(separator)).unwrap_or_default();
            if names.len() > shown.1.len() {
                shown = (index, names);
            }
        }
    }
    Err(TraceError::NoColumn {
        line: shown.0 + 1,
        found: shown.1.iter().map(|name| clip(name)).collect(),
    })
}

/// The unit an only column's own name tells; `None` if it says it holds something else.
fn own_unit(name: &str) -> Option<Named> {
    let lower = name.to_lowercase();
    let folded = fold(name);
    let other = ["fps", "hz", "timestamp", "elapsed"];
    let is_other = other.iter().any(|word| folded.contains(word));
    let ends = ["_s", " s", "(s)", "[s]", "sec", "secs"];
    let in_seconds = folded.replace("milliseconds", "").contains("second")
        || (ends.iter().any(|end| lower.ends_with(end)) && !lower.contains("msec"));
    match folded.as_str() {
        "ms" => Some(Named::Is(TraceUnit::Milliseconds)),
        "us" | "µs" => Some(Named::Is(TraceUnit::Microseconds)),
        "ns" => Some(Named::Is(TraceUnit::Nanoseconds)),
        "" | "s" => None,
        _ if is_other || in_seconds => None,
        _ => Some(Named::Untold),
    }
}
