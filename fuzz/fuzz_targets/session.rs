//! Arbitrary bytes as a session file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recount_formats::fuzz::session(data));
