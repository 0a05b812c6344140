//! What every page has around it: the head with its style, the strict rules for what may run, the end with its script.
//!
//! The rules allow exactly our style and our script, by their hashes. Whatever else gets into a page, it cannot run, load
//! or send anything.

use std::io;
use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use super::paper::Paper;

/// A kind of page, with what it brings along.
pub(super) struct Look {
    style: &'static str,
    script: &'static str,
    rules: String,
}

/// A session.
pub(super) static PAGE: LazyLock<Look> = LazyLock::new(|| {
    Look::new(
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
pub(super) static SITE: LazyLock<Look> = LazyLock::new(|| {
    Look::new(
        concat!(include_str!("assets/common.css"), include_str!("assets/site.css")),
        concat!(
            "\"use strict\";\n",
            include_str!("assets/common.js"),
            include_str!("assets/site.js")
        ),
    )
});

/// What was used, with charts.
pub(super) static REPORT: LazyLock<Look> = LazyLock::new(|| {
    Look::new(
        concat!(include_str!("assets/common.css"), include_str!("assets/report.css")),
        concat!("\"use strict\";\n", include_str!("assets/common.js")),
    )
});

impl Look {
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
    pub(super) fn open(&self, title: &str, paper: &mut Paper<'_>) -> io::Result<()> {
        paper.mark("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")?;
        paper.mark("<meta http-equiv=\"Content-Security-Policy\"")?;
        paper.attribute("content", &self.rules)?;
        paper.mark(
            ">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta name=\"robots\" content=\"noindex\">\n\
             <meta name=\"generator\" content=\"recount\">\n<title>",
        )?;
        paper.text(title)?;
        paper.mark("</title>\n<style>")?;
        paper.mark(self.style)?;
        paper.mark("</style>\n</head>\n<body>\n")
    }

    /// Ends a page.
    pub(super) fn close(&self, paper: &mut Paper<'_>) -> io::Result<()> {
        paper.mark("<script>")?;
        paper.mark(self.script)?;
        paper.mark("</script>\n</body>\n</html>\n")
    }
}

/// Writes how the colours are chosen.
pub(super) fn theme(paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark(
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
    fn hashes_are_written_as_browsers_read_them() {
        for (bytes, text) in
            [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("abcd", "YWJjZA==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        // printf '' | openssl dgst -sha256 -binary | base64
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn style_and_script_end_where_we_say() {
        for look in [&PAGE, &SITE, &REPORT] {
            assert!(!look.style.contains("</") && !look.script.contains("</"));
            assert!(!look.style.contains("<!--") && !look.script.contains("<!--"));
            assert!(!look.style.contains("url(") && !look.style.contains("@import"));
        }
    }
}
