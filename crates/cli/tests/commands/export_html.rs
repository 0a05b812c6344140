//! `recount export --format html`: pages and their index, read back like a browser.

use recount_testkit::{Home, Page, fixtures};

use super::export::files;
use crate::home;

/// Returns the pages of a folder, without its record.
fn pages(home: &Home, folder: &str) -> Vec<(String, String)> {
    files(home, folder).into_iter().filter(|(name, _)| name.contains(".html")).collect()
}

/// Returns the link targets of a page.
fn targets(page: &Page) -> Vec<&str> {
    page.all("a").filter_map(|a| a.get("href")).filter(|to| !to.starts_with('#')).collect()
}

/// Everything that was planted in the fixture, as far as a page shows it.
const TALK: &[&str] =
    &["title", "prompt", "heading", "text", "cell", "code", "task", "quote", "block"];
const MORE: &[&str] = &[
    "project", "id", "file", "content", "subject", "thought", "tool", "command", "failure",
    "argument", "output", "old", "new", "same", "notice", "model",
];

#[test]
fn markup_in_a_session_is_only_text() {
    let home = home(["gemini/checkpoints/markup"]);
    for (options, shown, kept_back) in [
        (&["--level", "trace", "--thoughts"][..], [TALK, MORE].concat(), vec![]),
        (&["--level", "talk"], [TALK, MORE].concat(), vec![]),
        (&["--redact"], vec!["text"], vec!["/home/dev"]),
        (
            &["--minimal"],
            TALK.to_vec(),
            vec!["/home/dev/", "bad0c0de", "330", "argument", "thought"],
        ),
    ] {
        let page = home.run([&["export", "bad0c0de", "-f", "html"], options].concat());
        assert_eq!(page.code, Some(0), "{page}");
        let page = Page::read(&page.stdout);
        for place in shown {
            assert!(
                page.text.contains(&format!("pwned('{place}")),
                "{place} is not shown: {}",
                page.text
            );
        }
        for word in kept_back {
            assert!(!page.text.contains(word), "{options:?} tells {word}: {}", page.text);
        }
        let web = |target: &str| target.starts_with("https://example.org/");
        assert!(targets(&page).into_iter().all(web), "{:?}", targets(&page));
        assert_eq!(targets(&page).len(), 3, "{:?}", targets(&page));
        assert_eq!(page.all("img").count(), 0);
    }
}

#[test]
fn markup_in_an_index_is_only_text() {
    let home = home(["gemini/checkpoints/markup", "gemini/lines/subagent"]);
    for options in [&[][..], &["--minimal"], &["--redact"]] {
        let written = home.run([&["export", "--all", "-f", "html", "-o", "out"], options].concat());
        assert_eq!(written.code, Some(0), "{written}");
        let all = pages(&home, "out");
        assert_eq!(all.len(), 5, "{:?}", written.stderr);
        for (name, text) in &all {
            let page = Page::read(text);
            if name == "/index.html" {
                assert!(page.text.contains("<script>pwned('title')"), "{}", page.text);
                assert!(page.text.contains("pwned('project')"), "{}", page.text);
                let ids = page.all("tr").filter(|row| row.get("data-id").is_some()).count();
                assert_eq!(ids, if options == ["--minimal"] { 0 } else { 4 });
            } else {
                assert!(targets(&page).contains(&"../index.html"), "{name}");
            }
        }
    }
}

#[test]
fn every_fixture_becomes_whole_pages() {
    for case in fixtures() {
        let home = home([case.name.as_str()]);
        home.run(["export", "--all", "-f", "html", "-l", "trace", "-o", "out"]);
        let all = pages(&home, "out");
        for (name, text) in &all {
            let page = Page::read(text);
            for target in targets(&page).into_iter().filter(|to| to.contains(".html")) {
                let beside = if name == "/index.html" {
                    format!("/{target}")
                } else {
                    target.replace("../", "/")
                };
                assert!(
                    all.iter().any(|(name, _)| *name == beside),
                    "{}: {name} leads to {target}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn an_index_is_kept_up_to_date() {
    let home = home(["gemini/lines/plain", "gemini/lines/tools", "gemini/lines/rewind"]);
    let export =
        |more: &[&str]| home.run([&["export", "-f", "html", "-o", "out"], more].concat()).stderr;
    let index = || String::from_utf8(home.read("out/index.html")).unwrap();
    assert!(export(&["--all"]).contains("3 sessions written (4 files,"));
    let before = files(&home, "out");
    assert!(export(&["--all"]).starts_with("note: nothing to write, 3 unchanged"));
    assert_eq!(files(&home, "out"), before);
    let first = index();
    assert_eq!(targets(&Page::read(&first)).len(), 3);
    // A session that is exported alone is added to the others.
    home.write(
        ".gemini/tmp/shop/chats/session-2026-11-15T20-00-0ddba110.jsonl",
        "{\"sessionId\":\"0ddba110-0000-4000-8000-000000000001\",\"projectHash\":\"0\",\"startTime\":\"2026-11-15T20:00:00.000Z\",\
         \"lastUpdated\":\"2026-11-15T20:00:00.000Z\",\"kind\":\"main\",\"summary\":\"A new one\"}\n\
         {\"id\":\"1\",\"timestamp\":\"2026-11-15T20:00:01.000Z\",\"type\":\"user\",\"content\":[{\"text\":\"How it begins\"}]}\n",
    );
    assert!(export(&["0ddba110"]).contains("1 session written (2 files,"));
    let page = Page::read(&index());
    assert_eq!(targets(&page).len(), 4, "{}", page.text);
    assert!(
        page.text.contains("A new one") && page.text.contains("How it begins"),
        "{}",
        page.text
    );
    // A missing or changed index is written again; a missing page is not listed.
    home.write("out/index.html", "");
    let (name, _) =
        before.iter().find(|(name, _)| name.ends_with("html") && *name != "/index.html").unwrap();
    home.write(&format!("out{name}"), "");
    export(&["0ddba110"]);
    assert_eq!(targets(&Page::read(&index())).len(), 3);
    export(&["--all"]);
    assert_eq!(targets(&Page::read(&index())).len(), 4);
}

#[test]
fn an_index_of_others_stays() {
    let home = home(["gemini/lines/plain"]);
    home.write("out/index.html", "mine");
    for _ in 0..2 {
        assert_eq!(home.run(["export", "--all", "-f", "html", "-o", "out"]).code, Some(0));
    }
    let all = pages(&home, "out");
    let names: Vec<_> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..2], ["/index-2.html", "/index.html"], "{names:?}");
    assert_eq!(all[1].1, "mine");
    assert!(targets(&Page::read(&all[2].1)).contains(&"../index-2.html"));
}

#[test]
fn sub_agents_are_linked_below_their_callers() {
    let home = home(["gemini/lines/subagent"]);
    assert_eq!(home.run(["export", "--all", "-f", "html", "-o", "out"]).code, Some(0));
    let agent = "shop/2026-11-15-count-the-files-orreth.html";
    let main = "shop/2026-11-15-where-is-the-tax-computed-ask-the-investigator-fa293f46.html";
    let read =
        |name: &str| Page::read(&String::from_utf8(home.read(&format!("out/{name}"))).unwrap());
    assert!(targets(&read(main)).contains(&format!("../{agent}").as_str()));
    assert!(targets(&read(agent)).contains(&format!("../{main}").as_str()));
    let index = read("index.html");
    let order = targets(&index);
    let at = |name: &str| order.iter().position(|to| *to == name).unwrap();
    assert!(at(main) < at(agent), "{order:?}");
    assert_eq!(index.all("tr").filter(|row| row.get("class") == Some("child")).count(), 2);
}

#[test]
fn the_ending_decides_and_pages_have_no_parts() {
    let home = home(["gemini/lines/tools"]);
    assert_eq!(home.run(["export", "latest", "-o", "page.html"]).code, Some(0));
    let page = String::from_utf8(home.read("page.html")).unwrap();
    assert!(targets(&Page::read(&page)).is_empty(), "no index, no way back");
    insta::assert_snapshot!(home.run(["export", "latest", "-f", "html", "--split", "5", "-o", "x/"]), @r"
    ------- stderr -------
    error: --split is for md and txt, not for html
    hint: leave out --split, or choose another --format
    [exit 2]
    ");
}

#[test]
fn undone_messages_are_not_in_the_strict_view() {
    let home = home(["gemini/lines/rewind"]);
    let full = Page::read(&home.run(["export", "latest", "-f", "html"]).stdout);
    let undone = |page: &Page| {
        let classes = page.all("article").filter_map(|article| article.get("class"));
        classes.filter(|class| class.contains("undone")).count()
    };
    assert!(undone(&full) > 0);
    let strict =
        Page::read(&home.run(["export", "latest", "-f", "html", "--view", "strict"]).stdout);
    assert_eq!(undone(&strict), 0);
    assert!(strict.all("article").count() > 0);
}
