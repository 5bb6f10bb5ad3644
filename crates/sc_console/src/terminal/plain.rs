//! The front end that is no editor: plain lines in, plain lines out. For pipes, scripts and tests.

use std::any::TypeId;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use super::feed::Item;
use super::link::{Game, Shared};
use super::reports::{TERMINAL_INPUT_FAILED, TERMINAL_OUTPUT_FAILED};
use super::style::Look;

/// A line that is longer is not run.
const LONGEST_LINE: usize = 64 * 1024;

/// Says on the error output what nobody would hear of else: the log is shown by the terminal that has failed,
/// and there may be no further frame for the report.
fn tell(what: &str) {
    // Where that fails, too, there is nobody to tell.
    let _ = writeln!(io::stderr(), "{what}");
}

/// Starts the two threads. The receiver hears when everything is written after the feed was closed.
pub(super) fn start(
    shared: &Arc<Shared>,
    game: &Arc<dyn Game>,
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> io::Result<Receiver<()>> {
    let of_process = is_of_process(&output);
    let (written, all_written) = channel();
    let writer = (Arc::clone(shared), Arc::clone(game));
    thread::Builder::new()
        .name("console output".into())
        .spawn(move || {
            let (shared, game) = writer;
            if let Err(error) = write(&shared, &mut output) {
                let what = format!("the terminal cannot write: {error}");
                if of_process {
                    tell(&what);
                }
                game.report(&TERMINAL_OUTPUT_FAILED, what);
                // In this order: who is let go sees that it has ended.
                shared.end();
                shared.feed.give_up();
            }
            let _ = written.send(());
        })?;
    let reader = (Arc::clone(shared), Arc::clone(game));
    let started = thread::Builder::new()
        .name("console input".into())
        .spawn(move || {
            let (shared, game) = reader;
            if let Err(error) = read(&shared, &*game, &mut input) {
                game.report(
                    &TERMINAL_INPUT_FAILED,
                    format!("the terminal cannot read: {error}"),
                );
            }
            shared.end();
        });
    if let Err(error) = started {
        shared.feed.close();
        return Err(error);
    }
    Ok(all_written)
}

/// Whether an output is the one of the process.
fn is_of_process<W: 'static>(_: &W) -> bool {
    TypeId::of::<W>() == TypeId::of::<io::Stdout>()
}

fn write(shared: &Shared, output: &mut impl Write) -> io::Result<()> {
    while let Some(items) = shared.feed.wait() {
        for item in &items {
            for line in Look::PLAIN.lines(item) {
                writeln!(output, "{line}")?;
            }
        }
        output.flush()?;
    }
    Ok(())
}

/// Reads lines to the end and has each run, one after the other.
fn read(shared: &Shared, game: &dyn Game, input: &mut impl BufRead) -> io::Result<()> {
    let mut number = 0_u64;
    loop {
        number += 1;
        let line = read_line(input)?;
        if shared.has_ended() || shared.is_closing() {
            return Ok(());
        }
        let notice = match line {
            Line::End => return Ok(()),
            Line::Text(mut line) => {
                // Some editors and shells start a text with it.
                if number == 1 && line.starts_with('\u{feff}') {
                    line.remove(0);
                }
                let done = game.run(line);
                // Broken: the runtime is gone.
                if done.recv().is_err() {
                    return Ok(());
                }
                None
            }
            Line::TooLong => Some(format!(
                "line {number} is longer than {LONGEST_LINE} bytes and was not run"
            )),
            Line::NotUtf8 => Some(format!("line {number} is not UTF-8 and was not run")),
        };
        if let Some(notice) = notice {
            shared.feed.push(Item::Notice(notice));
            shared.count_failed();
        }
        // Input waits for output, never the game: what is written stays bounded.
        shared.feed.wait_until_written();
    }
}

#[derive(PartialEq, Eq, Debug)]
enum Line {
    Text(String),
    TooLong,
    NotUtf8,
    End,
}

fn read_line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(LONGEST_LINE + 2).unwrap_or(u64::MAX);
    let read = io::Read::take(&mut *input, limit).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(Line::End);
    }
    let ended = bytes.ends_with(b"\n");
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > LONGEST_LINE {
        if !ended {
            input.skip_until(b'\n')?;
        }
        return Ok(Line::TooLong);
    }
    let text = std::str::from_utf8(line).map(|line| Line::Text(line.to_owned()));
    Ok(text.unwrap_or(Line::NotUtf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut input: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        loop {
            match read_line(&mut input) {
                Ok(Line::End) => return lines,
                Ok(line) => lines.push(line),
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn text(text: &str) -> Line {
        Line::Text(text.into())
    }

    #[test]
    fn the_output_of_the_process_is_told_from_others() {
        assert!(is_of_process(&io::stdout()));
        assert!(!is_of_process(&Vec::<u8>::new()));
        assert!(!is_of_process(&io::stderr()));
    }

    #[test]
    fn lines_end_as_on_any_system() {
        assert_eq!(
            lines(b"a\r\n\nb c\r\r\nd"),
            [text("a"), text(""), text("b c\r"), text("d")]
        );
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn what_is_no_line_is_passed_over_and_the_next_one_is_read() {
        let mut input = vec![b'x'; LONGEST_LINE + 1];
        input.extend_from_slice(b"\nafter\n\xff\xfe\nlast");
        assert_eq!(
            lines(&input),
            [Line::TooLong, text("after"), Line::NotUtf8, text("last")]
        );
        let longest = vec![b'x'; LONGEST_LINE];
        assert_eq!(lines(&longest).len(), 1);
        assert_ne!(lines(&longest), [Line::TooLong]);
        let endless = vec![b'x'; 10 * LONGEST_LINE];
        assert_eq!(lines(&endless), [Line::TooLong]);
    }
}
