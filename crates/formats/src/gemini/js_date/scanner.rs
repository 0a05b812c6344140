//! The tokens of a text, by the rules of V8.

/// The number of significant digits of a number.
pub(super) const DIGITS: usize = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Number { value: i64, length: usize },
    Symbol(char),
    Word { kind: Word, value: i64, length: usize },
    Blank,
    Other,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Month,
    HalfOfDay,
    Zone,
    Separator,
    Unknown,
}

const WORDS: &[(&str, Word, i64)] = &[
    ("jan", Word::Month, 1),
    ("feb", Word::Month, 2),
    ("mar", Word::Month, 3),
    ("apr", Word::Month, 4),
    ("may", Word::Month, 5),
    ("jun", Word::Month, 6),
    ("jul", Word::Month, 7),
    ("aug", Word::Month, 8),
    ("sep", Word::Month, 9),
    ("oct", Word::Month, 10),
    ("nov", Word::Month, 11),
    ("dec", Word::Month, 12),
    ("am", Word::HalfOfDay, 0),
    ("pm", Word::HalfOfDay, 12),
    ("ut", Word::Zone, 0),
    ("utc", Word::Zone, 0),
    ("z", Word::Zone, 0),
    ("gmt", Word::Zone, 0),
    ("cdt", Word::Zone, -5),
    ("cst", Word::Zone, -6),
    ("edt", Word::Zone, -4),
    ("est", Word::Zone, -5),
    ("mdt", Word::Zone, -6),
    ("mst", Word::Zone, -7),
    ("pdt", Word::Zone, -7),
    ("pst", Word::Zone, -8),
    ("t", Word::Separator, 0),
];

impl Token {
    pub(super) fn number(self, length: usize) -> Option<i64> {
        if let Self::Number { value, length: own } = self {
            (own == length).then_some(value)
        } else {
            None
        }
    }

    pub(super) fn is_zulu(self) -> bool {
        matches!(self, Self::Word { kind: Word::Zone, length: 1, .. })
    }

    pub(super) fn sign(self) -> Option<i64> {
        let Self::Symbol(symbol) = self else { return None };
        match symbol {
            '+' => Some(1),
            '-' => Some(-1),
            _ => None,
        }
    }
}

pub(super) struct Scanner<'a> {
    rest: std::str::Chars<'a>,
    pub(super) next: Token,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut scanner = Self { rest: text.chars(), next: Token::End };
        scanner.next = scanner.scan();
        scanner
    }

    pub(super) fn take(&mut self) -> Token {
        let next = self.scan();
        std::mem::replace(&mut self.next, next)
    }

    pub(super) fn skip(&mut self, symbol: char) -> bool {
        let is_there = self.next == Token::Symbol(symbol);
        if is_there {
            self.take();
        }
        is_there
    }

    fn first(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn while_next(&mut self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let all = self.rest.as_str();
        let end = all.find(|c| !is_wanted(c)).unwrap_or(all.len());
        let (taken, rest) = all.split_at(end);
        self.rest = rest.chars();
        taken
    }

    fn scan(&mut self) -> Token {
        let Some(first) = self.first() else { return Token::End };
        if first.is_ascii_digit() {
            let digits = self.while_next(|c| c.is_ascii_digit());
            let value = digits.trim_start_matches('0').bytes().take(DIGITS);
            let value = value.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
            return Token::Number { value, length: digits.len() };
        }
        if matches!(first, ':' | '-' | '+' | '.' | ')') {
            self.rest.next();
            return Token::Symbol(first);
        }
        if first >= 'A' && !is_space(first) {
            let word = self.while_next(|c| c >= 'A' && !is_space(c));
            let length = word.encode_utf16().count();
            // V8 compares the first three units, each with the lower-case bit set.
            let start: Vec<u32> = word.encode_utf16().take(3).map(|c| lower(c.into())).collect();
            let known = WORDS.iter().find(|(name, kind, _)| {
                start.iter().copied().eq(name.chars().map(u32::from))
                    && (length <= 3 || *kind == Word::Month)
            });
            let (kind, value) =
                known.map_or((Word::Unknown, 0), |(_, kind, value)| (*kind, *value));
            return Token::Word { kind, value, length };
        }
        if is_space(first) {
            self.while_next(is_space);
            return Token::Blank;
        }
        if first == '(' {
            let mut depth = 0_usize;
            for c in self.rest.by_ref() {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
            return Token::Other;
        }
        self.rest.next();
        Token::Other
    }
}

fn lower(unit: u32) -> u32 {
    if (u32::from(b'A')..=u32::from(b'Z')).contains(&unit) { unit | 0x20 } else { unit }
}

fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}
