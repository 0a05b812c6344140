//! Tests of what questions are taken for.

use jiff::Zoned;

use super::*;
use crate::{QueryPlan, SearchQuery};

fn plan(query: &str) -> QueryPlan {
    SearchQuery::parse(query).unwrap().plan(&Zoned::default(), &mut |_| Vec::new())
}

/// Returns the words that are looked for, and those that are left out.
fn relaxed(query: &str) -> Option<(String, String)> {
    let relaxed = plan(query).relaxed()?;
    let relaxation = relaxed.relaxation()?;
    Some((relaxation.words.join(" "), relaxation.left_out.join(" ")))
}

fn forms(word: &str, sentence: &str) -> Forms {
    Forms::of(word, Languages::of(&sentence.split(' ')))
}

#[test]
fn the_words_that_count_are_kept() {
    for (query, words, left_out) in [
        ("how did we shrink the docker image?", "shrink docker image", "how did we the"),
        ("What's the retry policy", "retry policy", "what's the"),
        ("why doesn't the rate-limiter work", "rate limiter work", "why doesn't the"),
        ("where is parseLegacyRecord called", "parselegacyrecord called", "where is"),
        ("which test fails in src/cart/tax.js", "test fails src/cart/tax.js", "which in"),
        ("wie haben wir das Paket verkleinert", "paket verkleinert", "wie haben wir das"),
        ("the user's avatar", "user avatar", "the"),
        ("我们是怎么缩小docker镜像的", "缩小 镜像 docker", ""),
        ("ログイン画面はなぜ遅かったのですか", "ログ グイ イン ン画 画面 遅", ""),
        ("결제 오류는 왜 발생했나요", "결제 오류 발생 생했 했나 나요", "왜"),
        ("鍵はどこにありますか", "鍵", ""),
        ("what was that about", "what was that about", ""),
        ("retry retry cart", "retry cart", ""),
        ("conf* retry", "conf retry", ""),
    ] {
        assert_eq!(relaxed(query), Some((words.to_owned(), left_out.to_owned())), "{query}");
    }
}

#[test]
fn strict_queries_are_never_relaxed() {
    for query in [
        "\"tax table\" retry",
        "tax AND table",
        "tax OR table",
        "+tax +table",
        "/tax/ table",
        "kind:prompt",
        "file:tax.js",
        "sha256",
        "parseLegacyRecord",
    ] {
        assert_eq!(relaxed(query), None, "{query}");
        assert!(!plan(query).is_question(), "{query}");
    }
}

#[test]
fn sentences_are_told_from_keywords() {
    for query in [
        "how did we shrink the image",
        "what broke in node 22",
        "the size of the docker image",
        "why flaky",
        "is the cache cold",
        "(how did we shrink the image) project:shop",
        "登录页面为什么很慢",
        "fix the parser",
        "docker image size",
        "a b c",
    ] {
        let want = !matches!(query, "why flaky" | "fix the parser" | "docker image size" | "a b c");
        assert_eq!(plan(query).is_question(), want, "{query}");
    }
}

#[test]
fn forms_have_the_same_stem() {
    for (word, sentence, others) in [
        ("shrink", "how", "shrank shrunk shrinking shrinks"),
        ("deploying", "how", "deploy deploys deployed deployment deployments"),
        ("retries", "how", "retry retried retrying"),
        ("stopped", "how", "stop stops stopping"),
        ("caching", "how", "cache caches cached"),
        ("configuration", "how", "config configure configured configuring"),
        ("paket", "wie wir das", "pakete paketen"),
        ("factures", "pourquoi les", "facture"),
    ] {
        let found = forms(word, sentence);
        for other in others.split(' ') {
            assert!(found.contains(other), "{word}: {other} in {found:?}");
        }
        assert!(found.contains(word) && !found.contains("") && !found.contains("other"), "{word}");
        assert!(found.all().all(|form| form.starts_with(found.common_start())), "{word}");
    }
    for word in ["sha256", "of", "x", "pneumonoultramicroscopicsilicovolcanoconiosis"] {
        assert!(!forms(word, "how").has_others(), "{word}");
    }
}

proptest::proptest! {
    #[test]
    fn any_sentence_has_a_plan(query in "[\\PC&&[^():\"/]]{0,60}|([a-zéüжß会話かカ한'’-]{1,9} ){0,8}") {
        if let Ok(query) = SearchQuery::parse(&query) {
            let plan = query.plan(&Zoned::default(), &mut |_| Vec::new());
            plan.is_question();
            plan.relaxed();
        }
    }
}
