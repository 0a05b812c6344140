//! Text samples: prose, code and logs, generated once and cut into pieces.
//!
//! Generating every tool output word by word would cost more than writing it.

use crate::{json::Text, random::Random};

pub(super) struct Pool {
    text: String,
    /// Where lines begin.
    starts: Vec<usize>,
}

pub(super) const NOUNS: &[&str] = &[
    "anchor", "batch", "branch", "bridge", "buffer", "cache", "catalog", "channel", "client",
    "cursor", "digest", "engine", "event", "feed", "field", "filter", "frame", "gateway", "graph",
    "header", "index", "journal", "kernel", "ledger", "lease", "loader", "marker", "mirror",
    "packet", "parser", "pool", "probe", "queue", "record", "router", "schema", "session",
    "signal", "socket", "store", "stream", "table", "ticket", "token", "vector", "watcher",
    "window", "worker",
];
const VERBS: &[&str] = &[
    "apply", "build", "check", "close", "collect", "compare", "decode", "drop", "fetch", "find",
    "flush", "guard", "hold", "join", "load", "map", "merge", "move", "open", "parse", "read",
    "replay", "resolve", "scan", "send", "skip", "sort", "split", "trim", "update", "verify",
    "write",
];
const FILLERS: &[&str] = &[
    "the", "a", "each", "every", "only", "when", "before", "after", "because", "so", "but", "and",
    "with", "without", "into", "from", "that", "this", "its", "no", "one", "two", "last", "first",
];
const HAN: &[&str] = &[
    "会话", "文件", "读取", "写入", "缓存", "索引", "解析", "错误", "时间", "目录", "项目", "测试",
    "函数", "记录", "恢复", "删除", "压缩", "检查", "结果", "工具",
];

/// The minimum and maximum size of the pool.
const LEAST: usize = 64 * 1024;
const MOST: usize = 4 * 1024 * 1024;

impl Pool {
    /// Generates about `wanted` bytes of text, within these limits.
    pub(super) fn new(mut random: Random, wanted: usize) -> Self {
        let size = wanted.clamp(LEAST, MOST);
        let mut text = String::with_capacity(size + 256);
        let mut starts = Vec::new();
        while text.len() < size {
            starts.push(text.len());
            text.push_str(&line(&mut random));
            text.push('\n');
        }
        Self { text, starts }
    }

    /// Returns whole lines of about `bytes` in total, from a random position.
    pub(super) fn lines(&self, random: &mut Random, bytes: usize) -> Text {
        let from = self.starts[random.below(self.starts.len())];
        let end = (from + bytes).min(self.text.len());
        let until = self.starts.partition_point(|start| *start <= end);
        let to = self.starts.get(until).copied().unwrap_or(self.text.len());
        self.text.get(from..to).unwrap_or_default().into()
    }
}

/// Returns an identifier such as `parse_session` or `flushQueue`.
pub(super) fn identifier(random: &mut Random) -> String {
    let (verb, noun) = (random.pick(VERBS), random.pick(NOUNS));
    if random.percent(60) {
        return format!("{verb}_{noun}");
    }
    let mut letters = noun.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
    let capital: String = first.chain(letters).collect();
    format!("{verb}{capital}")
}

/// Returns a few words for a sentence.
pub(super) fn words(random: &mut Random, count: usize) -> String {
    let mut out = String::new();
    for index in 0..count {
        if index > 0 {
            out.push(' ');
        }
        let list = random.pick(&[NOUNS, VERBS, FILLERS, FILLERS]);
        out.push_str(random.pick(list));
    }
    out
}

pub(super) fn han(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| random.pick(HAN)).collect()
}

/// Returns one line of code, prose or log.
fn line(random: &mut Random) -> String {
    let indent = "                ".get(..random.below(4) * 4).unwrap_or_default();
    match random.below(12) {
        0..=4 => {
            let (left, right) = (identifier(random), identifier(random));
            format!("{indent}let {left} = {right}({});", random.pick(NOUNS))
        }
        5 => format!("{indent}if !{}(\"{}\") {{", identifier(random), random.pick(NOUNS)),
        6 => format!("{indent}}}"),
        7 => format!("{indent}// {}", words(random, 9)),
        8 => {
            let (minute, second) = (random.below(60), random.below(60));
            let message = words(random, 7);
            format!("2026-02-03T04:{minute:02}:{second:02}Z INFO {message}")
        }
        9 => format!("src/{}.rs:{}: {}", random.pick(NOUNS), random.below(900), words(random, 6)),
        10 => format!("| {} | {} | {} |", random.pick(NOUNS), random.below(9999), words(random, 3)),
        _ => format!("{indent}{}，{}。", han(random, 5), han(random, 4)),
    }
}
