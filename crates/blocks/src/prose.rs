//! The structure of Markdown text.

use std::borrow::Cow;

use serde::Serialize;

use crate::code::CodeBlock;

/// A block of Markdown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Prose<'a> {
    /// A paragraph.
    Paragraph {
        /// Whether it follows its neighbours without space, as text in a tight list does.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        tight: bool,
        /// Its text.
        content: Vec<Inline<'a>>,
    },
    /// A heading.
    Heading {
        /// Its level, from 1 to 6.
        level: u8,
        /// Its text.
        content: Vec<Inline<'a>>,
    },
    /// A list.
    List {
        /// The number of the first item, if items are numbered.
        #[serde(skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
        /// The items.
        items: Vec<ListItem<'a>>,
    },
    /// A quotation.
    Quote {
        /// What is quoted.
        blocks: Vec<Self>,
    },
    /// A table.
    Table {
        /// The alignment of each column.
        alignments: Vec<Alignment>,
        /// The headings.
        head: Vec<TableCell<'a>>,
        /// The other rows.
        rows: Vec<Vec<TableCell<'a>>>,
    },
    /// A block of code.
    Code(CodeBlock<'a>),
    /// HTML, which is shown as text and never interpreted.
    Html {
        /// The text.
        text: Cow<'a, str>,
    },
    /// A rule between two blocks.
    Rule,
}

/// The text of one cell.
pub type TableCell<'a> = Vec<Inline<'a>>;

/// One item of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListItem<'a> {
    /// Whether the task is done, if the item is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<bool>,
    /// The content.
    pub blocks: Vec<Prose<'a>>,
}

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Alignment {
    /// Not specified.
    None,
    /// Left.
    Left,
    /// Centered.
    Center,
    /// Right.
    Right,
}

/// A part of a line of text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Inline<'a> {
    /// Plain text.
    Text {
        /// The text.
        text: Cow<'a, str>,
    },
    /// Code within text.
    Code {
        /// The code.
        text: Cow<'a, str>,
    },
    /// A line end in the source, which a view may draw as a space.
    SoftBreak,
    /// A line break that the author asked for.
    LineBreak,
    /// Emphasized text.
    Emphasis {
        /// The text.
        content: Vec<Self>,
    },
    /// Strongly emphasized text.
    Strong {
        /// The text.
        content: Vec<Self>,
    },
    /// Struck-out text.
    Strike {
        /// The text.
        content: Vec<Self>,
    },
    /// A link. Whether it is safe to follow is for the view to decide.
    Link {
        /// The address.
        target: Cow<'a, str>,
        /// The text.
        content: Vec<Self>,
    },
    /// An image by its address. Views do not load it.
    Image {
        /// The address.
        target: Cow<'a, str>,
        /// The alternative text.
        content: Vec<Self>,
    },
}
