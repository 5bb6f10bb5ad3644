//! Names of commands, variables and aliases: what one may look like, and the one rule by which two
//! are the same.

/// The one folding rule of names: register, find, complete and remove use it. Upper and lower case
/// are the same, in every script, wherever a letter stands.
pub(crate) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // By way of upper case, so that letters with two lower cases (σ, ς) are one; and of lower case before that, for
    // those whose upper case is none of it (ẞ, of ß, of SS).
    let lower = name.chars().flat_map(char::to_lowercase);
    let upper = lower.flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).collect()
}

/// What is wrong with a name, if anything is.
pub(crate) fn fault(name: &str) -> Option<&'static str> {
    let legal = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() {
        Some("it is empty")
    } else if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        Some("it does not start with a letter")
    } else if name.split('.').any(str::is_empty) {
        Some("a part between its dots is empty")
    } else if !name.split('.').all(|part| part.chars().all(legal)) {
        Some("it has more in it than letters, digits, `_`, `-` and dots")
    } else if name.len() > LONGEST {
        Some("it is longer than 200 bytes")
    } else {
        None
    }
}

const LONGEST: usize = 200;

/// Whether a folded name lies in the group that is ours.
pub(crate) fn is_reserved(folded: &str) -> bool {
    folded == "sc" || folded.starts_with("sc.")
}

/// Whether code of this module may use the group that is ours.
pub(crate) fn is_ours(module: &str) -> bool {
    let crate_name = module.split("::").next().unwrap_or_default();
    matches!(
        crate_name,
        "sc_core" | "sc_flow" | "sc_console" | "sc_bevy" | "stillcooking"
    )
}

#[cfg(test)]
mod tests {
    use super::{fault, fold, is_reserved};

    #[test]
    fn folding_is_one_rule_for_every_script() {
        assert_eq!(fold("MyGame.GIVE"), "mygame.give");
        assert_eq!(fold("GRÖSSE"), fold("größe"));
        assert_eq!(fold("ΟΔΟΣ"), fold("οδος"));
        assert_eq!(fold("Maẞ"), fold("maß"));
        for c in '\0'..=char::MAX {
            let folded = fold(c.encode_utf8(&mut [0; 4]));
            assert_eq!(fold(&folded), folded, "{c:?}");
            let upper: String = c.to_uppercase().collect();
            let lower: String = c.to_lowercase().collect();
            assert_eq!(fold(&lower), folded, "{c:?}");
            assert!(fold(&upper) == folded || c == 'ı', "{c:?}");
        }
    }

    #[test]
    fn names_have_a_form() {
        for good in ["a", "MyGame.Debug.GiveItem", "größe", "r.4k", "_x", "a-b"] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "", ".", "a.", ".a", "a..b", "1a", "a b", "a;b", "a\"", "-a", "a\n", "a/b",
        ] {
            assert!(fault(bad).is_some(), "{bad:?}");
        }
        assert!(fault(&"a".repeat(201)).is_some());
    }

    #[test]
    fn our_group_is_a_whole_part() {
        assert!(is_reserved("sc.debug.ping") && is_reserved("sc"));
        assert!(!is_reserved("scene.open"));
    }
}
