//! From the bytes of a capture to frame times: decode, read the rows, tell the unit, choose
//! the process.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use super::FrameTrace;
use super::columns::{self, Layout, Named};
use super::error::{LineProblem, TraceError};
use super::fields::{self, Number};
use super::source::{TraceFormat, TraceProcess, TraceSource, TraceUnit};
use crate::clock::decimal::Decimal;

/// The longest frame a file may hold, in nanoseconds: one hour.
pub(super) const LONGEST: u64 = 3_600_000_000_000;

/// Reads bytes in UTF-8, or in UTF-16 with a byte order mark (PowerShell's `>` writes that).
pub(super) fn parse_bytes(bytes: &[u8]) -> Result<FrameTrace, TraceError> {
    let (text, replaced) = match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => {
            let text = String::from_utf8_lossy(bytes);
            let replaced = matches!(text, Cow::Owned(_));
            (text, replaced)
        }
    };
    parse_text(&text, replaced)
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> (Cow<'static, str>, bool) {
    let (pairs, half) = bytes.as_chunks::<2>();
    let mut replaced = !half.is_empty();
    let text = char::decode_utf16(pairs.iter().map(|&pair| unit(pair))).map(|c| {
        c.unwrap_or_else(|_| {
            replaced = true;
            char::REPLACEMENT_CHARACTER
        })
    });
    (Cow::Owned(text.collect()), replaced)
}

/// Reads text; `replaced` says that some of it stands for bytes that could not be decoded.
pub(super) fn parse_text(text: &str, replaced: bool) -> Result<FrameTrace, TraceError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.bytes().take(4096).any(|b| b == 0) {
        return Err(TraceError::NotText);
    }
    if text.trim_start().starts_with(['{', '[']) {
        return Err(TraceError::Json);
    }
    let lines: Vec<_> = text.lines().collect();
    let layout = columns::locate(&lines)?;
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    let closed = text.ends_with(['\n', '\r']);
    let mut reader = Reader::new(&layout);
    for (index, &line) in lines.iter().enumerate().skip(layout.skip) {
        let end = match Some(index) == last {
            false => End::More,
            true if closed => End::Closed,
            true => End::Open,
        };
        reader.read(line, end).map_err(|problem| TraceError::Line {
            line: index + 1,
            problem,
        })?;
        reader.line = index + 2;
    }
    reader.finish(replaced)
}

/// What comes after a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// Another line.
    More,
    /// The end of the file, after a line end.
    Closed,
    /// The end of the file, in the line.
    Open,
}

/// One row with a frame time.
struct Row {
    line: usize,
    group: usize,
    value: f64,
}

/// How many digits after the point the frame times have, as long as all have as many.
#[derive(Default)]
struct Digits {
    rows: usize,
    same: Option<usize>,
}

impl Digits {
    fn see(&mut self, decimals: usize) {
        self.same = match self.rows {
            0 => Some(decimals),
            _ => self.same.filter(|&same| same == decimals),
        };
        self.rows += 1;
    }

    /// Whether the rows are printed with a fixed number of digits, and this one has fewer.
    fn cut(&self, decimals: usize) -> bool {
        self.rows >= 3 && self.same.is_some_and(|same| same >= 3 && decimals < same)
    }
}

/// The rows read so far.
struct Reader<'a> {
    layout: &'a Layout,
    /// The number of the line that is read next.
    line: usize,
    fields: Vec<&'a str>,
    rows: Vec<Row>,
    groups: Vec<TraceProcess>,
    by_name: HashMap<[String; 3], usize>,
    /// `fps` times `frametime` of the rows that have both.
    products: Vec<f64>,
    /// The column `elapsed` of the first row and of the last.
    elapsed: Option<(f64, f64)>,
    digits: Digits,
    not_available: usize,
    comments: usize,
    cut: bool,
    open: bool,
}

impl<'a> Reader<'a> {
    fn new(layout: &'a Layout) -> Self {
        Reader {
            layout,
            line: layout.skip + 1,
            fields: Vec::new(),
            rows: Vec::new(),
            groups: Vec::new(),
            by_name: HashMap::new(),
            products: Vec::new(),
            elapsed: None,
            digits: Digits::default(),
            not_available: 0,
            comments: layout.comments,
            cut: false,
            open: false,
        }
    }

    fn read(&mut self, line: &'a str, end: End) -> Result<(), LineProblem> {
        let layout = self.layout;
        if line.trim().is_empty() {
            return Ok(());
        }
        let split = fields::split(line, layout.separator, &mut self.fields);
        let comment = columns::is_comment(line);
        if split.is_none() {
            match (comment, end) {
                (true, _) => self.comments += 1,
                (false, End::Open) => self.cut = true,
                _ => return Err(LineProblem::UnclosedQuote),
            }
            return Ok(());
        }
        let found = self.fields.len();
        let extra = self.fields.iter().skip(layout.width);
        let fits = found >= layout.width && extra.clone().all(|f| f.trim().is_empty());
        // In a table, a row as wide as the header is one even if its first field begins with #.
        if comment && (layout.width == 1 || !fits) {
            self.comments += 1;
            return Ok(());
        }
        if !fits {
            if found < layout.width && end != End::More {
                self.cut = true;
                return Ok(());
            }
            let expected = layout.width;
            return Err(LineProblem::FieldCount { found, expected });
        }
        self.row(end)
    }

    fn field(&self, index: usize) -> Cow<'a, str> {
        fields::clean(self.fields.get(index).copied().unwrap_or_default())
    }

    fn row(&mut self, end: End) -> Result<(), LineProblem> {
        let layout = self.layout;
        let text = self.field(layout.frame);
        let decimals = fields::decimals(&text, layout.decimal_comma());
        let at_risk = end == End::Open && self.fields.len() == layout.frame + 1;
        let number = fields::number(&text, layout.decimal_comma());
        if at_risk && (fields::is_stump(&text, &number) || self.digits.cut(decimals)) {
            self.cut = true;
            return Ok(());
        }
        let Number::Is(value) = number? else {
            self.not_available += 1;
            return Ok(());
        };
        self.open = at_risk;
        self.digits.see(decimals);
        let group = self.group();
        if let Some(frames) = self.groups.get_mut(group).map(|g| &mut g.frames) {
            *frames += 1;
        }
        if let Some(fps) = layout.fps.and_then(|at| self.plain_number(at)) {
            let product = fps * value;
            if product.is_finite() && product > 0.0 {
                self.products.push(product);
            }
        }
        if let Some(now) = layout.elapsed.and_then(|at| self.plain_number(at)) {
            self.elapsed = Some((self.elapsed.map_or(now, |(first, _)| first), now));
        }
        self.rows.push(Row {
            line: self.line,
            group,
            value,
        });
        Ok(())
    }

    /// A number in a column that only helps; what is no number there does not matter.
    fn plain_number(&self, index: usize) -> Option<f64> {
        match fields::number(&self.field(index), self.layout.decimal_comma()) {
            Ok(Number::Is(value)) => Some(value),
            _ => None,
        }
    }

    /// The index of the row's process and swap chain; files without processes have one group.
    fn group(&mut self) -> usize {
        let layout = self.layout;
        let names = [layout.application, layout.process_id, layout.swap_chain]
            .map(|column| column.map(|at| self.field(at)).unwrap_or_default());
        let [application, process_id, swap_chain] = &names;
        let same = |g: &TraceProcess| {
            g.application == *application
                && g.process_id == *process_id
                && g.swap_chain == *swap_chain
        };
        // Captures are runs of one process: mostly it is the last row's.
        let recent = self.rows.last().map(|row| row.group);
        if let Some(index) = recent.filter(|&at| self.groups.get(at).is_some_and(same)) {
            return index;
        }
        let names = names.map(Cow::into_owned);
        if let Some(&index) = self.by_name.get(&names) {
            return index;
        }
        let index = self.groups.len();
        let [application, process_id, swap_chain] = names.clone();
        self.groups.push(TraceProcess {
            application,
            process_id,
            swap_chain,
            frames: 0,
        });
        self.by_name.insert(names, index);
        index
    }

    /// Of the process with most frames the swap chain with most; the first of equals.
    fn choose(&self) -> usize {
        let process = |g: &TraceProcess| (g.application.clone(), g.process_id.clone());
        let mut totals: HashMap<_, usize> = HashMap::new();
        for group in &self.groups {
            *totals.entry(process(group)).or_default() += group.frames;
        }
        let total = |g: &TraceProcess| totals.get(&process(g)).copied().unwrap_or(0);
        let groups = || self.groups.iter().enumerate();
        let busiest = first_most(groups().map(|(index, g)| (index, total(g))));
        let taken = self.groups.get(busiest).map(process);
        let chains = groups().filter(|(_, g)| Some(process(g)) == taken);
        first_most(chains.map(|(index, g)| (index, g.frames)))
    }

    fn median_value(&self) -> f64 {
        let mut values: Vec<_> = self.rows.iter().map(|row| row.value).collect();
        median(&mut values)
    }

    fn unit(&mut self) -> Result<TraceUnit, TraceError> {
        let milliseconds = match (self.layout.unit, self.layout.fps) {
            (Named::Is(unit), _) => return Ok(unit),
            (Named::Untold, None) => return Ok(TraceUnit::Milliseconds),
            _ if self.rows.iter().all(|row| row.value == 0.0) => {
                return Ok(TraceUnit::Milliseconds);
            }
            (Named::Untold, Some(_)) => 1_000.0,
        };
        let rows = self.products.len();
        let product = median(&mut self.products);
        // MangoHud may average fps over half a second, so one row says little; the median of
        // all is near the mark. A factor of five each way leaves 40 between the two units.
        let near = |mark: f64| product > mark / 5.0 && product < mark * 5.0;
        if near(milliseconds) {
            Ok(TraceUnit::Milliseconds)
        } else if near(milliseconds * 1_000.0) {
            Ok(TraceUnit::Microseconds)
        } else {
            Err(TraceError::UnitUnclear { product, rows })
        }
    }

    fn finish(mut self, replaced_bytes: bool) -> Result<FrameTrace, TraceError> {
        if self.rows.is_empty() {
            return Err(TraceError::NoRows {
                not_available: self.not_available,
                cut: self.cut,
            });
        }
        let unit = self.unit()?;
        let chosen = self.choose();
        let mut frames = Vec::with_capacity(self.groups.get(chosen).map_or(0, |g| g.frames));
        for row in &self.rows {
            // Rows that are left out are validated too: a file is sound as a whole or refused.
            let frame = nanos(row.value, unit).map_err(|problem| TraceError::Line {
                line: row.line,
                problem,
            })?;
            if row.group == chosen {
                frames.push(frame);
            }
        }
        let layout = self.layout;
        let mut dropped = std::mem::take(&mut self.groups);
        let taken = dropped.remove(chosen);
        let named = layout
            .application
            .or(layout.process_id)
            .or(layout.swap_chain);
        let untold = layout.unit == Named::Untold && layout.fps.is_none();
        let source = TraceSource {
            format: layout.format,
            column: layout.name.clone(),
            unit,
            frames: frames.len(),
            taken: named.map(|_| taken),
            dropped,
            not_available: self.not_available,
            comments: self.comments,
            preamble: layout.preamble,
            cut_last_line: self.cut,
            open_last_line: self.open,
            replaced_bytes,
            sampled: layout.format == TraceFormat::MangoHud && sampled(self.elapsed, &frames),
            unit_doubtful: untold && self.median_value() > 1_000.0,
        };
        Ok(FrameTrace::from_source(frames, source))
    }
}

/// Exactly the decimal the file has, to the nearest nanosecond, a half up.
fn nanos(value: f64, unit: TraceUnit) -> Result<Duration, LineProblem> {
    Decimal::of_f64(value)
        .scaled(unit.scale())
        .and_then(|ns| u64::try_from(ns).ok())
        .filter(|&ns| ns <= LONGEST)
        .map(Duration::from_nanos)
        .ok_or_else(|| LineProblem::TooLong {
            // Beyond fifteen digits, only the size is of use.
            text: if value < 1e15 {
                value.to_string()
            } else {
                format!("{value:e}")
            },
            unit,
        })
}

/// Whether `elapsed` (nanoseconds) runs ahead of the frame times by half or more.
fn sampled(elapsed: Option<(f64, f64)>, frames: &[Duration]) -> bool {
    // The first row's frame lies before its own time stamp.
    let told: f64 = frames.iter().skip(1).map(Duration::as_secs_f64).sum();
    elapsed.is_some_and(|(first, last)| frames.len() >= 3 && (last - first) / 1e9 > told * 1.5)
}

/// The first index with the highest count.
fn first_most(counts: impl Iterator<Item = (usize, usize)>) -> usize {
    let more =
        |best: (usize, usize), next: (usize, usize)| if next.1 > best.1 { next } else { best };
    counts.fold((0, 0), more).0
}

/// The middle one of some finite numbers; of an even count the upper; of none, zero.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests;
