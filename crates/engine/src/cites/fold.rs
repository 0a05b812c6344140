//! Texts in one spelling: quotes are compared without regard to white space, width of letters, and kinds of quotation marks and dashes.

use unicode_normalization::UnicodeNormalization as _;

/// Returns a text in one spelling.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut is_space = true;
    let spelled = text.chars().filter(|letter| !is_hidden(*letter)).nfkc();
    for letter in spelled.map(one_spelling) {
        if letter.is_whitespace() || letter.is_control() {
            if !is_space {
                folded.push(' ');
            }
            is_space = true;
        } else {
            folded.push(letter);
            is_space = false;
        }
    }
    if folded.ends_with(' ') {
        folded.pop();
    }
    folded
}

/// Whether nobody sees it.
fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E01EF}')
}

fn one_spelling(letter: char) -> char {
    match letter {
        '‘' | '’' | '‚' | '‛' | '′' | '`' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        // What stands for `<` and `>` where text is shown to models.
        '‹' => '<',
        '›' => '>',
        _ => letter,
    }
}

/// Returns a quote without the marks of having been cut out: ellipses and quotation marks at its ends.
pub(super) fn trimmed(quote: &str) -> &str {
    let is_mark = |letter: char| letter.is_whitespace() || letter == '…';
    quote.trim_matches(is_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_the_same_text_are_equal() {
        for (one, other) in [
            ("10 % off\n  from\tten", "10 % off from ten"),
            ("it’s “done” — now", "it's \"done\" - now"),
            ("ｆｉｘ ﬁx", "fix fix"),
            ("a\u{200B}b\u{E0041}", "ab"),
            ("cafe\u{301}", "café"),
            (" \n ", ""),
        ] {
            assert_eq!(fold(one), fold(other), "{one:?}");
        }
        assert_ne!(fold("Ten"), fold("ten"), "case is part of a quote");
        assert_eq!(trimmed("… from ten …"), "from ten");
    }
}
