//! "Did you mean": the name that is nearest to a mistyped one.

/// More slips of the finger than these are another name.
const SLIPS: usize = 3;

/// The nearest of some folded names, if one is near enough to be meant: a few slips of the finger
/// away, or the same in its last part. Ties go to the first.
pub(crate) fn nearest<'n>(
    meant: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let length = meant.chars().count();
    let allowed = (length / 3).clamp(1, SLIPS);
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

/// How many bytes, whatever their order, one of two words has more than the other: there are no fewer
/// edits than that in ASCII.
fn differ(a: &str, b: &str) -> usize {
    let mut counts = [0_i16; 64];
    let mut count = |byte: u8, by: i16| {
        if let Some(count) = counts.get_mut(usize::from(byte % 64)) {
            *count += by;
        }
    };
    a.bytes().for_each(|byte| count(byte, 1));
    b.bytes().for_each(|byte| count(byte, -1));
    let (mut more, mut less) = (0, 0);
    for count in counts {
        let by = usize::from(count.unsigned_abs());
        if count > 0 { more += by } else { less += by }
    }
    more.max(less)
}

fn distance(a: &str, b: &str, allowed: usize) -> Option<usize> {
    let (long, short) = (a.len().max(b.len()), a.len().min(b.len()));
    // A character has four bytes at most.
    if long - short > allowed * 4 {
        return None;
    }
    // A character has four bytes at most.
    let bytes = if a.is_ascii() && b.is_ascii() { 1 } else { 4 };
    if differ(a, b) > allowed * bytes {
        return None;
    }
    // What both start and end with needs no edit; with thousands of names in a few groups that is most
    // of the work.
    let same = |(a, b): &(char, char)| a == b;
    let start: usize = a
        .chars()
        .zip(b.chars())
        .take_while(same)
        .map(|(c, _)| c.len_utf8())
        .sum();
    let (a, b) = (a.get(start..).unwrap_or(a), b.get(start..).unwrap_or(b));
    let ends = a.chars().rev().zip(b.chars().rev());
    let end: usize = ends.take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let a = a.get(..a.len() - end).unwrap_or(a);
    let b = b.get(..b.len() - end).unwrap_or(b);
    let distance = strsim::osa_distance(a, b);
    (distance <= allowed).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_few_slips_are_near_and_more_are_not() {
        let names = ["help", "mygame.debug.giveitem", "mygame.debug.give", "quit"];
        let near = |meant| nearest(meant, names);
        assert_eq!(near("hepl"), Some("help"));
        assert_eq!(near("hlp"), Some("help"));
        assert_eq!(near("helpp"), Some("help"));
        assert_eq!(near("giveitem"), Some("mygame.debug.giveitem"));
        assert_eq!(near("mygame.debug.giveitm"), Some("mygame.debug.giveitem"));
        assert_eq!(near("mygame.debug.gives"), Some("mygame.debug.give"));
        assert_eq!(near("xyz"), None);
        assert_eq!(near(""), None);
    }

    #[test]
    fn of_two_that_are_as_near_it_is_the_first() {
        assert_eq!(nearest("cat", ["car", "bat"]), Some("car"));
    }
}
