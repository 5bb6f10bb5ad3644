//! Curves: how a drive's progress is shaped.

/// A shape of progress: from `0..=1` to anything; it may overshoot.
pub(crate) type Shape = Box<dyn Fn(f32) -> f32>;

macro_rules! curves {
    ($($name:ident: $function:ident,)*) => {
        /// The named easing curves (Robert Penner's).
        #[cfg(feature = "easing")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum Ease {
            /// No easing.
            Linear,
            $($name,)*
        }

        #[cfg(feature = "easing")]
        impl Ease {
            /// The curve at a progress from 0 to 1.
            ///
            /// ```
            /// use sc_flow::Ease;
            /// assert_eq!(Ease::Linear.at(0.25), 0.25);
            /// assert_eq!(Ease::OutQuad.at(1.0), 1.0);
            /// ```
            #[must_use]
            pub fn at(self, progress: f32) -> f32 {
                match self {
                    Ease::Linear => progress,
                    $(Ease::$name => simple_easing::$function(progress),)*
                }
            }
        }
    };
}

curves! {
    InSine: sine_in, OutSine: sine_out, InOutSine: sine_in_out,
    InQuad: quad_in, OutQuad: quad_out, InOutQuad: quad_in_out,
    InCubic: cubic_in, OutCubic: cubic_out, InOutCubic: cubic_in_out,
    InQuart: quart_in, OutQuart: quart_out, InOutQuart: quart_in_out,
    InQuint: quint_in, OutQuint: quint_out, InOutQuint: quint_in_out,
    InExpo: expo_in, OutExpo: expo_out, InOutExpo: expo_in_out,
    InCirc: circ_in, OutCirc: circ_out, InOutCirc: circ_in_out,
    InBack: back_in, OutBack: back_out, InOutBack: back_in_out,
    InElastic: elastic_in, OutElastic: elastic_out, InOutElastic: elastic_in_out,
    InBounce: bounce_in, OutBounce: bounce_out, InOutBounce: bounce_in_out,
}
