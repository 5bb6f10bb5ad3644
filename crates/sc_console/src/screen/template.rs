//! Templates that are text at run time: where its arguments are, and how they are put in.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::ops::Range;

use crate::name::fold;

/// A text with arguments in braces, made at run time: from a data file, a translation, a mod.
///
/// - `{Name}` is an argument. A name is anything but braces that is not blank; blanks around it do
///   not count. Upper and lower case are one: `{Name}` and `{name}` are the same argument, and the
///   spelling that comes first names it.
/// - `{0}` is the argument named `0`.
/// - `{}`, a brace that is not closed and one that is not opened are plain text. So nothing makes a
///   template invalid.
/// - A value is put in as it is: braces in it are text, never arguments. Numbers are written as Rust
///   writes them, in every country alike.
///
/// ```
/// use sc_console::Template;
/// let template = Template::new("{Who} hits {Whom} for {damage}. Well done, {WHO}!");
/// assert_eq!(template.arguments().collect::<Vec<_>>(), ["Who", "Whom", "damage"]);
/// let filled = template.fill(&[("who", &"Mia"), ("whom", &"an ogre"), ("damage", &1234)]);
/// assert_eq!(filled.text, "Mia hits an ogre for 1234. Well done, Mia!");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Template {
    source: String,
    /// The placeholders, in order: where each stands, braces included, and whose it is.
    places: Vec<(Range<usize>, usize)>,
    /// Where the first spelling of each argument's name stands, in order of first appearance.
    names: Vec<Range<usize>>,
    /// Whose each name is, as names are compared.
    folded: BTreeMap<String, usize>,
}

/// A template with its arguments put in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
#[must_use = "what is missing is told nowhere else"]
pub struct Filled {
    /// The text. Arguments without a value stand in it as they stand in the template.
    pub text: String,
    /// The names of the arguments that have got no value, in order of first appearance.
    pub missing: Vec<String>,
}

impl Template {
    /// The template that a text is. Every text is one.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let mut template = Template {
            source: text.into(),
            ..Template::default()
        };
        template.find_places();
        template
    }

    fn find_places(&mut self) {
        // The brace that was opened last and is not closed.
        let mut open = None;
        for (at, c) in self.source.char_indices() {
            match c {
                '{' => open = Some(at),
                '}' => {
                    let Some(start) = open.take() else { continue };
                    let Some(inside) = self.source.get(start + 1..at) else {
                        continue;
                    };
                    let name = inside.trim();
                    if name.is_empty() {
                        continue;
                    }
                    let folded = fold(name);
                    let next = self.names.len();
                    let argument = *self.folded.entry(folded).or_insert(next);
                    if argument == next {
                        let name_at = at - inside.trim_start().len();
                        self.names.push(name_at..name_at + name.len());
                    }
                    self.places.push((start..at + 1, argument));
                }
                _ => {}
            }
        }
    }

    /// The text it was made from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names of its arguments, in order of first appearance.
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = &str> {
        let names = self.names.iter().cloned();
        names.map(|name| self.source.get(name).unwrap_or_default())
    }

    /// Puts values in, by name. Of two values for one argument the first counts; a value for an
    /// argument that is not there is left out: a translation need not use them all.
    ///
    /// ```
    /// use sc_console::Template;
    /// let filled = Template::new("{0} + {x} = {").fill(&[("0", &0.5), ("y", &"{0}")]);
    /// assert_eq!(filled.text, "0.5 + {x} = {");
    /// assert_eq!(filled.missing, ["x"]);
    /// ```
    pub fn fill(&self, values: &[(&str, &dyn Display)]) -> Filled {
        let mut given: Vec<Option<&dyn Display>> = vec![None; self.names.len()];
        for (name, value) in values {
            let folded = fold(name.trim());
            let argument = self.folded.get(&folded);
            if let Some(slot) = argument.and_then(|argument| given.get_mut(*argument)) {
                slot.get_or_insert(*value);
            }
        }
        self.put_in(&given)
    }

    /// Puts values in, by place: value number *n*, counted from 0, is for the argument named *n*;
    /// where there is no such argument, the next one that is not named by a number gets it, in order
    /// of first appearance.
    ///
    /// ```
    /// use sc_console::Template;
    /// let word_order = Template::new("{1} or {0}?").fill_in_order(&[&"trick", &"treat"]);
    /// assert_eq!(word_order.text, "treat or trick?");
    /// let by_appearance = Template::new("{a} or {b}?").fill_in_order(&[&"trick", &"treat"]);
    /// assert_eq!(by_appearance.text, "trick or treat?");
    /// ```
    pub fn fill_in_order(&self, values: &[&dyn Display]) -> Filled {
        let mut given: Vec<Option<&dyn Display>> = vec![None; self.names.len()];
        let is_number = |name: &str| name.bytes().all(|b| b.is_ascii_digit());
        let named = self.arguments().enumerate();
        let mut named = named.filter(|(_, name)| !is_number(name)).map(|(at, _)| at);
        for (number, value) in values.iter().enumerate() {
            let number = number.to_string();
            let numbered = self.folded.get(&number).copied();
            let argument = numbered.or_else(|| named.next());
            if let Some(slot) = argument.and_then(|argument| given.get_mut(argument)) {
                *slot = Some(*value);
            }
        }
        self.put_in(&given)
    }

    fn put_in(&self, given: &[Option<&dyn Display>]) -> Filled {
        // A value is written once, however often it stands in the text.
        let texts: Vec<Option<String>> = given
            .iter()
            .map(|value| {
                let mut text = String::new();
                // A `Display` that fails has no text to show: the placeholder stays.
                write!(text, "{}", (*value)?).is_ok().then_some(text)
            })
            .collect();
        let mut filled = Filled::default();
        let mut done = 0;
        for (place, argument) in &self.places {
            let plain = self.source.get(done..place.start);
            filled.text.push_str(plain.unwrap_or_default());
            let value = texts.get(*argument).and_then(Option::as_deref);
            let placeholder = self.source.get(place.clone()).unwrap_or_default();
            filled.text.push_str(value.unwrap_or(placeholder));
            done = place.end;
        }
        let rest = self.source.get(done..);
        filled.text.push_str(rest.unwrap_or_default());
        let arguments = self.arguments().zip(&texts);
        let missing = arguments.filter(|(_, text)| text.is_none());
        filled.missing = missing.map(|(name, _)| name.to_owned()).collect();
        filled
    }
}

impl From<&str> for Template {
    fn from(text: &str) -> Self {
        Template::new(text)
    }
}

impl From<String> for Template {
    fn from(text: String) -> Self {
        Template::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a template filled with `a` = 1, `b` = 2 and `0` = zero.
    fn filled(text: &str) -> String {
        let values: [(&str, &dyn Display); 3] = [("a", &1), ("b", &2), ("0", &"zero")];
        Template::new(text).fill(&values).text
    }

    fn arguments(text: &str) -> Vec<String> {
        let template = Template::new(text);
        template.arguments().map(str::to_owned).collect()
    }

    #[test]
    fn arguments_come_in_order_of_first_appearance() {
        assert_eq!(arguments("{b} {a} {b} {0}"), ["b", "a", "0"]);
        assert_eq!(filled("{b} {a} {b} {0}"), "2 1 2 zero");
    }

    #[test]
    fn case_variants_are_one_argument_and_the_first_spelling_names_it() {
        assert_eq!(arguments("{Über} {ÜBER} {über}"), ["Über"]);
        assert_eq!(filled("{A} {a} {A}"), "1 1 1");
        // By the one rule of all names: a final sigma is a sigma.
        assert_eq!(arguments("{ΟΔΟΣ} {οδος} {οδοσ}"), ["ΟΔΟΣ"]);
        let shouted = Template::new("{x} {X}").fill(&[("X", &7)]);
        assert_eq!(shouted.text, "7 7");
    }

    #[test]
    fn stray_braces_are_plain_text() {
        for text in [
            "", "{", "}", "{}", "{ }", "}{", "{a", "a}", "{{", "}}", "{\t}", "{ {", "é{é", "{}{}",
        ] {
            assert_eq!(filled(text), text);
            assert!(arguments(text).is_empty(), "{text}");
        }
        assert_eq!(filled("{{a}}"), "{1}");
        assert_eq!(filled("{ {a}"), "{ 1");
        assert_eq!(filled("{a}}"), "1}");
        assert_eq!(filled("{{}{a}"), "{{}1");
    }

    #[test]
    fn a_name_is_anything_that_is_not_blank() {
        assert_eq!(
            arguments("{Player Name} {x:.2} {日本}"),
            ["Player Name", "x:.2", "日本"]
        );
        assert_eq!(filled("{ a } and {a }"), "1 and 1");
        assert_eq!(arguments("{  Player Name }"), ["Player Name"]);
    }

    #[test]
    fn a_missing_argument_stays_as_it_stands() {
        let filled = Template::new("{ Who } and {x} and {WHO}").fill(&[("x", &1)]);
        assert_eq!(filled.text, "{ Who } and 1 and {WHO}");
        assert_eq!(filled.missing, ["Who"]);
    }

    #[test]
    fn case_h5_braces_in_an_argument_are_printed_as_they_are() {
        let values: [(&str, &dyn Display); 2] = [("a", &"{b} } {"), ("b", &"{a}")];
        assert_eq!(Template::new("{a}|{b}").fill(&values).text, "{b} } {|{a}");
    }

    #[test]
    fn case_h7_numbers_do_not_follow_the_locale() {
        let values: [(&str, &dyn Display); 2] = [("n", &1234), ("x", &1234.5)];
        let filled = Template::new("{n} {x}").fill(&values);
        assert_eq!(filled.text, "1234 1234.5");
    }

    #[test]
    fn values_in_order_go_to_numbers_first_and_then_to_names() {
        let fill = |text: &str| Template::new(text).fill_in_order(&[&"a", &"b", &"c"]);
        assert_eq!(fill("{2}{1}{0}").text, "cba");
        assert_eq!(fill("{x}{y}{X}{z}").text, "abac");
        assert_eq!(fill("{x}{0}{y}").text, "bac");
        assert_eq!(fill("{00} {7}").missing, ["00", "7"]);
    }

    #[test]
    fn a_value_that_cannot_be_written_is_missing() {
        struct Broken;
        impl Display for Broken {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                Err(std::fmt::Error)
            }
        }
        let filled = Template::new("[{x}]").fill(&[("x", &Broken)]);
        assert_eq!((filled.text.as_str(), filled.missing.len()), ("[{x}]", 1));
    }

    proptest::proptest! {
        /// What is no placeholder stays, and each placeholder becomes the value.
        #[test]
        fn any_text_is_a_template(text in "[{}a-cA-C0é ]{0,24}") {
            let template = Template::new(text.as_str());
            let names: Vec<String> = template.arguments().map(str::to_owned).collect();
            let empty = template.fill(&[]);
            proptest::prop_assert_eq!(&empty.text, &text);
            proptest::prop_assert_eq!(&empty.missing, &names);
            let values: Vec<(&str, &dyn Display)> =
                names.iter().map(|name| (name.as_str(), &"{}" as &dyn Display)).collect();
            let full = template.fill(&values);
            proptest::prop_assert!(full.missing.is_empty());
            // Without its braces a template has no argument left, and keeps all else.
            let letters = |s: &str| s.chars().filter(|c| !"{}".contains(*c)).count();
            proptest::prop_assert!(letters(&full.text) <= letters(&text));
        }
    }
}
