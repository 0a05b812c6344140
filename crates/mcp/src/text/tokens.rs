//! How many tokens a text is, estimated.

/// Returns about how many tokens a text is: four bytes, or one character of a script that is written without spaces.
pub fn tokens(text: &str) -> usize {
    text.chars().map(quarters).sum::<usize>().div_ceil(4)
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
}
