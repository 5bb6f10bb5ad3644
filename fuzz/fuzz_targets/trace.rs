//! Fuzz target: arbitrary bytes as a frame trace. Reading them never panics, and what was read is
//! written so that reading it again gives the same frames.
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use sc_core::FrameTrace;

fuzz_target!(|bytes: &[u8]| check(bytes));

fn check(bytes: &[u8]) {
    let trace = match FrameTrace::parse_bytes(bytes) {
        Ok(trace) => trace,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            // What is wrong with a line names a line that is there.
            assert!(error.line().is_none_or(|line| line >= 1));
            return;
        }
    };
    let source = trace.source().expect("a trace that was read has a source");
    assert!(!source.to_string().is_empty());
    assert!(!trace.is_empty());
    assert_eq!(source.frames, trace.len());

    let text = trace.to_csv().expect("what was read can be written");
    let again = FrameTrace::parse_bytes(text.as_bytes()).expect("what was written can be read");
    assert_eq!(again.frames(), trace.frames());
    assert_eq!(again.total(), trace.total());
    assert_eq!(again.to_csv().ok(), Some(text));
    let source = again.source().expect("a trace that was read has a source");
    assert!(!source.cut_last_line && !source.open_last_line && !source.replaced_bytes);

    // Read as text, valid UTF-8 gives the same.
    if let Ok(text) = std::str::from_utf8(bytes) {
        let same = FrameTrace::parse(text).expect("bytes and text are read alike");
        assert_eq!(same, trace);
    }
}
