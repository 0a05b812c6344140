//! Tests of snippets: which position, and how it is cut.

use std::fmt::Write as _;

use jiff::Zoned;

use super::*;
use crate::{Field, MessageTexts, SearchQuery};

fn plan(query: &str) -> QueryPlan {
    SearchQuery::parse(query).unwrap().plan(&Zoned::default(), &mut |_| Vec::new())
}

/// Returns the snippet with matches in brackets.
fn snippet(query: &str, texts: &MessageTexts<'_>, width: usize) -> (Field, String) {
    let snippet = plan(query).snippet(texts, width).unwrap();
    let columns = unicode_width::UnicodeWidthStr::width(snippet.text.as_str());
    assert!(columns <= width, "{columns} > {width}: {}", snippet.text);
    let mut shown = String::new();
    let mut at = 0;
    for range in &snippet.highlights {
        shown.push_str(&snippet.text[at..range.start]);
        write!(shown, "[{}]", &snippet.text[range.clone()]).unwrap();
        at = range.end;
    }
    shown.push_str(&snippet.text[at..]);
    (snippet.field, shown)
}

fn prompt(query: &str, text: &str, width: usize) -> String {
    snippet(query, &MessageTexts { prompt: text, ..MessageTexts::default() }, width).1
}

#[test]
fn the_match_is_in_its_context_cut_at_words() {
    let text = "The first line is long enough to be cut away.\nThen parseLegacyRecord fails\n\n  on an \
                empty table, and the rest of the message goes on and on.";
    for (query, width, want) in [
        ("fails", 40, "…[fails] on an empty table, and the rest…"),
        ("legacy_record", 40, "…parse[LegacyRecord] fails on an empty…"),
        ("parseLegacyRecord", 40, "…Then [parseLegacyRecord] fails on an…"),
        ("first", 30, "The [first] line is long enough…"),
        ("\"on and on\"", 30, "…the message goes [on and on]."),
        ("on fails", 40, "…[fails] [on] an empty table, and the rest…"),
        ("/f.il./", 30, "…[fails] on an empty table, and…"),
        ("emppty~", 30, "…on an [empty] table, and the…"),
        ("tab*", 30, "…empty [table], and the rest of…"),
        ("fails -nothing", 30, "…[fails] on an empty table, and…"),
        ("kind:prompt", 30, "The first line is long enough…"),
    ] {
        assert_eq!(prompt(query, text, width), want, "{query}");
    }
}

#[test]
fn short_texts_are_shown_whole_and_wide_ones_by_columns() {
    assert_eq!(prompt("cart", " the\tcart\u{7} \n", 80), "the [cart]");
    let chinese = "这个项目里有很多会话,其中一些会话已经恢复,另外一些会话还没有恢复。";
    assert_eq!(prompt("会话", "会话", 10), "[会话]");
    assert_eq!(prompt("还没有", chinese, 24), "…外一些会话[还没有]恢复。");
    assert_eq!(prompt("ｅｃｏｌｅ", "L'École est là", 20), "L'[École] est là");
    assert_eq!(prompt("a", &"a".repeat(300), 12), "a".repeat(11) + "…");
}

#[test]
fn the_field_with_most_of_the_words_wins_then_the_weightiest() {
    let texts = MessageTexts {
        prompt: "look at the cart",
        answer: "the cart has a tax",
        output: "cart tax total",
        paths: &["src/a.rs", "src/cart/tax.js"],
        ..MessageTexts::default()
    };
    assert_eq!(snippet("cart", &texts, 40), (Field::Prompt, "look at the [cart]".to_owned()));
    assert_eq!(snippet("cart tax", &texts, 40).0, Field::Path);
    assert_eq!(snippet("total cart tax", &texts, 40).0, Field::Output);
    assert_eq!(snippet("in:answer cart", &texts, 40).0, Field::Answer);
    assert_eq!(snippet("file:tax.js", &texts, 40), (Field::Path, "src/cart/[tax.js]".to_owned()));
    assert!(plan("cart").snippet(&MessageTexts::default(), 40).is_none());
}

proptest::proptest! {
    #[test]
    fn any_text_gives_a_line_that_fits(text in "\\PC{0,200}|[a会話 \\n\u{301}é🙂]{0,120}", width in 4_usize..60) {
        let texts = MessageTexts { prompt: &text, ..MessageTexts::default() };
        for query in ["a", "会話", "\"a a\"", "/./"] {
            if let Some(snippet) = plan(query).snippet(&texts, width) {
                let columns: usize = snippet.text.chars().map(|c| unicode_width::UnicodeWidthChar::width(c).unwrap_or(0)).sum();
                proptest::prop_assert!(columns <= width, "{columns} {}", snippet.text);
                for range in snippet.highlights {
                    proptest::prop_assert!(snippet.text.get(range).is_some());
                }
            }
        }
    }
}
