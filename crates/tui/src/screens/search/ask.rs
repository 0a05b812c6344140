//! The question to the engine, and its answer.

use std::time::{Duration, Instant};

use recount_engine::{Error, HitOrder, SearchRequest, SearchResults};
use recount_platform::may_leave_process;

use crate::work::Work;

/// The maximum width of a line.
const WIDTH: usize = 200;
/// Of fewer letters too many words begin.
const BEGUN: usize = 2;
/// Shorter words have no letter to spare.
const FUZZY: usize = 4;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Question {
    /// The query, as typed.
    pub(super) query: String,
    /// What narrows it, as part of a query.
    pub(super) within: Option<String>,
    /// The maximum number of hits, the best of each session: about as many as are seen, because each is read from its file.
    pub(super) limit: usize,
}

impl Question {
    /// Whether another one asks for the same, or more of it.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.query, &self.within) == (&other.query, &other.within)
    }
}

/// What is wrong with a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Carets below the place, as wide as the query before it.
    pub(super) carets: String,
    /// What is wrong.
    pub(super) what: String,
}

/// What would find more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wider {
    /// Hits in all projects and agents.
    pub(super) everywhere: Option<usize>,
    /// The query with a letter to spare in each word, and its hits.
    pub(super) fuzzy: Option<(String, usize)>,
}

/// The answer.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) question: Question,
    pub(super) found: Result<SearchResults, Mistake>,
    /// The word that was taken as the beginning of words.
    pub(super) begun: Option<String>,
    pub(super) took: Duration,
    pub(super) wider: Wider,
    /// How much is indexed, while the index is built.
    pub(super) progress: Option<(u64, u64)>,
}

impl Question {
    /// Asks the engine.
    pub(super) fn ask(self, work: &Work) -> Answered {
        let start = Instant::now();
        let engine = work.engine();
        let search = |query: &str, within: Option<&str>, limit| {
            let request = SearchRequest {
                query: query.to_owned(),
                limit,
                sort: HitOrder::Relevance,
                all_hits: false,
                width: WIDTH,
                without_index: false,
                at_once: may_leave_process(engine.env()),
            };
            engine.search_typed(&request, within, work.progress())
        };
        let mut found = search(&self.query, self.within.as_deref(), self.limit);
        let is_poor = |found: &SearchResults| found.total == 0 || found.relaxed;
        let mut begun = None;
        // The last word may not be finished.
        if found.as_ref().is_ok_and(is_poor)
            && let Some((query, word)) = unfinished(&self.query)
            && let Ok(better) = search(&query, self.within.as_deref(), self.limit)
            && !is_poor(&better)
        {
            (found, begun) = (Ok(better), Some(word));
        }
        let took = start.elapsed();
        let mut wider = Wider::default();
        if found.as_ref().is_ok_and(is_poor) {
            let total = |query: &str, within: Option<&str>| {
                let found = search(query, within, 1).ok()?;
                Some(found.total).filter(|total| *total > 0 && !found.relaxed)
            };
            wider.everywhere = self.within.is_some().then(|| total(&self.query, None)).flatten();
            wider.fuzzy = fuzzy(&self.query)
                .and_then(|query| total(&query, self.within.as_deref()).map(|many| (query, many)));
        }
        let is_behind = found.as_ref().is_ok_and(|found| found.is_unindexed);
        let progress = is_behind.then(|| engine.index_progress().unwrap_or_default());
        Answered { question: self, found: found.map_err(mistake), begun, took, wider, progress }
    }
}

/// Returns the query with its last word as the beginning of words, and that word; `None` if it is not a plain one.
fn unfinished(query: &str) -> Option<(String, String)> {
    let word = query.split_whitespace().next_back()?;
    let is_plain = word.chars().all(char::is_alphanumeric)
        && word.chars().count() >= BEGUN
        && !matches!(word, "AND" | "OR" | "NOT");
    (is_plain && query.ends_with(word)).then(|| (format!("{query}*"), format!("{word}*")))
}

fn mistake(error: Error) -> Mistake {
    match error {
        Error::Query { pointed, what, .. } => {
            let carets = pointed.lines().nth(1).unwrap_or_default().to_owned();
            Mistake { carets, what }
        }
        other => Mistake { carets: String::new(), what: other.full_message() },
    }
}

/// Returns the query with a letter to spare in each plain word; `None` if there is none.
fn fuzzy(query: &str) -> Option<String> {
    let mut is_changed = false;
    let word = |word: &str| {
        let is_plain = word.chars().all(char::is_alphanumeric)
            && word.chars().count() >= FUZZY
            && !matches!(word, "AND" | "OR" | "NOT");
        is_changed |= is_plain;
        if is_plain { format!("{word}~") } else { word.to_owned() }
    };
    let words: Vec<String> = query.split_whitespace().map(word).collect();
    (is_changed && !query.contains('"')).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_not_be_finished() {
        let of = |query: &str| unfinished(query).map(|(query, _)| query);
        assert_eq!(of("tax disc").as_deref(), Some("tax disc*"));
        for whole in ["t", "tax*", "in:answer", "a \"b cd\"", "a OR", ""] {
            assert_eq!(of(whole), None, "{whole}");
        }
    }

    #[test]
    fn plain_words_get_a_letter_to_spare() {
        assert_eq!(fuzzy("retry in:answer tax").as_deref(), Some("retry~ in:answer tax"));
        assert_eq!(fuzzy("tax OR 天气"), None);
        assert_eq!(fuzzy("\"tax rate\" table"), None);
    }
}
