//! What a flow is like, and what it says in its turn, as bits of one word each: a turn loads and stores
//! them once.

use sc_core::Clock;

/// It wants a turn in the next frame in which `Game` runs.
pub(crate) const WANTS_GAME: u16 = 1;
/// It wants one in the next frame, paused or not.
pub(crate) const WANTS_ANY: u16 = 1 << 1;
pub(crate) const WANTS: u16 = WANTS_GAME | WANTS_ANY;

/// Its turn takes more than running it: it is paused, has a waker of its own, or is bound to
/// something that has to be asked.
pub(crate) const SLOW: u16 = 1 << 2;
/// It has not had a turn.
pub(crate) const FRESH: u16 = 1 << 3;
/// It is in its home's list of those that run every frame.
pub(crate) const LISTED: u16 = 1 << 4;
/// It is about to be.
pub(crate) const JOINING: u16 = 1 << 5;
/// It is in its home's list of the woken.
pub(crate) const WOKEN: u16 = 1 << 6;
/// It is bound to the life of an object.
pub(crate) const OWNED: u16 = 1 << 7;
/// It is a node.
pub(crate) const NODE: u16 = 1 << 8;
/// A node that waits for the next frame, and did so before; a future that steps from frame to frame:
/// it waits since its home last ran, whatever its row says.
pub(crate) const STEADY: u16 = 1 << 9;

/// It is woken because a wait is over, so its clock has nothing to say about the turn.
pub(crate) const ON_TIME: u16 = 1 << 12;

/// Where the number of its clock lies, in [`Clock::ALL`].
const CLOCK_SHIFT: u32 = 10;

/// What a flow says while it has its turn; the lowest bits are those of [`WANTS`].
pub(crate) mod said {
    pub(crate) const WANTS: u8 = super::WANTS as u8;
    /// An await of it has completed.
    pub(crate) const AWAITED: u8 = 1 << 2;
    /// It was asked to end.
    pub(crate) const ASKED: u8 = 1 << 3;

    /// The wish for a turn in the next frame in which a clock runs.
    #[inline]
    pub(crate) fn wants(clock: sc_core::Clock) -> u8 {
        1 << u8::from(!clock.stops_while_paused())
    }
}

/// The wish for a turn in the next frame in which a clock runs.
#[inline]
pub(crate) fn wants(clock: Clock) -> u16 {
    said::wants(clock).into()
}

pub(crate) fn of_clock(clock: Clock) -> u16 {
    (clock as u16) << CLOCK_SHIFT
}

#[inline]
pub(crate) fn clock(bits: u16) -> Clock {
    Clock::ALL[(bits >> CLOCK_SHIFT) as usize % Clock::ALL.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_what_was_put_in_beside_everything_else() {
        assert_eq!(wants(Clock::Unscaled), WANTS_GAME);
        assert_eq!(wants(Clock::Real), WANTS_ANY);
        for of in Clock::ALL {
            let everything =
                WANTS | SLOW | FRESH | LISTED | JOINING | WOKEN | OWNED | NODE | STEADY | ON_TIME;
            assert_eq!(clock(of_clock(of) | everything), of);
            assert_eq!(of_clock(of) & everything, 0);
        }
    }
}
