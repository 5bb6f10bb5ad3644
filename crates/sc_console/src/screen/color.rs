//! Colours of messages on screen.

/// A colour: red, green, blue and opacity, each from 0 to 255, in sRGB.
///
/// ```
/// use sc_console::Color;
/// assert_eq!(Color::RED, Color::rgb(255, 0, 0));
/// assert_eq!(Color::rgb(1, 2, 3).with_alpha(128).alpha, 128);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Color {
    /// Red.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
    /// Opacity: 0 is clear, 255 is solid.
    pub alpha: u8,
}

impl Color {
    /// White, the colour of a message that names none.
    pub const WHITE: Color = Color::rgb(255, 255, 255);
    /// Black.
    pub const BLACK: Color = Color::rgb(0, 0, 0);
    /// Grey.
    pub const GRAY: Color = Color::rgb(128, 128, 128);
    /// Red.
    pub const RED: Color = Color::rgb(255, 0, 0);
    /// Orange.
    pub const ORANGE: Color = Color::rgb(255, 128, 0);
    /// Yellow.
    pub const YELLOW: Color = Color::rgb(255, 255, 0);
    /// Green.
    pub const GREEN: Color = Color::rgb(0, 255, 0);
    /// Cyan.
    pub const CYAN: Color = Color::rgb(0, 255, 255);
    /// Blue.
    pub const BLUE: Color = Color::rgb(0, 0, 255);
    /// Magenta.
    pub const MAGENTA: Color = Color::rgb(255, 0, 255);

    /// A solid colour.
    #[must_use]
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Color {
            red,
            green,
            blue,
            alpha: 255,
        }
    }

    /// The same colour, more or less clear.
    #[must_use]
    pub const fn with_alpha(self, alpha: u8) -> Self {
        Color { alpha, ..self }
    }
}

impl Default for Color {
    fn default() -> Self {
        Color::WHITE
    }
}
