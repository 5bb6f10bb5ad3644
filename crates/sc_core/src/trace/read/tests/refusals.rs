//! The end of a file, and everything that is refused.

use super::*;

#[test]
fn a_cut_last_line_is_passed_over() {
    for tail in [
        "60",
        "60,16",
        "60,16.7",
        "60,16.7\n",
        "\"60,16.7,1",
        "6\n\n",
    ] {
        let (frames, source) = read(&format!("fps,frametime,x\n60,16.683,1\n{tail}"));
        assert_eq!(
            (frames, source.cut_last_line),
            (vec![16_683], true),
            "{tail:?}"
        );
        assert!(
            source
                .to_string()
                .ends_with("the last line is cut and was passed over")
        );
    }
    for tail in ["60,", "60,16.", "60,1e", "60,+", "60,N", "60,-"] {
        let (frames, source) = read(&format!("fps,frametime\n60,16.683\n{tail}"));
        assert_eq!(
            (frames, source.cut_last_line),
            (vec![16_683], true),
            "{tail:?}"
        );
    }
    // Not in the last field, so it is whole; or closed by a line end, or no begun number.
    let x = "fps,frametime,x\n60,16.7,1\n";
    problem(&format!("{x}60,oops,1"), 3, &not_a_number("oops"));
    problem(
        &format!("{x}60,-1,1"),
        3,
        &LineProblem::Negative { text: "-1".into() },
    );
    problem("frametime\n16.7\noops", 3, &not_a_number("oops"));
    problem("frametime\n16.7\n1e\n", 3, &not_a_number("1e"));
    problem(
        "frametime\n16.7\n-1",
        3,
        &LineProblem::Negative { text: "-1".into() },
    );
    problem("frametime\n16.7\nnan", 3, &LineProblem::Nan);
    problem(
        &format!("{x}\"60,16.7,1\n60,16.7,1\n"),
        3,
        &LineProblem::UnclosedQuote,
    );
    // In the middle it is no cut.
    let two = LineProblem::FieldCount {
        found: 2,
        expected: 3,
    };
    problem(&format!("{x}60,16\n60,16.7,1\n"), 3, &two);
}

#[test]
fn a_last_number_without_a_line_end() {
    let (frames, source) = read("frametime\n16.683\n16.7");
    assert_eq!(
        (frames, source.open_last_line),
        (vec![16_683, 16_700], true)
    );
    assert!(
        source
            .to_string()
            .ends_with("has no line end, its number may be cut")
    );
    // Fixed digits, and fewer of them at the end: a cut that can be told.
    let fixed = "16.683\n16.700\n16.690\n";
    for stump in ["1", "16", "16.", "16.6", "16.68"] {
        let (frames, source) = read(&format!("{fixed}{stump}"));
        assert_eq!((frames.len(), source.cut_last_line), (3, true), "{stump}");
    }
    let (frames, source) = read(&format!("{fixed}16.681"));
    assert_eq!((frames.len(), source.open_last_line), (4, true));
    // Loose digits, as a person writes them, tell nothing.
    assert_eq!(
        read("16.6\n16.75\n17.1\n20").0,
        [16_600, 16_750, 17_100, 20_000]
    );
    // A line end, or a field after it: nothing is open.
    assert!(!read("16.6\n16.7\n").1.open_last_line);
    assert!(!read("fps,frametime,x\n60,16.7,1").1.open_last_line);
}

#[test]
fn what_is_no_frame_time_is_refused_with_its_line() {
    let after = |bad: &str| format!("fps,frametime\n60,16.7\n\n60,{bad}\n60,16.7\n");
    problem(&after("oops"), 4, &not_a_number("oops"));
    problem(&after("16.7.1"), 4, &not_a_number("16.7.1"));
    problem(&after(""), 4, &LineProblem::Missing);
    problem(&after("NaN"), 4, &LineProblem::Nan);
    problem(&after("inf"), 4, &LineProblem::Infinite);
    problem(&after("-Infinity"), 4, &LineProblem::Infinite);
    problem(
        &after("-16.7"),
        4,
        &LineProblem::Negative {
            text: "-16.7".into(),
        },
    );
    let long = |text: &str, unit| LineProblem::TooLong {
        text: text.into(),
        unit,
    };
    problem(
        &after("1e999"),
        4,
        &long("1.7976931348623157e308", TraceUnit::Milliseconds),
    );
    problem(
        &after("3600000.000001"),
        4,
        &long("3600000.000001", TraceUnit::Milliseconds),
    );
    assert_eq!(read("frametime\n3600000\n").0, [3_600_000_000]);
    let letters = "x".repeat(99);
    problem(
        &after(&letters),
        4,
        &not_a_number(&format!("{}…", "x".repeat(40))),
    );
    problem("-5\n16\n", 1, &LineProblem::Negative { text: "-5".into() });
    refused(
        &after("fast"),
        "line 4: the frame time \"fast\" is not a number: correct or delete the line",
    );
    refused(
        &after("1,2"),
        "line 4: the row has 3 fields and the header 2: complete it, quote a field that holds \
         the separator, or delete the line",
    );
    refused(
        &after("1e9"),
        "line 4: the frame time \"1000000000\" is more than 1 hour in milliseconds: check that \
         the column holds frame times in that unit",
    );
}

#[test]
fn what_holds_no_frame_times_is_refused() {
    for text in ["", "\u{feff}", "\r\n  \n", "# nothing\n//\n"] {
        assert!(
            matches!(FrameTrace::parse(text), Err(TraceError::Empty)),
            "{text:?}"
        );
    }
    refused(
        "fps,frametime\n60,NA\n60",
        "the frame trace has a header but no frame times (rows passed over as NA: 1, last line cut: true): \
         capture for longer, or pass another file",
    );
    assert!(matches!(
        FrameTrace::parse("frametime\n"),
        Err(TraceError::NoRows {
            not_available: 0,
            cut: false
        })
    ));
    refused(
        " {\"Info\": {}}",
        "the frame trace is JSON, which is not read: export it as CSV (CapFrameX can)",
    );
    refused(
        "Frame, Time (ms)\n1, 0.000\n2, 16.683\n",
        "line 1 names no frame time column: found Frame, Time (ms), accepted are \
         MsBetweenPresents, frametime (FrameTime), frametime_ms, frametime_us, frametime_ns, \
         MsBetweenAppStart, in any case; rename the column, or keep only it, one number of \
         milliseconds a line",
    );
    let columns = |text: &str| match FrameTrace::parse(text).unwrap_err() {
        TraceError::NoColumn { line, found } => (line, found.join("|")),
        other => panic!("{other}"),
    };
    assert_eq!(columns("hello\nworld\n"), (1, "hello".into()));
    assert_eq!(
        columns("1,2\n3,4,5\n".replace("1,2", "a;b").as_str()),
        (2, "3|4|5".into())
    );
    let summary = "0.1% Min FPS,1% Min FPS,97% Percentile FPS\n50.1,55.2,61.0\n";
    assert_eq!(
        columns(summary),
        (1, "0.1% Min FPS|1% Min FPS|97% Percentile FPS".into())
    );
    assert_eq!(
        columns("os,cpu\nLinux,x\nfps,load,t\n60,1,2\n"),
        (3, "fps|load|t".into())
    );
    // A header is not looked for without end.
    let buried = format!("{}frametime\n16.7\n", "chapter\n".repeat(40));
    assert_eq!(columns(&buried), (1, "chapter".into()));
}
