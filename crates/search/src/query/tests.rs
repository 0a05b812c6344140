//! Tests of parsed queries and of errors.

use std::fmt::Write as _;

use super::*;
use crate::document::FieldSet;

/// Returns the tree in brackets; fields in braces unless all.
fn shown(node: &Node<Filter>) -> String {
    let all = |children: &[Node<Filter>]| children.iter().map(shown).collect::<Vec<_>>().join(" ");
    match node {
        Node::All(children) => format!("({})", all(children)),
        Node::Any(children) if children.len() == 1 => all(children),
        Node::Any(children) => format!("<{}>", all(children)),
        Node::Most(children) => format!("~<{}>", all(children)),
        Node::Not(child) => format!("-{}", shown(child)),
        Node::Text(leaf) => {
            let mut text = match &leaf.matcher {
                Matcher::Words(words) => {
                    let parts: Vec<String> =
                        words.parts.iter().map(|part| part.text.clone()).collect();
                    let whole =
                        words.whole.as_ref().map(|whole| format!("={whole}")).unwrap_or_default();
                    format!("{}{whole}{}", parts.join("+"), if words.is_open { "*" } else { "" })
                }
                Matcher::Fuzzy { word, distance } => format!("{word}~{distance}"),
                Matcher::Pattern(_) => "/…/".to_owned(),
                Matcher::Forms(forms) => format!("{}…", forms.word()),
            };
            if leaf.fields != FieldSet::TEXTS {
                let names: Vec<_> = leaf.fields.iter().map(crate::Field::name).collect();
                write!(text, "{{{}}}", names.join(",")).unwrap();
            }
            text
        }
        Node::Filter(filter) => format!("[{filter:?}]"),
    }
}

fn understood(query: &str) -> String {
    match SearchQuery::parse(query) {
        Ok(query) => shown(&query.root),
        Err(mistake) => panic!("{query}: {mistake}"),
    }
}

#[test]
fn queries_are_understood() {
    for (query, want) in [
        ("foo", "foo"),
        ("Foo BAR", "(foo bar)"),
        ("foo AND bar OR baz", "<(foo bar) baz>"),
        ("foo (bar OR baz) qux", "(foo <bar baz> qux)"),
        ("foo -bar NOT baz", "(foo -bar -baz)"),
        ("-(foo bar)", "-(foo bar)"),
        ("NOT NOT foo", "--foo"),
        ("\"tax table\"", "tax+table"),
        ("“tax table”", "tax+table"),
        ("say\"hi there\"", "(say hi+there)"),
        ("parseLegacyRecord", "parse+legacy+record=parselegacyrecord"),
        ("--fake-responses", "fake+responses=fakeresponses"),
        ("src/cart/tax.js", "src+cart+tax+js"),
        ("main() foo(bar)", "(main foo+bar)"),
        ("conf*", "conf*"),
        ("legacyRec*", "legacy+rec=legacyrec*"),
        ("word~ longerword~ word~2", "(word~1 longerword~2 word~2)"),
        ("legacyRecord~1", "legacyrecord~1"),
        ("/legacy_?record/i foo", "(/…/ foo)"),
        ("/usr/local/bin", "usr+local+bin"),
        ("/usr", "usr"),
        (r"/a\/b/", "/…/"),
        ("会话", "会话"),
        ("会话恢复", "会话+话恢+恢复"),
        ("话", "话*"),
        ("用Rust写", "用+rust+写*"),
        ("会话*", "会话"),
        ("会话~", "会话"),
        ("foo 🙂 bar", "(foo bar)"),
        ("and or not", "(and or not)"),
        (
            "http://x.y std::fs 12:30 error: localhost:80",
            "(http+x+y std+fs 12+30 error localhost+80)",
        ),
        ("in:prompt foo bar", "(foo{prompt} bar{prompt})"),
        ("foo in:prompt,output", "foo{prompt,output}"),
        ("foo (in:title bar) baz", "(foo bar{title} baz)"),
        ("in:prompt foo (in:title bar OR baz)", "(foo{prompt} <bar{title} baz{title}>)"),
        ("-in:output,context,call,notice,thought foo", "foo{prompt,title,path,answer}"),
        ("in:prompt (foo OR bar) file:tax.js", "(<foo{prompt} bar{prompt}> tax+js=taxjs{path})"),
        ("model:pro,flash", "<pro{model} flash{model}>"),
        ("tool:read_file", "read+file=readfile{tool}"),
        ("kind:prompt,tool-result", "[Kind([Prompt, ToolResult])]"),
        ("-fate:kept x", "(-[Fate([Kept])] x)"),
        ("is:error", "[Error]"),
        ("is:undone", "[Fate([Rewound, Cancelled, Compressed, Replaced])]"),
        ("is:live", "[Session(Live)]"),
        ("project:\"my shop\" x", "([Session(Project(\"my shop\"))] x)"),
        ("source:one", "[Session(Source(\"one\"))]"),
        ("after:7d", "[After(HoursAgo(168))]"),
        ("before:yesterday", "[Before(DaysBack(1))]"),
    ] {
        assert_eq!(understood(query), want, "{query}");
    }
}

#[test]
fn mistakes_show_the_spot_and_an_example() {
    let mut shown = String::new();
    for query in [
        "",
        "  ",
        "🙂 !!",
        "foo AND",
        "会话 OR OR bar",
        "AND foo",
        "foo NOT",
        "(foo NOT)",
        "(foo",
        "foo)",
        "\"foo bar",
        "foo \"\"",
        "colour:red",
        "in:prompts foo",
        "in:prompt",
        "in:prompt -in:prompt foo",
        "kind:prompt,quest",
        "fate:lost",
        "is:dead",
        "after:soon",
        "project: foo",
        "project:\"foo",
        "file:!!",
        "word~3",
        "会话 /a(b/",
        "/\\w{500}{500}/",
    ] {
        let mistake = SearchQuery::parse(query).unwrap_err();
        let pointed = mistake.pointed(query);
        writeln!(shown, "{pointed} {mistake}\n  {}\n", mistake.example).unwrap();
        assert!(SearchQuery::parse(mistake.example).is_ok(), "{}", mistake.example);
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn depth_and_number_of_terms_are_bounded() {
    assert!(SearchQuery::parse(&"(".repeat(100_000)).is_err());
    assert!(SearchQuery::parse(&"-(".repeat(100_000)).is_err());
    assert!(SearchQuery::parse(&"NOT ".repeat(100_000)).is_err());
    assert!(SearchQuery::parse(&"a ".repeat(100_000)).is_err());
}

#[test]
fn a_mistake_is_at_whole_letters() {
    for (query, wanted) in [("/a{¡/", "¡"), ("/会{会/", "会"), ("/a{/", "{"), ("/(a/", "(")] {
        let mistake = SearchQuery::parse(query).unwrap_err();
        assert_eq!(query.get(mistake.at.clone()), Some(wanted), "{query}: {mistake:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(query in "\\PC{0,60}") {
        if let Err(mistake) = SearchQuery::parse(&query) {
            mistake.pointed(&query);
            proptest::prop_assert!(query.get(mistake.at).is_some());
        }
    }

    #[test]
    fn no_tokens_make_it_panic(tokens in proptest::collection::vec(proptest::sample::select(&[
        "foo", "bar*", "baz~2", "\"", "“", "(", ")", "-", "/", "/i", "[", "AND", "OR", "NOT", "in:", "in:prompt",
        "kind:", "is:error", "after:1d", ":", ",", "会", "話す", "🙂", " ", " ", " ", "\\", "\u{301}", "\u{0}",
    ][..]), 0..14)) {
        let query = tokens.concat();
        if let Err(mistake) = SearchQuery::parse(&query) {
            mistake.pointed(&query);
            proptest::prop_assert!(query.get(mistake.at).is_some());
        }
    }
}
