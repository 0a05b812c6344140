//! Pushes to stores that fail, from machines that are copied, killed and out of time.

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]
#![expect(clippy::disallowed_methods, reason = "tests change their own files")]

mod faults;
mod machine;
mod owners;
mod raw;
mod store;
mod tables;
