use super::*;

fn shown(markdown: &str, width: usize) -> String {
    render(&recount_blocks::markdown(markdown), &Canvas::new(width, Paint::Off))
}

#[test]
fn blocks_are_distinguished_without_colors() {
    let markdown = "\
# The plan for `main`

First **paragraph** with *words* that ~~fit~~ wrap.
Second line.

> quoted text that is long enough to be wrapped
>
> > deeper

---

```rust,ignore
fn main() {}
```

    indented

<div>
html
</div>
";
    insta::assert_snapshot!(shown(markdown, 32), @"
    # The plan for `main`

    First paragraph with words that
    ~~fit~~ wrap.
    Second line.

    │ quoted text that is long
    │ enough to be wrapped
    │
    │ │ deeper

    ────────────────────────────────

    ── rust
      fn main() {}

      indented

    <div>
    html
    </div>
    ");
}

#[test]
fn lists_nest_and_hang() {
    let markdown = "\
- one item that is long enough to wrap
  1. first
  2. second

     with a paragraph
- [x] done
- [ ] open
-

9. nine
10. ten
    ```sh
    ls
    ```
";
    insta::assert_snapshot!(shown(markdown, 28), @"
    • one item that is long
      enough to wrap
      1. first

      2. second

         with a paragraph
    [x] done
    [ ] open
    •

    9. nine
    10. ten

        ── sh
          ls
    ");
}

#[test]
fn a_loose_list_keeps_its_blank_lines() {
    insta::assert_snapshot!(shown("- one\n\n- two\n\n> - a\n>\n> - b", 28), @"
    • one

    • two

    │ • a
    │
    │ • b
    ");
}

#[test]
fn a_rule_in_an_item_is_after_its_text() {
    insta::assert_snapshot!(shown("- one\n  ***\n- two", 20), @"
    • one

      ──────────────────
    • two
    ");
}

#[test]
fn a_link_shows_its_address_once() {
    let markdown = "\
[docs](https://example.org/docs) <https://example.org> <me@example.org> ![a cat](cat.png) [](x)
";
    insta::assert_snapshot!(shown(markdown, 100), @"docs (https://example.org/docs) https://example.org me@example.org image: a cat (cat.png) (x)");
}

const TABLE: &str = "\
| Name | 数量 | What it does |
|:-----|----:|:----:|
| `list` | 12 | lists **all** sessions<br>of a project |
| 会话 | 3 | one |
| short |
";

#[test]
fn a_table_is_aligned() {
    insta::assert_snapshot!(shown(TABLE, 60), @"
    Name   │ 数量 │    What it does
    ───────┼──────┼───────────────────
    `list` │   12 │ lists all sessions
           │      │    of a project
    ───────┼──────┼───────────────────
    会话   │    3 │        one
    ───────┼──────┼───────────────────
    short  │      │
    ");
}

#[test]
fn a_table_that_is_too_wide_wraps_within_its_cells() {
    insta::assert_snapshot!(shown(TABLE, 30), @"
    Name   │ 数量 │  What it does
    ───────┼──────┼───────────────
    `list` │   12 │   lists all
           │      │    sessions
           │      │  of a project
    ───────┼──────┼───────────────
    会话   │    3 │      one
    ───────┼──────┼───────────────
    short  │      │
    ");
}

#[test]
fn a_hopeless_table_becomes_a_list() {
    let markdown = "\
| one | two | three | four |
|-----|-----|-------|------|
| the first cell | the second cell | the third cell | the fourth cell |
| a | b | c | d |
";
    insta::assert_snapshot!(shown(markdown, 24), @"
    one: the first cell
    two: the second cell
    three: the third cell
    four: the fourth cell

    one: a
    two: b
    three: c
    four: d
    ");
}

#[test]
fn styles_are_combined() {
    let blocks = recount_blocks::markdown("**bold *and `code`***");
    let painted = render(&blocks, &Canvas::new(40, Paint::On));
    assert_eq!(
        painted,
        "\x1b[1mbold \x1b[0m\x1b[1m\x1b[3mand \x1b[0m\x1b[1m\x1b[3m\x1b[36mcode\x1b[0m\n"
    );
}

#[test]
fn nesting_without_end_leaves_room_for_text() {
    let quotes = format!("{} deep enough", ">".repeat(500));
    assert!(shown(&quotes, 24).contains("deep"));
    let item = |depth: usize| ["  ".repeat(depth).as_str(), "- x\n"].concat();
    let list: String = (0..40).map(item).collect();
    assert_eq!(shown(&list, 24).matches("• x").count(), 40);
}

#[test]
fn numeric_references_cannot_smuggle_an_escape() {
    assert_eq!(shown("a &#27;[31m &#x9b;m &#x202e; b", 60), "a ␛[31m \\x9bm <U+202E> b\n");
}
