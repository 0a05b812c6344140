//! Arbitrary bytes as a transcript of Claude Code.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recount_formats::fuzz::transcript(data));
