//! The style of each kind of text.
//!
//! Only the sixteen colors and the attributes that every terminal has are used: their exact shade is the user's choice, so
//! they are readable on light and on dark. Black, white, blue (which is hard to read in many dark themes) and the bright
//! colors are avoided for the same reason. Nothing is expressed by color alone.

use anstyle::{AnsiColor, Style};

/// A kind of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Text that needs no distinction.
    #[default]
    Plain,
    /// A heading.
    Heading,
    /// Something of lesser weight: times, addresses, frames.
    Dim,
    /// A human's text.
    Prompt,
    /// The model's answer.
    Answer,
    /// The model's thoughts.
    Thought,
    /// A tool and its call.
    Tool,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// The place of a change.
    Hunk,
    /// Something failed.
    Error,
    /// Something deserves attention.
    Warning,
    /// Code within text.
    Code,
    /// A link.
    Link,
    /// Emphasised text.
    Emphasis,
    /// Strongly emphasised text.
    Strong,
    /// Text that was struck out.
    Struck,
    /// A word of a programming language.
    Keyword,
    /// A literal text in code.
    Text,
    /// A number or named constant in code.
    Constant,
    /// A type, tag or key in code.
    Name,
    /// A comment in code.
    Comment,
    /// A search match.
    Match,
}

impl Tone {
    /// Returns its style.
    pub const fn style(self) -> Style {
        let plain = Style::new();
        match self {
            Self::Plain => plain,
            Self::Heading | Self::Strong => plain.bold(),
            Self::Dim | Self::Comment => plain.dimmed(),
            Self::Prompt => coloured(AnsiColor::Green).bold(),
            Self::Answer => coloured(AnsiColor::Magenta).bold(),
            Self::Thought => plain.dimmed().italic(),
            Self::Tool | Self::Code | Self::Hunk | Self::Constant | Self::Name => {
                coloured(AnsiColor::Cyan)
            }
            Self::Added | Self::Text => coloured(AnsiColor::Green),
            Self::Removed => coloured(AnsiColor::Red),
            Self::Error => coloured(AnsiColor::Red).bold(),
            Self::Warning => coloured(AnsiColor::Yellow),
            Self::Link => coloured(AnsiColor::Cyan).underline(),
            Self::Emphasis => plain.italic(),
            Self::Struck => plain.strikethrough(),
            Self::Keyword => coloured(AnsiColor::Magenta),
            Self::Match => coloured(AnsiColor::Yellow).bold(),
        }
    }
}

const fn coloured(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(colour)))
}

/// Returns the combined style: `inner` decides the color, attributes are merged.
pub fn blend(outer: Style, inner: Style) -> Style {
    inner
        .fg_color(inner.get_fg_color().or(outer.get_fg_color()))
        .effects(outer.get_effects() | inner.get_effects())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_within_strong_text_is_both() {
        let both = blend(Tone::Strong.style(), Tone::Link.style());
        assert_eq!(both, Tone::Link.style().bold());
    }
}
