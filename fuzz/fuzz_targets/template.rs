//! Fuzz target: a template, and texts to fill it with, a line each. Every text is a template; what is
//! no placeholder stays; what is filled in is not read again.
#![no_main]
#![forbid(unsafe_code)]

use std::fmt::Display;

use libfuzzer_sys::fuzz_target;
use sc_console::Template;

fuzz_target!(|bytes: &[u8]| check(bytes));

fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut lines = text.split('\n');
    let source = lines.next().unwrap_or_default();
    let values: Vec<&str> = lines.collect();
    let template = Template::new(source);
    assert_eq!(template.source(), source);

    // Without values nothing changes, and everything is missing.
    let names: Vec<&str> = template.arguments().collect();
    let empty = template.fill(&[]);
    assert_eq!(empty.text, source);
    assert_eq!(empty.missing, names);

    // A name stands in the template, and no two are the same.
    for (index, name) in names.iter().enumerate() {
        assert!(source.contains(name) && !name.contains(['{', '}']));
        assert_eq!(*name, name.trim());
        let lower = name.to_lowercase();
        assert!(names[..index].iter().all(|n| n.to_lowercase() != lower));
    }

    // With all of them, nothing is missing, by any spelling.
    let shown = |index: usize| values.get(index).copied().unwrap_or("{}");
    let texts: Vec<&str> = (0..names.len()).map(shown).collect();
    let by_name: Vec<(&str, &dyn Display)> = names
        .iter()
        .zip(&texts)
        .map(|(name, text)| (*name, text as &dyn Display))
        .collect();
    let full = template.fill(&by_name);
    assert!(full.missing.is_empty());

    // Each is put in at least once, as it is.
    for text in &texts {
        assert!(full.text.contains(text));
    }
    if names.is_empty() {
        assert_eq!(full.text, source);
    }

    // In order, as many as there are names that are no numbers are put in at least.
    let in_order: Vec<&dyn Display> = values.iter().map(|text| text as &dyn Display).collect();
    let filled = template.fill_in_order(&in_order);
    assert!(filled.missing.len() <= names.len());
    if in_order.is_empty() {
        assert_eq!(filled.text, source);
    }
}
