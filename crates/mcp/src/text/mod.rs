//! Text for models: within a budget, cleaned, and fenced so that a record cannot pass for an instruction.

mod clean;
mod fence;
mod tokens;

pub(crate) use clean::{cut, defuse, line};
pub use fence::Quoted;
pub use tokens::tokens;
pub(crate) use tokens::{fit, lines_tokens};
