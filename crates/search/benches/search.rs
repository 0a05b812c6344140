//! Measures tokenizing, indexing and searching on a synthetic history.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark may fail by panic")]

use std::cell::OnceCell;

use divan::{Bencher, black_box, counter::BytesCount};
use jiff::Zoned;
use recount_model::{Fate, MessageKind};
use recount_search::{
    Document, HitOrder, Index, MessageTexts, Overlay, QueryPlan, SearchOptions, SearchQuery,
};
use tempfile::TempDir;

fn main() {
    divan::main();
}

const MESSAGES: u64 = 20_000;
const VERBS: [&str; 8] = ["parse", "render", "merge", "apply", "load", "store", "retry", "index"];
const NOUNS: [&str; 10] =
    ["Cart", "Tax", "Record", "Session", "Window", "Cache", "Queue", "Token", "Batch", "Row"];
const PROSE: [&str; 12] = [
    "the", "and", "because", "should", "fails", "when", "empty", "table", "after", "会话", "恢复",
    "naïve",
];

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides
    }

    fn pick<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words.get(self.roll(words.len())).copied().unwrap_or_default()
    }

    fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..words {
            match self.roll(5) {
                0 => {
                    text.push_str(self.pick(&VERBS));
                    text.push_str(self.pick(&NOUNS));
                    text.push_str(self.pick(&NOUNS));
                    text.push_str(&self.roll(50).to_string());
                }
                1 => {
                    text.push_str(&self.pick(&NOUNS).to_lowercase());
                    text.push('_');
                    text.push_str(self.pick(&VERBS));
                }
                _ => text.push_str(self.pick(&PROSE)),
            }
            text.push(if self.roll(12) == 0 { '\n' } else { ' ' });
        }
        text
    }
}

struct Made {
    prompt: String,
    output: String,
}

fn history(messages: u64) -> Vec<Made> {
    let mut dice = Dice(7);
    (0..messages).map(|_| Made { prompt: dice.text(30), output: dice.text(250) }).collect()
}

fn document(key: u64, made: &Made) -> Document<'_> {
    Document {
        session: key / 50,
        message: key,
        file: key / 50,
        offset: key * 2000,
        bytes: 2000,
        line: key,
        time: i64::try_from(key).ok(),
        kind: MessageKind::Prompt,
        fate: Fate::Kept,
        model: Some("synthetic-1"),
        tools: &["read_file"],
        is_error: false,
        text: MessageTexts {
            prompt: &made.prompt,
            output: &made.output,
            ..MessageTexts::default()
        },
    }
}

fn bytes(history: &[Made]) -> BytesCount {
    BytesCount::new(history.iter().map(|made| made.prompt.len() + made.output.len()).sum::<usize>())
}

fn plan(query: &str) -> QueryPlan {
    let query = SearchQuery::parse(query).unwrap_or_else(|mistake| panic!("{mistake}"));
    query.plan(&Zoned::default(), &mut |_| (0..100).collect())
}

fn built(history: &[Made]) -> (TempDir, Index) {
    let folder = TempDir::new().unwrap();
    let index = Index::open(folder.path()).unwrap();
    let writer = index.writer(100 << 20, 2, "one").unwrap();
    for (key, made) in (0..).zip(history) {
        writer.add(&document(key, made)).unwrap();
    }
    writer.finish().unwrap();
    (folder, index)
}

/// Measures the tokenizer, with a plan that scans a whole text and finds nothing.
#[divan::bench]
fn scan_texts(bencher: Bencher<'_, '_>) {
    let history = history(1000);
    let plan = plan("nowhere OR \"to be found\"");
    bencher.counter(bytes(&history)).bench_local(|| {
        (0..).zip(&history).filter(|(key, made)| plan.holds(&document(*key, made))).count()
    });
}

#[divan::bench(sample_count = 5)]
fn build_index(bencher: Bencher<'_, '_>) {
    let history = history(MESSAGES);
    bencher.counter(bytes(&history)).bench_local(|| built(&history));
}

#[divan::bench(args = [1, 10, 300])]
fn overlay(bencher: Bencher<'_, '_>, messages: u64) {
    let history = history(messages);
    let documents: Vec<Document<'_>> =
        (0..).zip(&history).map(|(key, made)| document(key, made)).collect();
    bencher.bench_local(|| Overlay::of(&documents).unwrap());
}

#[divan::bench]
fn open_and_first_query(bencher: Bencher<'_, '_>) {
    let (folder, index) = built(&history(MESSAGES));
    drop(index);
    bencher.bench_local(|| {
        let index = Index::open(folder.path()).unwrap();
        index.searcher().search(&plan("parseCartTax7"), &options()).unwrap()
    });
}

fn options() -> SearchOptions {
    SearchOptions {
        limit: 20,
        relaxed_limit: 20,
        offset: 0,
        now: 0,
        sort: HitOrder::Relevance,
        one_per_session: true,
        may_relax: true,
    }
}

const QUERIES: [&str; 14] = [
    "parseCartTax7",
    "cart_tax",
    "the",
    "the because",
    "\"when empty\"",
    "in:prompt \"when empty\"",
    "rend*",
    "会话",
    "会话恢复",
    "tablex~",
    "/retry(Cart|Row)/",
    "project:shop the",
    "the -because",
    "nowhere the",
];

#[divan::bench(args = QUERIES)]
fn search(bencher: Bencher<'_, '_>, query: &str) {
    thread_local!(static INDEX: OnceCell<(TempDir, Index)> = const { OnceCell::new() });
    INDEX.with(|cell| {
        let (_, index) = cell.get_or_init(|| built(&history(MESSAGES)));
        let searcher = index.searcher();
        let plan = plan(query);
        bencher.bench_local(|| searcher.search(black_box(&plan), &options()).unwrap());
    });
}

#[divan::bench(args = ["the", "parseCartTax7", "\"when empty\"", "会话"])]
fn snippet(bencher: Bencher<'_, '_>, query: &str) {
    let history = history(100);
    let plan = plan(query);
    bencher.bench_local(|| {
        (0..)
            .zip(&history)
            .filter_map(|(key, made)| plan.snippet(&document(key, made).text, 80))
            .count()
    });
}
