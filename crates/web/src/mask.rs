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
    &["title", "first_prompt", "last_prompt", "agent_title", "snippet", "doing", "about"];
/// What is left of them.
pub(crate) const HIDDEN: &str = "•••";
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

/// The number of words after which a path with blanks in it is no longer followed.
const BLANKS: usize = 6;

/// Longer texts are those of messages, not of errors.
const SENTENCE: usize = 240;

/// Leaves only the last name of each path in a short text.
fn without_folders(text: &str) -> String {
    // A text that is a path may have blanks in it.
    if is_path(text) && text.len() <= LONGEST && !text.contains('\n') && !text.contains(" /") {
        return last_name(text);
    }
    let words: Vec<&str> = text.split_inclusive([' ', '\n', '\t', '=']).collect();
    // In what people and agents wrote, joining would change the meaning.
    let is_sentence = text.len() > SENTENCE || text.contains('\n');
    let mut all = String::with_capacity(text.len());
    let mut rest = &*words;
    while let [word, later @ ..] = rest {
        rest = later;
        if !is_path(word.trim_end()) {
            all.push_str(word);
            continue;
        }
        // What has slashes and begins no path may be the rest of one with blanks, unless the path has ended.
        let mut has_ended = is_sentence || is_end(word);
        let near = later.iter().take(BLANKS).take_while(|word| {
            let is_near = !has_ended && !is_path(word);
            has_ended |= is_end(word);
            is_near
        });
        let is_rest = |word: &&str| word.contains(['/', '\\']) && !word.contains("://");
        let end = near.enumerate().filter(|(_, word)| is_rest(word)).map(|(at, _)| at + 1).last();
        let (more, after) = later.split_at(end.unwrap_or(0));
        rest = after;
        let last = more.last().unwrap_or(word);
        let bare = last.trim_end_matches([' ', '\n', '\t', '=']);
        all.push_str(&last_name(bare));
        all.push_str(last.strip_prefix(bare).unwrap_or_default());
    }
    all
}

/// Whether a path cannot go on after this word: it ends with a sign, or in the name of a file.
fn is_end(word: &str) -> bool {
    let word = word.trim_end();
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    word.ends_with([',', ';', ':', '.', ')', ']', '"', '\'', '`'])
        || name.char_indices().any(|(at, letter)| at > 0 && letter == '.')
}

fn is_path(word: &str) -> bool {
    let bare = word.trim_start_matches(['"', '\'', '(', '`', '[', '{', '<', ',']);
    let bare = bare.strip_prefix("file://").unwrap_or(bare);
    let is_windows = bare.as_bytes().get(1..3).is_some_and(|two| two == b":\\" || two == b":/");
    is_dashed(bare)
        || ((bare.starts_with('/') || bare.starts_with("~/") || is_windows)
            && bare.matches(['/', '\\']).count() > 1)
}

/// Whether it is a path with dashes for slashes: one agent names the folder of a project so.
fn is_dashed(name: &str) -> bool {
    ["-home-", "-Users-", "-mnt-", "-root-"].iter().any(|start| name.starts_with(start))
}

fn last_name(path: &str) -> String {
    let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    if name.starts_with('-') { "…".to_owned() } else { format!("…/{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_lose_their_folders_and_titles_their_words() {
        let mask = Mask { paths: true, titles: true };
        let text = br#"{"title":"Secret","path":"/home/me/My Client/shop","command":"recount move a1 '/home/me/x' --yes","n":1,"list":[{"first_prompt":"no","url":"https://a/b/c"}],"directory":"/x/.claude/projects/-home-me-My-Client"}"#;
        let masked = String::from_utf8(mask.document(text.to_vec())).unwrap();
        assert!(!masked.contains("Secret") && !masked.contains("/home/me"), "{masked}");
        assert!(!masked.contains("My-Client"), "{masked}");
        let error = without_folders(
            "cannot read /home/me/My Big Client/shop/x.jsonl: denied, see /etc/a/b or https://a/b",
        );
        assert_eq!(error, "cannot read …/x.jsonl: denied, see …/b or https://a/b");
        let mut note = json!({"notes": [{"code": "no-index", "text": "no index can be kept, so the files themselves were searched: cannot keep anything in /home/me/Client/data: denied"}]});
        mask.value(&mut note);
        let left = "no index can be kept, so the files themselves were searched: cannot keep anything in …/data: denied";
        assert_eq!(note, json!({"notes": [{"code": "no-index", "text": left}]}));
        assert_eq!(without_folders("-home-me-My-Client"), "…");
        let two = without_folders("see [/home/me/shop] and file:///home/me/x");
        assert_eq!(two, "see …/shop] and …/x");
        let said = "Look at /home/dev/shop, never touch the client/server part. Run cp /home/dev/a/b.txt src/main.rs";
        let left = "Look at …/shop, never touch the client/server part. Run cp …/b.txt src/main.rs";
        assert_eq!(without_folders(said), left);
        assert_eq!(without_folders("a/b is no path, - nor this"), "a/b is no path, - nor this");
        assert!(masked.contains("…/shop") && masked.contains("https://a/b/c"), "{masked}");
        assert_eq!(Mask::default().document(text.to_vec()), text);
    }
}
