//! Damaged bytes, files, and what is written read back.

use super::*;

/// A small generator of numbers, the same every time.
struct Lcg(u64);

impl Lcg {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let samples = [
        MANGOHUD,
        MANGOHUD_V1,
        PRESENTMON_1,
        PRESENTMON_2,
        CAPFRAMEX,
        "16.6\n17,1\n",
    ];
    let spice = b"\0\n\r\t\",;.#/-+eENA{[0159\xFF\xFE\xC3\xB5";
    let mut lcg = Lcg(7);
    let (mut read, mut refused) = (0, 0);
    for round in 0..6_000 {
        let mut bytes = samples[round % samples.len()].as_bytes().to_vec();
        for _ in 0..=lcg.next(4) {
            let (at, to) = (lcg.next(bytes.len()), lcg.next(bytes.len()));
            let new = spice[lcg.next(spice.len())];
            match lcg.next(5) {
                0 => bytes[at] = new,
                1 => bytes.insert(at, new),
                2 => bytes.truncate(at.max(1)),
                3 => drop(bytes.drain(at.min(to)..at.max(to).min(at.min(to) + 40))),
                _ => bytes[at] = u8::try_from(lcg.next(256)).unwrap(),
            }
            if bytes.is_empty() {
                bytes.push(new);
            }
        }
        match FrameTrace::parse_bytes(&bytes) {
            Ok(trace) => {
                read += 1;
                assert!(!trace.is_empty());
                assert_eq!(trace.source().unwrap().frames, trace.len());
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(
        read > 500 && refused > 500,
        "{read} read, {refused} refused"
    );
}

#[test]
fn what_is_written_is_read_back_to_the_nanosecond() {
    let mut lcg = Lcg(1);
    let mut frames = vec![
        Duration::ZERO,
        Duration::from_nanos(1),
        Duration::from_hours(1),
    ];
    for _ in 0..20_000 {
        let nanos = u64::try_from(lcg.next(3_600_000) * 1_000_000 + lcg.next(1_000_000)).unwrap();
        frames.push(Duration::from_nanos(nanos));
        frames.push(Duration::from_nanos(nanos % 100_000_000));
    }
    let text = FrameTrace::from_frames(frames.iter().copied())
        .to_csv()
        .unwrap();
    assert!(text.starts_with("frametime_ms\n0.000000\n0.000001\n3600000.000000\n"));
    let trace = FrameTrace::parse(&text).unwrap();
    assert_eq!(trace.frames(), frames);
    assert_eq!(trace.source().unwrap().unit, TraceUnit::Milliseconds);
    // Cut anywhere in its last line, it has the frames before, or one less than whole.
    let end = text.len() - 1;
    let last = text.get(..end).and_then(|t| t.rfind('\n')).unwrap();
    for cut in last + 2..end {
        let trace = FrameTrace::parse(text.get(..cut).unwrap()).unwrap();
        assert_eq!(trace.len(), frames.len() - 1);
        assert!(trace.source().unwrap().cut_last_line);
    }
}

#[test]
fn files() {
    let name = format!("sc_core_trace_{}.csv", std::process::id());
    let path = std::env::temp_dir().join(name);
    let trace = FrameTrace::from_frames([Duration::from_nanos(16_683_001); 2]);
    trace.write(&path).unwrap();
    assert_eq!(FrameTrace::read(&path).unwrap().frames(), trace.frames());
    let long = FrameTrace::from_frames([Duration::ZERO, Duration::MAX]);
    let error = long.write(&path).unwrap_err();
    assert!(
        matches!(error, TraceError::FrameTooLong { index: 1, .. }),
        "{error}"
    );
    assert_eq!(long.total(), Duration::MAX);
    assert_eq!(
        FrameTrace::read(&path).unwrap().len(),
        2,
        "the file is untouched"
    );
    std::fs::write(&path, "frametime\n1\nx\n").unwrap();
    let error = FrameTrace::read(&path).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(error.line(), Some(3));
    let shown = error.to_string();
    assert!(
        shown.starts_with(&format!("in {path:?}: line 3: the frame time")),
        "{shown}"
    );
    let error = FrameTrace::read(&path).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("cannot read the frame trace {path:?}: ")),
        "{error}"
    );
    let directory = std::env::temp_dir();
    let error = trace.write(&directory).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("cannot write the frame trace {directory:?}: ")),
        "{error}"
    );
}

#[test]
fn hitches_are_longer_than_the_threshold() {
    let mut trace = FrameTrace::parse(MANGOHUD).unwrap();
    trace.push(Duration::from_nanos(50_000_001));
    trace.push(Duration::from_millis(50));
    let hitches: Vec<_> = trace.hitches(Duration::from_millis(50)).collect();
    assert_eq!(
        hitches,
        [
            (2, Duration::from_millis(120)),
            (4, Duration::from_nanos(50_000_001))
        ]
    );
    assert_eq!(trace.hitches(Duration::MAX).count(), 0);
}
