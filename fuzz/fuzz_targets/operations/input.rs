//! What a case is made of: bytes, taken one by one by whoever asks next.
//!
//! Seeds are text: an operation is a letter, a number a digit, and spaces and line ends before an
//! operation do not count. Any byte is some operation and some number.

use std::time::Duration;

use sc_core::{Secs, TickGroup, secs};

pub struct Input {
    bytes: Vec<u8>,
    at: usize,
}

impl Input {
    pub fn new(bytes: &[u8]) -> Self {
        Input {
            bytes: bytes.to_vec(),
            at: 0,
        }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    /// The next operation; `None` at the end.
    pub fn op(&mut self) -> Option<u8> {
        loop {
            match self.next()? {
                b' ' | b'\n' => {}
                letter => return Some(b'a' + (letter.wrapping_sub(b'a')) % 26),
            }
        }
    }

    /// A number below `end`; zero when there are no more.
    pub fn number(&mut self, end: usize) -> usize {
        usize::from(self.next().unwrap_or(b'0').wrapping_sub(b'0')) % end
    }

    pub fn flag(&mut self) -> bool {
        self.number(2) == 1
    }

    pub fn group(&mut self) -> TickGroup {
        match self.number(4) {
            0 => TickGroup::PostPhysics,
            1 => TickGroup::PrePhysics,
            2 => TickGroup::DuringPhysics,
            _ => TickGroup::PostUpdate,
        }
    }

    pub fn interval(&mut self) -> Secs {
        let nanos = |nanos| Secs::from(Duration::from_nanos(nanos));
        match self.number(12) {
            0..=3 => nanos(0),
            4 => nanos(1),
            5 => nanos(5),
            6 => nanos(33_333_333),
            7 => secs(1),
            8 => secs(3600),
            9 => nanos(u64::MAX),
            10 => secs(-1),
            _ => secs(1e-10),
        }
    }

    pub fn delta(&mut self) -> Secs {
        let nanos = |nanos| Secs::from(Duration::from_nanos(nanos));
        match self.number(16) {
            0 => nanos(16_666_667),
            1 => nanos(1),
            2 => nanos(7),
            3 => nanos(0),
            4 => secs(1),
            5 => secs(0.1_f32),
            6 => secs(3600),
            7 => secs(-0.0),
            8 => secs(f64::NAN),
            9 => secs(-1),
            10 => secs(f64::INFINITY),
            11 => nanos(u64::MAX),
            12 => nanos(u64::MAX / 2),
            13 => secs(f64::MIN_POSITIVE),
            _ => nanos(33_333_333),
        }
    }

    pub fn dilation(&mut self) -> f64 {
        const FACTORS: [f64; 10] = [1.0, 0.0, 0.3, 2.5, 1e-18, 1e300, f64::NAN, -1.0, 1e-19, 0.5];
        FACTORS[self.number(FACTORS.len())]
    }
}
