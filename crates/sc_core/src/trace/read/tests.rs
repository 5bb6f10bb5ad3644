//! Captures of every kind and every tolerance. The samples are made up.

use std::time::Duration;

use crate::trace::{
    FrameTrace, LineProblem, TraceError, TraceFormat, TraceProcess, TraceSource, TraceUnit,
};

mod refusals;
mod round_trip;

const MANGOHUD: &str = include_str!("../testdata/mangohud.csv");
const MANGOHUD_V1: &str = include_str!("../testdata/mangohud_v1.csv");
const PRESENTMON_1: &str = include_str!("../testdata/presentmon1.csv");
const PRESENTMON_2: &str = include_str!("../testdata/presentmon2.csv");
const CAPFRAMEX: &str = include_str!("../testdata/capframex.csv");

fn micros(trace: &FrameTrace) -> Vec<u128> {
    trace.frames().iter().map(Duration::as_micros).collect()
}

fn read(text: &str) -> (Vec<u128>, TraceSource) {
    let trace = FrameTrace::parse(text).unwrap();
    (micros(&trace), trace.source().cloned().unwrap())
}

#[track_caller]
fn check(text: &str, frames: &[u128], source: &str) {
    let (found, told) = read(text);
    assert_eq!(found, frames);
    assert_eq!(told.to_string(), source);
}

#[track_caller]
fn refused(text: &str, message: &str) {
    assert_eq!(FrameTrace::parse(text).unwrap_err().to_string(), message);
}

#[track_caller]
fn problem(text: &str, at: usize, what: &LineProblem) {
    match FrameTrace::parse(text).unwrap_err() {
        TraceError::Line { line, problem } => assert_eq!((line, &problem), (at, what)),
        other => panic!("{other}"),
    }
}

fn not_a_number(text: &str) -> LineProblem {
    LineProblem::NotANumber { text: text.into() }
}

#[test]
fn mangohud_in_milliseconds() {
    check(
        MANGOHUD,
        &[16_683, 16_700, 120_000, 16_635],
        "MangoHud log, column frametime in milliseconds; 4 frames; \
         2 lines passed over before the header",
    );
}

#[test]
fn mangohud_versioned_in_microseconds() {
    check(
        MANGOHUD_V1,
        &[16_667, 20_000, 16_667],
        "MangoHud log, column frametime in microseconds; 3 frames; \
         6 lines passed over before the header",
    );
}

#[test]
fn mangohud_units_by_the_median_over_all_rows() {
    // fps is averaged, so the rows of a hitch are far off the mark: ms all the same.
    let (frames, source) = read("fps,frametime\n60,16\n60,900\n60,900\n60,17\n60,16\ninf,0\n");
    assert_eq!(frames, [16_000, 900_000, 900_000, 17_000, 16_000, 0]);
    assert_eq!(source.unit, TraceUnit::Milliseconds);
    let (frames, _) = read("fps,frametime\n60,900000\n60,16667\n60,16667\n");
    assert_eq!(frames, [900_000, 16_667, 16_667]);
    let (frames, _) = read("fps,frametime\n0,0\n");
    assert_eq!(frames, [0]);
    refused(
        "fps,frametime\n60,166\n60,166\n",
        "fps times frametime is about 9.96e3 (2 rows can tell): about 1000 would mean \
         milliseconds and about 1000000 microseconds; name the column frametime_ms, frametime_us \
         or frametime_ns",
    );
    let error = FrameTrace::parse("fps,frametime\n0,16\nx,16\n").unwrap_err();
    assert!(matches!(error, TraceError::UnitUnclear { rows: 0, .. }));
    // A name that tells the unit settles it.
    assert_eq!(read("fps,frametime_ms\n60,166\n").0, [166_000]);
    assert_eq!(read("fps,Frame Time [µs]\n60,166\n").0, [166]);
    assert_eq!(read("frametime_ns,x\n166000,1\n").0, [166]);
}

#[test]
fn mangohud_logged_at_an_interval() {
    let (_, source) =
        read("fps,frametime,elapsed\n60,16.7,100000000\n60,16.7,200000000\n60,16.7,300000000\n");
    assert!(source.sampled);
    assert!(
        source
            .to_string()
            .contains("frames between the rows are missing")
    );
    assert!(!read(MANGOHUD).1.sampled);
}

#[test]
fn presentmon_takes_the_busiest_process_and_swap_chain() {
    let (frames, source) = read(PRESENTMON_1);
    assert_eq!(frames, [0, 16_683, 16_680]);
    assert_eq!(source.format, TraceFormat::PresentMon);
    let process = |application: &str, id: &str, chain: &str, frames| TraceProcess {
        application: application.into(),
        process_id: id.into(),
        swap_chain: chain.into(),
        frames,
    };
    let taken = process("game.exe", "4242", "0x000001A0B2C3D4E0", 3);
    assert_eq!(source.taken, Some(taken));
    assert_eq!(
        source.dropped,
        [
            process("dwm.exe", "1180", "0x0000022F10203040", 2),
            process("game.exe", "4242", "0x000001A0FFFFFFF0", 1),
        ]
    );
    assert_eq!(
        source.to_string(),
        "PresentMon CSV, column msBetweenPresents in milliseconds; 3 frames; \
         took game.exe (process 4242) swap chain 0x000001A0B2C3D4E0 with 3 frames; \
         left out dwm.exe (process 1180) swap chain 0x0000022F10203040 with 2 frames, \
         game.exe (process 4242) swap chain 0x000001A0FFFFFFF0 with 1 frame"
    );
}

#[test]
fn of_equal_processes_the_first_and_of_one_process_the_larger_chain() {
    let head = "Application,ProcessID,SwapChainAddress,MsBetweenPresents\n";
    let (frames, source) = read(&format!("{head}b,1,x,1\na,2,x,2\nb,1,x,3\na,2,x,4\n"));
    assert_eq!(frames, [1_000, 3_000]);
    assert_eq!(source.taken.unwrap().application, "b");
    // By process first: a has five rows in two chains, b has four in one.
    let rows = "b,1,x,1\nb,1,x,1\nb,1,x,1\nb,1,x,1\na,2,p,2\na,2,p,2\na,2,q,3\na,2,q,3\na,2,q,3\n";
    let (frames, source) = read(&format!("{head}{rows}"));
    assert_eq!(frames, [3_000, 3_000, 3_000]);
    assert_eq!(source.taken.unwrap().swap_chain, "q");
    assert_eq!(source.dropped.len(), 2);
    // Two processes of one name are two.
    let (frames, _) = read(&format!("{head}a,1,x,1\na,2,x,2\na,2,x,2\n"));
    assert_eq!(frames, [2_000, 2_000]);
    // A row that is left out is validated too.
    let negative = LineProblem::Negative { text: "-1".into() };
    problem(&format!("{head}a,1,x,1\na,1,x,1\nb,2,x,-1\n"), 4, &negative);
}

#[test]
fn presentmon_2_and_capframex() {
    check(
        PRESENTMON_2,
        &[16_683, 16_700],
        "PresentMon CSV, column FrameTime in milliseconds; 2 frames; \
         took game.exe (process 4242) swap chain 0x1A0B2C3D4E0 with 2 frames; \
         1 row passed over as NA",
    );
    check(
        CAPFRAMEX,
        &[7_102, 7_098],
        "CapFrameX CSV, column MsBetweenPresents in milliseconds; 2 frames; \
         took game.exe (process 4242) swap chain 0x1A0 with 2 frames; \
         8 comment lines passed over",
    );
    // With both columns, MsBetweenPresents; alone, MsBetweenAppStart serves.
    assert_eq!(read("FrameTime,MsBetweenPresents\n1,2\n").0, [2_000]);
    assert_eq!(read("Application,MsBetweenAppStart\na,3\n").0, [3_000]);
}

#[test]
fn one_column() {
    check(
        "16.683\n16.7\n",
        &[16_683, 16_700],
        "one-column file, no header, in milliseconds; 2 frames",
    );
    check(
        "# a walk through the harbour\n\nFrameTime\r\n16.683\r\n\r\n# here it hitched\r\nna\r\n5e1\r\n",
        &[16_683, 50_000],
        "one-column file, column FrameTime in milliseconds; 2 frames; \
         1 row passed over as NA; 2 comment lines passed over",
    );
    assert_eq!(read("NA\n16.7\n").0, [16_700]);
    assert_eq!(read("\"frametime\"\n\"16.7\"\n").0, [16_700]);
    assert_eq!(read("frametime\n16,683\n1,5\n").0, [16_683, 1_500]);
    assert_eq!(read("frametime_us\n16683\n").0, [16_683]);
    assert_eq!(read("us\n16683\n").0, [16_683]);
    // Its own name, as long as it does not say that it is something else.
    let (frames, source) = read("harbour walk\n16.7\n");
    assert_eq!(
        (frames, source.column.as_deref()),
        (vec![16_700], Some("harbour walk"))
    );
    for name in [
        "fps",
        "Average FPS",
        "seconds",
        "frametime_s",
        "Frame Time (s)",
        "elapsed",
    ] {
        let error = FrameTrace::parse(&format!("{name}\n60\n")).unwrap_err();
        assert!(
            matches!(error, TraceError::NoColumn { line: 1, .. }),
            "{name}: {error}"
        );
    }
}

#[test]
fn doubtful_units_are_told() {
    let (frames, source) = read("frametime\n16667\n16667\n16667\n");
    assert_eq!(frames, [16_667_000, 16_667_000, 16_667_000]);
    assert!(source.unit_doubtful);
    assert!(source.to_string().contains("if these are microseconds"));
    assert!(!read("frametime\n16.6\n16.7\n2000\n").1.unit_doubtful);
    assert!(!read("frametime_ms\n16667\n").1.unit_doubtful);
}

#[test]
fn separators_case_quotes_and_marks() {
    let frames = [16_683, 16_700];
    for text in [
        "\u{feff}FPS,FRAMETIME\n60,16.683\n60,16.7\n",
        "fps;frametime\n60;16,683\n60;16,7\n",
        "fps;frametime\n60;16.683\n60;16.7\n",
        "fps\tframetime\n59,9\t16,683\n60\t16,7\n",
        "\"fps\", \"FrameTime\" \n\"60\", \"16.683\"\n60 , 16.7 \n",
        "sep=;\nfps;frametime\n60;16,683\n60;16,7\n",
        "fps,frametime,\n60,16.683,\n60,16.7,,\n",
        "fps,frametime\r\n\r\n60,16.683\r\n   \r\n60,16.7\r\n\r\n",
        "# fps, frametime of a walk\nfps,frametime\n# begin\n60,16.683\n60,16.7\n",
        "Application,FrameTime\n\"a, b\",16.683\n\"a, b\",16.7\n",
        "Application,FrameTime\n#a,16.683\n#a,16.7\n",
    ] {
        assert_eq!(read(text).0, frames, "{text:?}");
    }
    let three = LineProblem::FieldCount {
        found: 3,
        expected: 2,
    };
    problem("fps,frametime\n60,16,683\n", 2, &three);
    problem("16.7\n16,7,1\n", 2, &not_a_number("16,7,1"));
    let comma = LineProblem::DecimalComma {
        text: "16,683".into(),
    };
    problem("16,683\n16,7\n", 1, &comma);
}

#[test]
fn encodings() {
    let text = "Application,FrameTime\nübung.exe,16.7\n";
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        let bytes: Vec<u8> = units.flat_map(unit).collect();
        let trace = FrameTrace::parse_bytes(&bytes).unwrap();
        assert_eq!(micros(&trace), [16_700]);
        let source = trace.source().unwrap();
        assert_eq!(source.taken.as_ref().unwrap().application, "übung.exe");
        assert!(!source.replaced_bytes);
        // Half a character at the end is half a line.
        let trace = FrameTrace::parse_bytes(&[&bytes[..], b"x"].concat()).unwrap();
        assert!(trace.source().unwrap().replaced_bytes);
    }
    let trace = FrameTrace::parse_bytes(b"Application,FrameTime\n\xFCbung.exe,16.7\n").unwrap();
    assert_eq!(micros(&trace), [16_700]);
    let source = trace.source().unwrap();
    assert!(source.replaced_bytes);
    assert_eq!(
        source.taken.as_ref().unwrap().application,
        "\u{fffd}bung.exe"
    );
    assert!(
        source
            .to_string()
            .ends_with("bytes that are not UTF-8 were replaced")
    );
    problem("frametime\n16.\u{fffd}\n", 2, &not_a_number("16.\u{fffd}"));
    assert!(matches!(
        FrameTrace::parse_bytes(b"f\0r\0a\0m\0e\0"),
        Err(TraceError::NotText)
    ));
}
