//! Headless output that breaks off anywhere keeps what it has.

use std::fs;
use std::path::Path;

use recount_formats::SOURCES;
use recount_formats::stream::{Intake, KeptRun, Run, StreamKind, StreamSession};
use recount_testkit::streams;
use serde_json::Value;

/// A file of this size is cut at every byte.
const EVERYWHERE: usize = 4 << 10;
/// So often a larger one is cut.
const CUTS: usize = 400;

fn runs(bytes: &[u8], piece: usize) -> Vec<Run> {
    let mut intake = Intake::new(SOURCES);
    for piece in bytes.chunks(piece) {
        intake.push(piece);
    }
    intake.finish()
}

/// Counts the records that are whole, without any code of ours.
fn whole_records(bytes: &[u8]) -> u64 {
    let values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    values.take_while(Result::is_ok).count() as u64
}

/// Where a stream is cut: at every byte of a small one, else at places that no rule of the format decides.
fn cuts(length: usize) -> Vec<usize> {
    if length <= EVERYWHERE {
        return (0..=length).collect();
    }
    let mut seed = length as u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % length
    };
    let mut cuts: Vec<usize> = (0..CUTS).map(|_| next()).chain([length]).collect();
    cuts.sort_unstable();
    cuts
}

/// Writes the runs of each session as files, and returns how large the main ones are.
fn written(runs: &[Run], name: &str) -> usize {
    let mut bytes = 0;
    for run in runs {
        let source = SOURCES.iter().find(|source| source.name() == run.source).unwrap();
        let records = run.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let kept = KeptRun { kind: run.key.kind, time: None, project: None, prompt: None, records };
        let session = StreamSession { id: &run.key.session, runs: &[kept] };
        let files = source.streams().unwrap().files(&session);
        let main: Vec<_> = files.iter().filter(|file| file.is_session).collect();
        assert!(!main.is_empty(), "{name}: a run without a session");
        for file in main {
            assert!(file.path.is_relative(), "{name}: {}", file.path.display());
            bytes += file.bytes.len();
        }
    }
    bytes
}

#[expect(clippy::disallowed_methods, reason = "what was recorded is small")]
fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

#[test]
fn a_stream_that_is_cut_anywhere_keeps_what_it_has() {
    let mut tried = 0;
    for path in streams() {
        let name = path.display().to_string();
        let bytes = read(&path);
        let whole = runs(&bytes, bytes.len().max(1));
        let is_document = whole.iter().any(|run| run.key.kind == StreamKind::Json);
        let mut most = 0;
        for cut in cuts(bytes.len()) {
            tried += 1;
            let kept = bytes.get(..cut).unwrap();
            let found = runs(kept, kept.len().max(1));
            if is_document {
                // A document has no records: what is whole of its members is kept.
                assert!(found.len() <= 1, "{name} at {cut}");
            } else {
                let events: u64 = found.iter().map(|run| run.events).sum();
                assert_eq!(events, whole_records(kept), "{name} at {cut}");
                // What is kept is the beginning of what the whole stream says.
                for (some, all) in found.iter().zip(&whole) {
                    assert_eq!(some.key.session, all.key.session, "{name} at {cut}");
                    assert!(all.lines.starts_with(&some.lines), "{name} at {cut}");
                }
            }
            if cut % 64 == 0 || cut == bytes.len() {
                let size = written(&found, &name);
                let is_less = size < most && !is_document;
                assert!(!is_less || found.is_empty(), "{name} at {cut}: {size} after {most}");
                most = size;
            }
        }
        // However it comes.
        let pieces = runs(&bytes, 7);
        let lines = |runs: &[Run]| runs.iter().map(|run| run.lines.clone()).collect::<Vec<_>>();
        assert_eq!(lines(&pieces), lines(&whole), "{name}");
    }
    assert!(tried > 1000, "only {tried} cuts");
}
