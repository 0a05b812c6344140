//! Hides paths and titles, for screens that others see.

use serde_json::Value;

/// What is hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    /// Folders: of a path only the last name is left.
    pub paths: bool,
    /// Titles, and the first and last prompt in lists.
    pub titles: bool,
}

/// Members with a title or a prompt of a session.
const TITLES: &[&str] =
    &["title", "first_prompt", "last_prompt", "agent_title", "snippet", "doing"];
/// What is left of them.
const HIDDEN: &str = "•••";
/// Longer texts are no names and no command lines.
const LONGEST: usize = 4096;

impl Mask {
    /// Whether nothing is hidden.
    pub(crate) fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Returns the names of what is hidden.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let all = [("paths", self.paths), ("titles", self.titles)];
        all.into_iter().filter(|(_, is_hidden)| *is_hidden).map(|(name, _)| name).collect()
    }

    /// Hides what must not be seen in a document.
    pub(crate) fn document(self, text: Vec<u8>) -> Vec<u8> {
        if self.is_nothing() {
            return text;
        }
        let Ok(mut value) = serde_json::from_slice::<Value>(&text) else {
            // What cannot be looked at is not shown.
            return b"null\n".to_vec();
        };
        self.value(&mut value);
        let mut text = value.to_string().into_bytes();
        text.push(b'\n');
        text
    }

    /// Hides what must not be seen in a value.
    pub(crate) fn value(self, value: &mut Value) {
        match value {
            Value::String(text) if self.paths => *text = without_folders(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    if self.titles && TITLES.contains(&name.as_str()) && member.is_string() {
                        *member = Value::from(HIDDEN);
                    } else {
                        self.value(member);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Leaves only the last name of each path in a short text.
fn without_folders(text: &str) -> String {
    let is_path = |word: &str| {
        let bare = word.trim_start_matches(['"', '\'', '(', '`']);
        let is_windows = bare.as_bytes().get(1..3).is_some_and(|two| two == b":\\" || two == b":/");
        (bare.starts_with('/') || bare.starts_with("~/") || is_windows)
            && bare.matches(['/', '\\']).count() > 1
    };
    let last = |word: &str| {
        let name =
            word.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
        format!("…/{name}")
    };
    // A text that is a path may have blanks in it.
    if is_path(text) && text.len() <= LONGEST && !text.contains('\n') && !text.contains(" /") {
        return last(text);
    }
    let words = text.split_inclusive([' ', '\n', '\t', '=']);
    words.fold(String::with_capacity(text.len()), |mut all, word| {
        let bare = word.trim_end_matches([' ', '\n', '\t', '=']);
        if is_path(bare) {
            all.push_str(&last(bare));
            all.push_str(word.strip_prefix(bare).unwrap_or_default());
        } else {
            all.push_str(word);
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_folders_and_titles_their_words() {
        let mask = Mask { paths: true, titles: true };
        let text = br#"{"title":"Secret","path":"/home/me/My Client/shop","command":"recount move a1 '/home/me/x' --yes","n":1,"list":[{"first_prompt":"no","url":"https://a/b/c"}]}"#;
        let masked = String::from_utf8(mask.document(text.to_vec())).unwrap();
        assert!(!masked.contains("Secret") && !masked.contains("/home/me"), "{masked}");
        assert!(masked.contains("…/shop") && masked.contains("https://a/b/c"), "{masked}");
        assert_eq!(Mask::default().document(text.to_vec()), text);
    }
}
