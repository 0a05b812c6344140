//! Any bytes as JSON, compared with the reference parser.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recount_formats::fuzz::json(data));
