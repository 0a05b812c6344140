//! The frame of every page: the head with its style, the content security policy, the end with its script.
//!
//! The policy allows exactly our style and our script, by their hashes. Nothing else in a page can run, load or send
//! anything.

use std::io;
use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use super::html_writer::HtmlWriter;

/// A kind of page, with its style and script.
pub(super) struct PageFrame {
    style: &'static str,
    script: &'static str,
    rules: String,
}

/// A session.
pub(super) static PAGE: LazyLock<PageFrame> = LazyLock::new(|| {
    PageFrame::new(
        concat!(include_str!("assets/common.css"), include_str!("assets/page.css")),
        concat!(
            "\"use strict\";\n",
            include_str!("assets/common.js"),
            include_str!("assets/page.js"),
            include_str!("assets/find.js"),
            include_str!("assets/colour.js"),
        ),
    )
});

/// The list of sessions in a folder.
pub(super) static SITE: LazyLock<PageFrame> = LazyLock::new(|| {
    PageFrame::new(
        concat!(include_str!("assets/common.css"), include_str!("assets/site.css")),
        concat!(
            "\"use strict\";\n",
            include_str!("assets/common.js"),
            include_str!("assets/site.js")
        ),
    )
});

/// A usage report, with charts.
pub(super) static REPORT: LazyLock<PageFrame> = LazyLock::new(|| {
    PageFrame::new(
        concat!(include_str!("assets/common.css"), include_str!("assets/report.css")),
        concat!("\"use strict\";\n", include_str!("assets/common.js")),
    )
});

impl PageFrame {
    fn new(style: &'static str, script: &'static str) -> Self {
        let rules = format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; \
             base-uri 'none'; form-action 'none'",
            hash(style),
            hash(script)
        );
        Self { style, script, rules }
    }

    /// Begins a page.
    pub(super) fn open(&self, title: &str, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        html.mark("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")?;
        html.mark("<meta http-equiv=\"Content-Security-Policy\"")?;
        html.attribute("content", &self.rules)?;
        html.mark(
            ">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"robots\" content=\"noindex\">\n\
             <meta name=\"generator\" content=\"recount\">\n<title>",
        )?;
        html.text(title)?;
        html.mark("</title>\n<style>")?;
        html.mark(self.style)?;
        html.mark("</style>\n</head>\n<body>\n")
    }

    /// Ends a page.
    pub(super) fn close(&self, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        html.mark("<script>")?;
        html.mark(self.script)?;
        html.mark("</script>\n</body>\n</html>\n")
    }
}

/// Writes the theme selection.
pub(super) fn theme(html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark(
        "<fieldset class=\"choice\" id=\"theme\"><legend>Colours</legend>\
         <label><input type=\"radio\" name=\"theme\" id=\"theme-auto\" value=\"auto\" checked> Auto</label>\
         <label><input type=\"radio\" name=\"theme\" id=\"theme-light\" value=\"light\"> Light</label>\
         <label><input type=\"radio\" name=\"theme\" id=\"theme-dark\" value=\"dark\"> Dark</label>\
         </fieldset>\n",
    )
}

fn hash(text: &str) -> String {
    base64(&Sha256::digest(text))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|at| group.get(at).copied().map_or(0, u32::from));
        let bits = a << 16 | b << 8 | c;
        for at in 0..4 {
            let digit = usize::try_from(bits >> (18 - 6 * at) & 63).ok();
            let digit = digit.and_then(|digit| DIGITS.get(digit)).copied().map_or('A', char::from);
            text.push(if at <= group.len() { digit } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_in_the_format_of_browsers() {
        for (bytes, text) in
            [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("abcd", "YWJjZA==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        // printf '' | openssl dgst -sha256 -binary | base64
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn style_and_script_cannot_be_closed_early() {
        for look in [&PAGE, &SITE, &REPORT] {
            assert!(!look.style.contains("</") && !look.script.contains("</"));
            assert!(!look.style.contains("<!--") && !look.script.contains("<!--"));
            assert!(!look.style.contains("url(") && !look.style.contains("@import"));
        }
    }
}
