//! Arbitrary bytes as a rollout.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recount_formats::codex::fuzz::rollout(data));
