//! The four clocks of one world: how far each has come, and how far it came in this frame.

use super::dilation::Remainder;
use super::{Clock, Dilation, TimeError};

/// How far each clock of a world moved in the current frame, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FrameDeltas([u64; 4]);

impl FrameDeltas {
    pub(crate) fn get(self, clock: Clock) -> u64 {
        self.0[clock as usize]
    }
}

/// What did not fit into an advance, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Clamped {
    /// Dilated time cut off by `max_delta` or by the range of a clock.
    pub(crate) nanos: u64,
    /// The dilated delta was beyond `u64` nanoseconds.
    pub(crate) saturated: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct WorldClocks {
    elapsed: [u64; 4],
    frame: FrameDeltas,
    dilation: Dilation,
    /// Of `Game` and of `GameThroughPause`: each integrates its own frames, so each has its own.
    game_remainder: Remainder,
    through_remainder: Remainder,
}

impl WorldClocks {
    /// The reading: the sum of the deltas handed out, in nanoseconds.
    pub(crate) fn elapsed(&self, clock: Clock) -> u64 {
        self.elapsed[clock as usize]
    }

    pub(crate) fn frame(&self) -> FrameDeltas {
        self.frame
    }

    pub(crate) fn dilation(&self) -> f64 {
        self.dilation.factor()
    }

    pub(crate) fn set_dilation(&mut self, factor: f64) -> Result<(), TimeError> {
        self.dilation = Dilation::new(factor)?;
        Ok(())
    }

    /// Moves the clocks by a real delta (already clamped).
    pub(crate) fn advance(&mut self, real: u64, paused: bool, max_delta: Option<u64>) -> Clamped {
        self.advance_ready((real, real), real, paused, max_delta)
    }

    /// Moves the clocks by deltas a host that owns time has made itself: those to dilate here, of the game
    /// clock and of the one that goes through a pause, and the real one.
    pub(crate) fn advance_ready(
        &mut self,
        (game, through): (u64, u64),
        real: u64,
        paused: bool,
        max_delta: Option<u64>,
    ) -> Clamped {
        let mut clamped = Clamped::default();
        let limit = max_delta.unwrap_or(u64::MAX);
        let mut dilate = |delta, remainder: &mut Remainder| {
            let dilated = self.dilation.apply(delta, remainder);
            let over = dilated.saturating_sub(u128::from(limit));
            clamped.saturated |= dilated > u128::from(u64::MAX);
            clamped.nanos = clamped.nanos.max(u64::try_from(over).unwrap_or(u64::MAX));
            u64::try_from(dilated).unwrap_or(u64::MAX).min(limit)
        };
        let through = dilate(through, &mut self.through_remainder);
        let game = if paused {
            0
        } else {
            dilate(game, &mut self.game_remainder)
        };
        self.hand_out(game, through, real, paused, &mut clamped);
        clamped
    }

    fn hand_out(
        &mut self,
        game: u64,
        through: u64,
        real: u64,
        paused: bool,
        clamped: &mut Clamped,
    ) {
        let unscaled = if paused { 0 } else { real };
        for (clock, delta) in [
            (Clock::Game, game),
            (Clock::Unscaled, unscaled),
            (Clock::GameThroughPause, through),
            (Clock::Real, real),
        ] {
            let elapsed = &mut self.elapsed[clock as usize];
            // 584 years: a clock stops there rather than start again from zero.
            let fits = delta.min(u64::MAX - *elapsed);
            if fits < delta {
                clamped.saturated = true;
                clamped.nanos = clamped.nanos.saturating_add(delta - fits);
            }
            *elapsed += fits;
            self.frame.0[clock as usize] = fits;
        }
    }

    /// The frame is over: nothing has a delta any more.
    pub(crate) fn end_frame(&mut self) {
        self.frame = FrameDeltas::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(c: &WorldClocks) -> [u64; 4] {
        Clock::ALL.map(|k| c.elapsed(k))
    }

    #[test]
    fn four_clocks_answer_two_questions() {
        let mut c = WorldClocks::default();
        c.set_dilation(0.5).unwrap();
        c.advance(100, false, None);
        assert_eq!(readings(&c), [50, 100, 50, 100]);
        c.advance(100, true, None);
        assert_eq!(readings(&c), [50, 100, 100, 200]);
    }

    #[test]
    fn a_pause_does_not_leak_the_remainder_of_another_clock() {
        let mut c = WorldClocks::default();
        c.set_dilation(0.5).unwrap();
        c.advance(1, true, None);
        c.advance(1, false, None);
        // Game has integrated one nanosecond at one half; GameThroughPause two.
        assert_eq!(readings(&c), [0, 1, 1, 2]);
    }

    #[test]
    fn the_dilated_delta_is_clamped_again() {
        let mut c = WorldClocks::default();
        c.set_dilation(10.0).unwrap();
        let clamped = c.advance(100, false, Some(250));
        assert_eq!(readings(&c), [250, 100, 250, 100]);
        assert_eq!(
            clamped,
            Clamped {
                nanos: 750,
                saturated: false
            }
        );
    }

    #[test]
    fn beyond_range_saturates_and_the_clock_stops_at_its_end() {
        let mut c = WorldClocks::default();
        c.set_dilation(1e300).unwrap();
        assert!(c.advance(1, false, None).saturated);
        assert_eq!(c.elapsed(Clock::Game), u64::MAX);
        assert!(c.advance(1, false, None).saturated);
        assert_eq!(c.elapsed(Clock::Game), u64::MAX);
        assert_eq!(c.frame().get(Clock::Game), 0);
        assert_eq!(c.elapsed(Clock::Real), 2);
    }
}
