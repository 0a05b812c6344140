//! Markdown blocks as markup. Tags in them are text, and nothing in them is loaded.

use std::io;

use recount_blocks::{Alignment, Inline, ListItem, Prose, TableCell};

use super::html_writer::HtmlWriter;
use super::message::code;

/// Writes the blocks of an answer.
pub(super) fn write(blocks: &[Prose<'_>], html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark("<div class=\"marked\" dir=\"auto\">")?;
    Writer { html, is_in_link: false }.blocks(blocks)?;
    html.mark("</div>\n")
}

struct Writer<'p, 'out> {
    html: &'p mut HtmlWriter<'out>,
    /// Links cannot be nested.
    is_in_link: bool,
}

impl Writer<'_, '_> {
    fn blocks(&mut self, blocks: &[Prose<'_>]) -> io::Result<()> {
        blocks.iter().try_for_each(|block| self.block(block))
    }

    fn block(&mut self, block: &Prose<'_>) -> io::Result<()> {
        match block {
            Prose::Paragraph { tight: true, content } => self.content(content),
            Prose::Paragraph { tight: false, content } => self.within("<p>", content, "</p>"),
            Prose::Heading { level, content } => {
                // Headings of an answer are below those of the page.
                let (open, close) = match level {
                    0..=2 => ("<h4>", "</h4>"),
                    3 => ("<h5>", "</h5>"),
                    _ => ("<h6>", "</h6>"),
                };
                self.within(open, content, close)
            }
            Prose::List { start, items } => self.list(*start, items),
            Prose::Quote { blocks } => {
                self.html.mark("<blockquote>")?;
                self.blocks(blocks)?;
                self.html.mark("</blockquote>")
            }
            Prose::Table { alignments, head, rows } => self.table(alignments, head, rows),
            Prose::Code(block) => code(&block.text, &block.language, self.html),
            Prose::Html { text } => {
                self.html.mark("<p class=\"raw\">")?;
                self.html.text(text)?;
                self.html.mark("</p>")
            }
            Prose::Rule => self.html.mark("<hr>"),
        }
    }

    fn list(&mut self, start: Option<u64>, items: &[ListItem<'_>]) -> io::Result<()> {
        let close = match start {
            None => {
                self.html.mark("<ul>")?;
                "</ul>"
            }
            Some(first) => {
                self.html.mark("<ol")?;
                if first != 1 {
                    self.html.numbered("start", "", first)?;
                }
                self.html.mark(">")?;
                "</ol>"
            }
        };
        for item in items {
            self.html.mark("<li>")?;
            self.item(item)?;
            self.html.mark("</li>")?;
        }
        self.html.mark(close)
    }

    fn item(&mut self, item: &ListItem<'_>) -> io::Result<()> {
        let sign = match item.task {
            None => return self.blocks(&item.blocks),
            Some(true) => "<span class=\"task\">☑</span> ",
            Some(false) => "<span class=\"task\">☐</span> ",
        };
        // The checkbox is on the line of the text.
        if let Some((Prose::Paragraph { tight: false, content }, rest)) = item.blocks.split_first()
        {
            self.html.mark("<p>")?;
            self.html.mark(sign)?;
            self.content(content)?;
            self.html.mark("</p>")?;
            return self.blocks(rest);
        }
        self.html.mark(sign)?;
        self.blocks(&item.blocks)
    }

    fn table(
        &mut self,
        alignments: &[Alignment],
        head: &[TableCell<'_>],
        rows: &[Vec<TableCell<'_>>],
    ) -> io::Result<()> {
        self.html.mark("<div class=\"wide\"><table><thead><tr>")?;
        for (column, cell) in head.iter().enumerate() {
            let open = match alignments.get(column) {
                Some(Alignment::Right) => "<th class=\"right\">",
                Some(Alignment::Center) => "<th class=\"center\">",
                _ => "<th>",
            };
            self.within(open, cell, "</th>")?;
        }
        self.html.mark("</tr></thead>")?;
        for row in rows {
            self.html.mark("<tr>")?;
            for (column, cell) in row.iter().enumerate() {
                let open = match alignments.get(column) {
                    Some(Alignment::Right) => "<td class=\"right\">",
                    Some(Alignment::Center) => "<td class=\"center\">",
                    _ => "<td>",
                };
                self.within(open, cell, "</td>")?;
            }
            self.html.mark("</tr>")?;
        }
        self.html.mark("</table></div>")
    }

    fn within(
        &mut self,
        open: &'static str,
        content: &[Inline<'_>],
        close: &'static str,
    ) -> io::Result<()> {
        self.html.mark(open)?;
        self.content(content)?;
        self.html.mark(close)
    }

    fn content(&mut self, content: &[Inline<'_>]) -> io::Result<()> {
        content.iter().try_for_each(|inline| match inline {
            Inline::Text { text } => self.html.text(text),
            Inline::Code { text } => {
                self.html.mark("<code>")?;
                self.html.text(text)?;
                self.html.mark("</code>")
            }
            Inline::SoftBreak => self.html.mark("\n"),
            Inline::LineBreak => self.html.mark("<br>"),
            Inline::Emphasis { content } => self.within("<em>", content, "</em>"),
            Inline::Strong { content } => self.within("<strong>", content, "</strong>"),
            Inline::Strike { content } => self.within("<del>", content, "</del>"),
            Inline::Link { target, content } => self.link(target, content),
            Inline::Image { target, content } => {
                self.html.mark("<span class=\"image\">image</span> ")?;
                self.link(target, content)
            }
        })
    }

    /// Writes a link, or only text if a click might do more than open a page.
    fn link(&mut self, target: &str, content: &[Inline<'_>]) -> io::Result<()> {
        if self.is_in_link {
            return self.content(content);
        }
        self.is_in_link = true;
        if leads_out(target) {
            self.html.mark("<a")?;
            self.html.attribute("href", target)?;
            self.html.mark(" rel=\"noopener noreferrer\">")?;
            self.content(content)?;
            self.html.mark("</a>")?;
        } else {
            self.content(content)?;
            let mut said = String::new();
            collect_text(content, target.len(), &mut said);
            if !target.is_empty() && said.trim() != target {
                self.html.mark(" <span class=\"target\">(")?;
                self.html.text(target)?;
                self.html.mark(")</span>")?;
            }
        }
        self.is_in_link = false;
        Ok(())
    }
}

/// Collects the text of a link until it is longer than `enough`.
fn collect_text(content: &[Inline<'_>], enough: usize, said: &mut String) {
    for inline in content {
        if said.len() > enough {
            return;
        }
        match inline {
            Inline::Text { text } | Inline::Code { text } => said.push_str(text),
            Inline::SoftBreak | Inline::LineBreak => {}
            Inline::Emphasis { content }
            | Inline::Strong { content }
            | Inline::Strike { content }
            | Inline::Link { content, .. }
            | Inline::Image { content, .. } => collect_text(content, enough, said),
        }
    }
}

/// Whether an address is that of a web page or a mailbox.
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
        let blocks = recount_blocks::markdown(text);
        write(&blocks, &mut HtmlWriter::new(&mut out, Bidi::Kept)).unwrap();
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
                "- [ ] a\n\n- b",
                "<ul><li><p><span class=\"task\">☐</span> a</p></li><li><p>b</p></li></ul>",
            ),
            ("- a\n  - b<br>c", "<ul><li>a<ul><li>b<br>c</li></ul></li></ul>"),
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
        assert!(deep.matches("<blockquote>").count() <= recount_blocks::DEEPEST, "{}", deep.len());
    }
}
