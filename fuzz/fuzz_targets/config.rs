//! Fuzz target: arbitrary bytes as a configuration file. Reading never panics and sets only what is
//! allowed; what is no TOML stays as it is; what was written is read again as the same values, and what is
//! not ours is kept.
#![no_main]
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use sc_console::{FileError, VariableExt, variable};
use sc_core::Runtime;

variable! {
    /// How loud it is.
    VOLUME = Fuzz.Volume: f64 = 0.5, range 0.0..=1.0, archive
}
variable! {
    /// What it is called.
    NAME = Fuzz.Name: String = String::new(), archive
}
variable! {
    /// How many.
    COUNT = Count: u8 = 3, archive
}

fuzz_target!(|bytes: &[u8]| check(bytes));

/// The values of the variables.
type Values = (f64, String, u8);

/// The values of a runtime that has read the file, and the names that wait.
fn read(path: &PathBuf) -> Result<(Values, Vec<String>), FileError> {
    let (mut rt, mut host) = (Runtime::<()>::new(), ());
    rt.set_report_handler(|_| ());
    let mut cx = rt.cx(&mut host);
    let read = cx.load_config(path)?;
    let values = (cx.var(VOLUME), cx.var(NAME), cx.var(COUNT));
    assert!((0.0..=1.0).contains(&values.0));
    Ok((values, read.waiting))
}

fn check(bytes: &[u8]) {
    let path = std::env::temp_dir().join(format!("sc-fuzz-config-{}.toml", std::process::id()));
    fs::write(&path, bytes).expect("a temporary file can be written");
    let (mut rt, mut host) = (Runtime::<()>::new(), ());
    rt.set_report_handler(|_| ());
    let mut cx = rt.cx(&mut host);
    let loaded = read(&path);
    match cx.load_config(&path) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            cx.save_config(&path)
                .expect_err("what cannot be read is not overwritten");
            assert_eq!(fs::read(&path).expect("the file is there"), bytes);
        }
        Ok(_) => {
            let (_, waiting) = loaded.expect("the same file reads alike");
            cx.set_var(NAME, String::from_utf8_lossy(bytes).into_owned())
                .expect("any text is allowed");
            let values = (cx.var(VOLUME), cx.var(NAME), cx.var(COUNT));
            cx.save_config(&path)
                .expect("what could be read can be written");
            let (again, still_waiting) = read(&path).expect("what was written can be read");
            assert_eq!((again, still_waiting), (values, waiting));
        }
    }
}
