//! The text that says how a search was relaxed.

use recount_engine::RelaxedSearch;

/// More words than these are not listed.
const LISTED: usize = 8;

/// Says which words were looked for, and which were not.
pub fn relaxed(relaxation: Option<&RelaxedSearch>) -> String {
    let Some(RelaxedSearch { words, left_out, not_found }) = relaxation else {
        return "no message has all words".to_owned();
    };
    let is_found = |word: &&String| !not_found.contains(word);
    let found: Vec<&String> = words.iter().filter(is_found).collect();
    let mut text = if left_out.is_empty() {
        "no message has all words; searched for any form of".to_owned()
    } else {
        "searched for any form of".to_owned()
    };
    text = format!("{text} {}", listed(&found));
    if !not_found.is_empty() {
        text = format!("{text}; found nowhere: {}", listed(&not_found.iter().collect::<Vec<_>>()));
    }
    text
}

fn listed(words: &[&String]) -> String {
    let mut shown: Vec<&str> = words.iter().take(LISTED).map(|word| word.as_str()).collect();
    if words.len() > LISTED {
        shown.push("…");
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_said() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let mut relaxation = RelaxedSearch {
            words: words(&["shrink", "docker", "image"]),
            left_out: words(&["how", "did"]),
            not_found: Vec::new(),
        };
        let said = |relaxation: &RelaxedSearch| relaxed(Some(relaxation));
        assert_eq!(said(&relaxation), "searched for any form of shrink, docker, image");
        relaxation.not_found = words(&["docker"]);
        assert_eq!(
            said(&relaxation),
            "searched for any form of shrink, image; found nowhere: docker"
        );
        relaxation.left_out.clear();
        assert!(said(&relaxation).starts_with("no message has all words; "));
        assert_eq!(relaxed(None), "no message has all words");
    }
}
