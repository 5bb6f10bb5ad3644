//! The bodies, defined, or the ratios mean nothing. Neither is inlined.

use stillcooking::prelude::*;

/// 64 bytes of own state, about 20 ns bare.
#[derive(Clone, Copy)]
pub(crate) struct Standard([u64; 8]);

impl Standard {
    pub(crate) fn new(seed: usize) -> Self {
        Standard([seed as u64 | 1; 8])
    }

    #[inline(never)]
    pub(crate) fn run(&mut self, delta: u64) {
        let mut x = self.0[0] ^ delta;
        // A chain of dependent steps: it takes its time whatever the width of the processor.
        for cell in &mut self.0 {
            for _ in 0..3 {
                x = (x ^ (x >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ *cell;
            }
            *cell = x;
        }
    }
}

/// Next to nothing.
#[derive(Clone, Copy)]
pub(crate) struct Empty(u64);

impl Empty {
    pub(crate) fn new(seed: usize) -> Self {
        Empty(seed as u64)
    }

    #[inline(never)]
    pub(crate) fn run(&mut self, delta: u64) {
        self.0 = self.0.wrapping_add(delta);
    }
}

/// The host: what a peer's context would be.
pub(crate) struct Host;

impl Tickable<Host> for Standard {
    fn tick(&mut self, cx: &mut Cx<'_, Host>) {
        self.run(u64::from(cx.delta().subsec_nanos()));
    }
}

impl Tickable<Host> for Empty {
    fn tick(&mut self, cx: &mut Cx<'_, Host>) {
        self.run(u64::from(cx.delta().subsec_nanos()));
    }
}

/// What a bare loop hands to its closures.
pub(crate) struct Bare {
    pub(crate) delta: u64,
}

/// Both bodies, for rows that are the same but for it.
pub(crate) trait Body: Tickable<Host> + Copy {
    const NAME: &'static str;
    fn make(seed: usize) -> Self;
    fn call(&mut self, delta: u64);
}

impl Body for Standard {
    const NAME: &'static str = "standard";
    fn make(seed: usize) -> Self {
        Standard::new(seed)
    }
    fn call(&mut self, delta: u64) {
        self.run(delta);
    }
}

impl Body for Empty {
    const NAME: &'static str = "empty";
    fn make(seed: usize) -> Self {
        Empty::new(seed)
    }
    fn call(&mut self, delta: u64) {
        self.run(delta);
    }
}
