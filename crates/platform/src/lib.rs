//! Everything that differs by system or comes from outside: environment, folders, the clock, the pager.

mod env;
mod folders;
mod program;

pub use env::{Env, VARIABLES, Variable};
pub use folders::Folders;
pub use program::{Pager, clock};
