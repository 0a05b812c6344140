//! Placeholder.
mod output;

fn main() {}
