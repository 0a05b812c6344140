//! Chinese, Japanese and Korean questions: scripts in which function words are not separated.

use crate::token::{Form, Scanner, is_dense};

/// Function words and question words, longer ones first where one contains another.
const FUNCTION_WORDS: [&str; 58] = [
    "为什么",
    "為什麼",
    "什么时候",
    "什麼時候",
    "怎么样",
    "怎麼樣",
    "怎样",
    "怎樣",
    "怎么",
    "怎麼",
    "如何",
    "什么",
    "什麼",
    "哪个",
    "哪個",
    "哪些",
    "哪里",
    "哪裡",
    "哪儿",
    "我们",
    "我們",
    "你们",
    "你們",
    "他们",
    "他們",
    "是不是",
    "有没有",
    "有沒有",
    "是否",
    "这个",
    "這個",
    "那个",
    "那個",
    "之前",
    "上次",
    "以前",
    "当时",
    "當時",
    "请",
    "請",
    "的",
    "了",
    "吗",
    "嗎",
    "呢",
    "吧",
    "是",
    "我",
    "你",
    "把",
    "被",
    "어떻게",
    "우리가",
    "우리",
    "무엇",
    "언제",
    "어디서",
    "왜",
];

/// Words by which a sentence is recognized as a question.
const QUESTION_WORDS: [&str; 22] = [
    "怎么",
    "怎麼",
    "怎样",
    "怎樣",
    "如何",
    "什么",
    "什麼",
    "哪",
    "吗",
    "嗎",
    "呢",
    "谁",
    "誰",
    "どう",
    "なぜ",
    "どこ",
    "いつ",
    "何",
    "어떻게",
    "왜",
    "무엇",
    "언제",
];

/// Particles at the end of Korean words.
const PARTICLES: [&str; 15] = [
    "에서", "으로", "에게", "까지", "부터", "을", "를", "이", "가", "은", "는", "의", "에", "로",
    "도",
];

/// Whether a run of such a script is a question.
pub(crate) fn is_question(text: &str) -> bool {
    text.chars().any(is_dense) && QUESTION_WORDS.iter().any(|word| text.contains(word))
}

/// Returns the pairs of characters that a text is about, without repetition; a character on its own where it has no neighbour.
pub(crate) fn pairs(text: &str) -> Vec<String> {
    let mut rest = text.to_owned();
    for word in FUNCTION_WORDS {
        if rest.contains(word) {
            rest = rest.replace(word, " ");
        }
    }
    let mut found: Vec<String> = Vec::new();
    for run in rest.split(|character: char| !is_dense(character)) {
        for piece in pieces(run) {
            let mut scanner = Scanner::new(piece);
            while let Some(token) = scanner.next() {
                let counts = matches!(token.form, Form::Pair | Form::Lone);
                if counts && !found.iter().any(|known| known == token.text) {
                    found.push(token.text.to_owned());
                }
            }
        }
    }
    found
}

/// Splits a run where inflections and particles are: at hiragana beside kanji or katakana, and at the ends of Korean words.
fn pieces(run: &str) -> Vec<&str> {
    let is_hiragana = |character: char| matches!(character, '\u{3041}'..='\u{309f}');
    if run.chars().any(is_hiragana) && !run.chars().all(is_hiragana) {
        return run.split(is_hiragana).filter(|piece| !piece.is_empty()).collect();
    }
    let is_hangul = |character: char| matches!(character, '\u{ac00}'..='\u{d7a3}');
    if run.chars().all(is_hangul) && run.chars().count() > 2 {
        let word = PARTICLES.iter().find_map(|particle| run.strip_suffix(particle));
        return vec![word.filter(|word| word.chars().count() > 1).unwrap_or(run)];
    }
    vec![run]
}
