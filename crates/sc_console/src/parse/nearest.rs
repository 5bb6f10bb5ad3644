//! "Did you mean": the name that is nearest to a mistyped one.

/// The nearest of some folded names, if one is near enough to be meant: a few slips of the finger
/// away, or the same in its last part. Ties go to the first.
pub(crate) fn nearest<'n>(
    meant: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let length = meant.chars().count();
    let allowed = (length / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let last = name.rsplit('.').next().unwrap_or(name);
        let of_whole = distance(meant, name, allowed);
        // `giveitem` for `mygame.debug.giveitem`: right but for its groups.
        let of_last = if last.len() < name.len() && !meant.contains('.') {
            distance(meant, last, allowed)
        } else {
            None
        };
        let Some(found) = of_whole.into_iter().chain(of_last).min() else {
            continue;
        };
        if best.is_none_or(|(least, _)| found < least) {
            best = Some((found, name));
        }
    }
    best.map(|(_, name)| name)
}

fn distance(a: &str, b: &str, allowed: usize) -> Option<usize> {
    let (long, short) = (a.len().max(b.len()), a.len().min(b.len()));
    // A character has four bytes at most.
    if long - short > allowed * 4 {
        return None;
    }
    let distance = strsim::damerau_levenshtein(a, b);
    (distance <= allowed).then_some(distance)
}
