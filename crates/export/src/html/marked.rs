//! Answers, which are Markdown, as markup of ours. Tags in them are text, and nothing in them is fetched.

use std::io;

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag};

use super::paper::Paper;

/// What is longer is not laid out, so that memory is bounded: the parser keeps a tree of it.
const LONGEST: usize = 2 * 1024 * 1024;
/// What is nested deeper is told as if it were not.
const DEEPEST: usize = 40;

/// Writes an answer.
pub(super) fn write(text: &str, paper: &mut Paper<'_>) -> io::Result<()> {
    let text = text.trim_end();
    if text.len() > LONGEST {
        paper.mark("<div class=\"said\" dir=\"auto\">")?;
        paper.text(text)?;
        return paper.mark("</div>\n");
    }
    let dialect =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    paper.mark("<div class=\"marked\" dir=\"auto\">")?;
    let mut answer = Answer::default();
    for event in Parser::new_ext(text, dialect) {
        answer.event(event, paper)?;
    }
    paper.mark("</div>\n")
}

/// An answer that is being written.
#[derive(Default)]
struct Answer<'a> {
    /// What closes each tag that is open.
    open: Vec<&'static str>,
    /// The link that is open and may not be one, with what it says so far.
    target: Option<(CowStr<'a>, String)>,
    is_link_open: bool,
    alignments: Vec<Alignment>,
    column: usize,
    is_head: bool,
}

impl<'a> Answer<'a> {
    fn event(&mut self, event: Event<'a>, paper: &mut Paper<'_>) -> io::Result<()> {
        match event {
            Event::Start(tag) => self.start(tag, paper),
            Event::End(_) => self.end(paper),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.note(&text);
                paper.text(&text)
            }
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.note(&code);
                paper.mark("<code>")?;
                paper.text(&code)?;
                paper.mark("</code>")
            }
            Event::FootnoteReference(name) => paper.text(&format!("[^{name}]")),
            Event::SoftBreak => paper.mark("\n"),
            Event::HardBreak => paper.mark("<br>"),
            Event::Rule => paper.mark("<hr>"),
            Event::TaskListMarker(true) => paper.mark("<span class=\"task\">☑</span> "),
            Event::TaskListMarker(false) => paper.mark("<span class=\"task\">☐</span> "),
        }
    }

    fn start(&mut self, tag: Tag<'a>, paper: &mut Paper<'_>) -> io::Result<()> {
        if self.open.len() >= DEEPEST {
            self.open.push("");
            return Ok(());
        }
        let (open, close) = match tag {
            Tag::Paragraph | Tag::DefinitionListTitle | Tag::FootnoteDefinition(_) => {
                ("<p>", "</p>")
            }
            Tag::Heading { level, .. } => heading(level),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::HtmlBlock | Tag::MetadataBlock(_) => ("<p class=\"raw\">", "</p>"),
            Tag::CodeBlock(kind) => {
                paper.mark("<pre class=\"code\"")?;
                if let CodeBlockKind::Fenced(info) = &kind
                    && let Some(language) =
                        info.split([' ', ',', '{']).find(|word| !word.is_empty())
                {
                    paper.attribute("data-lang", language)?;
                }
                (">", "</pre>")
            }
            Tag::List(None) | Tag::DefinitionList => ("<ul>", "</ul>"),
            Tag::List(Some(1)) => ("<ol>", "</ol>"),
            Tag::List(Some(first)) => {
                paper.mark("<ol")?;
                paper.numbered("start", "", first)?;
                (">", "</ol>")
            }
            Tag::Item | Tag::DefinitionListDefinition => ("<li>", "</li>"),
            Tag::Table(alignments) => {
                self.alignments = alignments;
                ("<div class=\"wide\"><table>", "</table></div>")
            }
            Tag::TableHead => {
                (self.column, self.is_head) = (0, true);
                ("<thead><tr>", "</tr></thead>")
            }
            Tag::TableRow => {
                (self.column, self.is_head) = (0, false);
                ("<tr>", "</tr>")
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<del>", "</del>"),
            Tag::Superscript => ("<sup>", "</sup>"),
            Tag::Subscript => ("<sub>", "</sub>"),
            Tag::Link { dest_url, .. } => return self.link(dest_url, paper),
            Tag::Image { dest_url, .. } => {
                paper.mark("<span class=\"image\">image</span> ")?;
                return self.link(dest_url, paper);
            }
        };
        self.open.push(close);
        paper.mark(open)
    }

    fn end(&mut self, paper: &mut Paper<'_>) -> io::Result<()> {
        let close = self.open.pop().unwrap_or_default();
        match close {
            LINK => {
                self.is_link_open = false;
                paper.mark(LINK)
            }
            // Where it leads is told, unless that is what it says.
            TARGET => {
                let Some((target, said)) = self.target.take() else { return Ok(()) };
                if target.is_empty() || said.trim() == &*target {
                    return Ok(());
                }
                paper.mark(" <span class=\"target\">(")?;
                paper.text(&target)?;
                paper.mark(")</span>")
            }
            _ => paper.mark(close),
        }
    }

    /// Begins a link, or only text where a click might do more than open a page.
    fn link(&mut self, target: CowStr<'a>, paper: &mut Paper<'_>) -> io::Result<()> {
        if self.is_link_open || self.target.is_some() {
            self.open.push("");
            return Ok(());
        }
        if !leads_out(&target) {
            self.target = Some((target, String::new()));
            self.open.push(TARGET);
            return Ok(());
        }
        self.is_link_open = true;
        self.open.push(LINK);
        paper.mark("<a")?;
        paper.attribute("href", &target)?;
        paper.mark(" rel=\"noopener noreferrer\">")
    }

    fn note(&mut self, text: &str) {
        if let Some((target, said)) = &mut self.target
            && said.len() <= target.len()
        {
            said.push_str(text);
        }
    }

    fn cell(&mut self) -> (&'static str, &'static str) {
        let alignment = self.alignments.get(self.column).copied();
        self.column += 1;
        match (alignment, self.is_head) {
            (Some(Alignment::Right), true) => ("<th class=\"right\">", "</th>"),
            (Some(Alignment::Right), false) => ("<td class=\"right\">", "</td>"),
            (Some(Alignment::Center), true) => ("<th class=\"center\">", "</th>"),
            (Some(Alignment::Center), false) => ("<td class=\"center\">", "</td>"),
            (_, true) => ("<th>", "</th>"),
            (_, false) => ("<td>", "</td>"),
        }
    }
}

const LINK: &str = "</a>";
/// Stands for the end of what is no link; never written.
const TARGET: &str = "<target>";

/// Headings of an answer stand below those of the page.
fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 | HeadingLevel::H2 => ("<h4>", "</h4>"),
        HeadingLevel::H3 => ("<h5>", "</h5>"),
        HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => ("<h6>", "</h6>"),
    }
}

/// Whether an address is that of a page or a mailbox.
fn leads_out(target: &str) -> bool {
    let begins = |scheme: &str| {
        target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    ["http://", "https://", "mailto:"].into_iter().any(begins)
        && !target.contains(|c: char| c.is_control() || c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Bidi;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write(text, &mut Paper::new(&mut out, Bidi::Kept)).unwrap();
        let page = String::from_utf8(out).unwrap();
        let inner = page.strip_prefix("<div class=\"marked\" dir=\"auto\">").unwrap();
        inner.strip_suffix("</div>\n").unwrap().to_owned()
    }

    #[test]
    fn markdown_becomes_markup() {
        for (text, markup) in [
            ("# A\n\nb *c* `<d>`", "<h4>A</h4><p>b <em>c</em> <code>&lt;d&gt;</code></p>"),
            ("```rust,ignore\na<b\n```", "<pre class=\"code\" data-lang=\"rust\">a&lt;b\n</pre>"),
            ("3. x\n4. y", "<ol start=\"3\"><li>x</li><li>y</li></ol>"),
            ("- [x] done", "<ul><li><span class=\"task\">☑</span> done</li></ul>"),
            (
                "|a|b|\n|-|-:|\n|1|2|",
                "<div class=\"wide\"><table><thead><tr><th>a</th><th class=\"right\">b</th></tr></thead>\
                 <tr><td>1</td><td class=\"right\">2</td></tr></table></div>",
            ),
        ] {
            assert_eq!(written(text), markup, "{text}");
        }
    }

    #[test]
    fn tags_are_text_and_only_pages_are_linked() {
        for (text, markup) in [
            ("a <b onclick=x>c</b>", "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>"),
            ("<script>x</script>", "<p class=\"raw\">&lt;script&gt;x&lt;/script&gt;</p>"),
            ("[a](javascript:x)", "<p>a <span class=\"target\">(javascript:x)</span></p>"),
            ("[a](JaVaScRiPt:x \"t\")", "<p>a <span class=\"target\">(JaVaScRiPt:x)</span></p>"),
            ("[src/a.rs](src/a.rs)", "<p>src/a.rs</p>"),
            (
                "[a](HTTPS://b.example/?c=\"d\"&e)",
                "<p><a href=\"HTTPS://b.example/?c=&quot;d&quot;&amp;e\" rel=\"noopener noreferrer\">a</a></p>",
            ),
            (
                "![p](https://b.example/p.png)",
                "<p><span class=\"image\">image</span> <a href=\"https://b.example/p.png\" \
                 rel=\"noopener noreferrer\">p</a></p>",
            ),
            (
                "![p](data:x)",
                "<p><span class=\"image\">image</span> p <span class=\"target\">(data:x)</span></p>",
            ),
        ] {
            assert_eq!(written(text), markup, "{text}");
        }
        let nested = written("[![a](https://b.example)](https://c.example)");
        assert_eq!(nested.matches("<a ").count(), 1, "{nested}");
    }

    #[test]
    fn nesting_has_an_end() {
        let deep = written(&">".repeat(10_000));
        assert!(deep.matches("<blockquote>").count() <= DEEPEST, "{}", deep.len());
    }

    #[test]
    fn what_is_too_long_is_not_laid_out() {
        let mut out = Vec::new();
        write(&"*a* ".repeat(LONGEST), &mut Paper::new(&mut out, Bidi::Kept)).unwrap();
        assert!(out.starts_with(b"<div class=\"said\" dir=\"auto\">*a* "));
    }
}
