//! How many tokens a text is, estimated.

use super::clean::cut;

/// Returns about how many tokens a text is: four bytes, or one character of a script that is written without spaces.
pub fn tokens(text: &str) -> usize {
    text.chars().map(quarters).sum::<usize>().div_ceil(4)
}

/// Returns about how many tokens some lines are.
pub(crate) fn lines_tokens(lines: &[String]) -> usize {
    lines.iter().map(|line| tokens(line) + 1).sum()
}

/// Drops the lines that do not fit, and returns how many. The first is cut if it does not fit itself.
pub(crate) fn fit(lines: &mut Vec<String>, budget: usize) -> usize {
    let mut cost = 0;
    let kept = lines.iter().take_while(|line| {
        cost += tokens(line) + 1;
        cost <= budget
    });
    let kept = kept.count();
    if kept == 0
        && let Some(first) = lines.first_mut()
    {
        // A character is at most a token.
        *first = format!("{}…", cut(first, budget.saturating_sub(2)));
    }
    let left = lines.len() - kept.max(1).min(lines.len());
    lines.truncate(kept.max(1));
    left
}

fn quarters(character: char) -> usize {
    match character {
        '\u{1100}'..='\u{11FF}'
        | '\u{2E80}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF00}'..='\u{FFEF}'
        | '\u{20000}'..='\u{3FFFF}' => 4,
        _ => character.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_count_a_quarter_and_ideographs_count_one() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("four"), 1);
        assert_eq!(tokens("fours"), 2);
        assert_eq!(tokens("天气预报"), 4);
        assert_eq!(tokens("привет"), 3);
    }

    #[test]
    fn lines_are_made_to_fit() {
        let mut lines: Vec<String> = vec!["天".repeat(500), "word ".repeat(40)];
        assert_eq!(fit(&mut lines, 100), 1);
        assert!(lines.len() == 1 && lines_tokens(&lines) <= 101, "{lines:?}");
        let mut lines: Vec<String> = vec!["four".to_owned(); 10];
        assert_eq!(fit(&mut lines, 10), 5);
        assert_eq!(fit(&mut Vec::new(), 10), 0);
    }
}
