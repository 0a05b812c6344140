//! What is on this machine now: which agents' folders there are, and which folder a project is.

mod discover;
mod resolve;

pub use discover::{Error, Root, roots};
pub use resolve::{Candidates, resolve};
