//! Measures reading of session files, beside other work on the same bytes: finding newlines, and a general parser that
//! skips everything.
//!
//! `cargo bench -p recount-formats`

use std::fmt::Write as _;
use std::io::Cursor;

use divan::Bencher;
use divan::counter::BytesCount;
use recount_formats::json::Scanner;
use recount_formats::source::Reader;
use recount_formats::{bytes::Buffer, reader};
use recount_model::Grammar;

fn main() {
    divan::main();
}

/// Returns a log of about 8 MB in the shape of real ones: prompts, and answers with tool output that are written twice.
fn log() -> String {
    let mut text = String::from(
        "{\"sessionId\":\"s\",\"projectHash\":\"h\",\"startTime\":\"2026-09-02T08:00:00.000Z\"}\n",
    );
    let output = "    let value = parse(\\\"input\\\")?;\\n".repeat(120);
    for turn in 0..800 {
        let time = "2026-09-02T08:00:00.000Z";
        let _infallible = writeln!(
            text,
            "{{\"id\":\"u{turn}\",\"timestamp\":\"{time}\",\"type\":\"user\",\"content\":[{{\"text\":\"fix it\"}}]}}"
        );
        for calls in [
            "",
            &format!(
                ",\"toolCalls\":[{{\"id\":\"c{turn}\",\"name\":\"read_file\",\"args\":{{\"file_path\":\"/x/a.rs\"}},\"result\":[{{\"functionResponse\":{{\"id\":\"c{turn}\",\"response\":{{\"output\":\"{output}\"}}}}}}],\"status\":\"success\"}}]"
            ),
        ] {
            let _infallible = writeln!(
                text,
                "{{\"id\":\"m{turn}\",\"timestamp\":\"{time}\",\"type\":\"gemini\",\"content\":\"Looking at it.\",\"tokens\":{{\"input\":100,\"output\":20,\"cached\":0,\"thoughts\":0,\"tool\":0,\"total\":120}},\"model\":\"gemini-2.5-pro\"{calls}}}"
            );
        }
    }
    text
}

#[divan::bench]
fn newlines(bencher: Bencher<'_, '_>) {
    let text = log();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| memchr::memchr_iter(b'\n', divan::black_box(text.as_bytes())).count());
}

#[divan::bench]
fn scan(bencher: Bencher<'_, '_>) {
    let text = log();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| text.lines().filter(|line| Scanner::new(line.as_bytes()).skip().is_ok()).count());
}

#[divan::bench]
fn scan_with_serde_json(bencher: Bencher<'_, '_>) {
    let text = log();
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        text.lines()
            .filter(|line| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok())
            .count()
    });
}

#[divan::bench]
fn outline(bencher: Bencher<'_, '_>) {
    let text = log();
    let mut buffer = Buffer::new();
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        let pumped =
            buffer.pump(&mut Cursor::new(text.as_bytes()), |_| reader(Grammar::Jsonl, "log"));
        pumped.map(Reader::into_outline).map(|outline| outline.strict.len()).ok()
    });
}
