//! Arbitrary bytes as JSON: our scanner and tree, compared with `serde_json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recount_formats::fuzz::json(data));
