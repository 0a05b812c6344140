//! Colors: the terminal's own sixteen by default, so that they are right on light and dark without asking.

use ratatui::style::{Color, Modifier, Style};

/// How things look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The terminal's palette.
    #[default]
    Auto,
    /// For light backgrounds, in 256 colors.
    Light,
    /// For dark backgrounds, in 256 colors.
    Dark,
    /// Strong contrast: bold instead of dim.
    Contrast,
    /// No color: bold, dim, underlined and reversed only.
    Mono,
}

impl Theme {
    /// Returns the theme of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "auto" => Self::Auto,
            "light" => Self::Light,
            "dark" => Self::Dark,
            "contrast" => Self::Contrast,
            "mono" => Self::Mono,
            _ => return None,
        })
    }

    /// Returns how a style of text is drawn.
    pub(crate) fn style(self, style: anstyle::Style) -> Style {
        let mut drawn = Style::new();
        if let Some(anstyle::Color::Ansi(color)) = style.get_fg_color() {
            drawn.fg = self.color(color);
        }
        let effects = style.get_effects();
        let pairs = [
            (anstyle::Effects::BOLD, Modifier::BOLD),
            (anstyle::Effects::DIMMED, Modifier::DIM),
            (anstyle::Effects::ITALIC, Modifier::ITALIC),
            (anstyle::Effects::UNDERLINE, Modifier::UNDERLINED),
            (anstyle::Effects::STRIKETHROUGH, Modifier::CROSSED_OUT),
            (anstyle::Effects::INVERT, Modifier::REVERSED),
        ];
        for (effect, modifier) in pairs {
            let is_hard_to_read = self == Self::Contrast && modifier == Modifier::DIM;
            if effects.contains(effect) && !is_hard_to_read {
                drawn = drawn.add_modifier(modifier);
            }
        }
        drawn
    }

    fn color(self, color: anstyle::AnsiColor) -> Option<Color> {
        use anstyle::AnsiColor as A;
        let plain = match color {
            A::Black | A::BrightBlack => Color::DarkGray,
            A::Red | A::BrightRed => Color::Red,
            A::Green | A::BrightGreen => Color::Green,
            A::Yellow | A::BrightYellow => Color::Yellow,
            A::Blue | A::BrightBlue => Color::Blue,
            A::Magenta | A::BrightMagenta => Color::Magenta,
            A::Cyan | A::BrightCyan => Color::Cyan,
            A::White | A::BrightWhite => return None,
        };
        let indexed =
            |light: u8, dark: u8| Color::Indexed(if self == Self::Light { light } else { dark });
        match self {
            Self::Mono => None,
            Self::Auto | Self::Contrast => Some(plain),
            Self::Light | Self::Dark => Some(match plain {
                Color::Red => indexed(124, 203),
                Color::Green => indexed(28, 114),
                Color::Yellow => indexed(130, 221),
                Color::Blue => indexed(25, 75),
                Color::Magenta => indexed(90, 177),
                Color::Cyan => indexed(30, 80),
                other => other,
            }),
        }
    }
}
