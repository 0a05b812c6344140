//! Pushes to stores that fail, from machines that are copied, killed and out of time.
#![expect(clippy::indexing_slicing, reason = "a test may fail by panic")]

#[expect(clippy::disallowed_methods, reason = "test setup")]
mod faults;
mod machine;
mod owners;
mod raw;
mod store;
mod tables;
