//! Edits JSON that people write by hand: one value is added, replaced or removed, and every other byte is kept.
//!
//! Comments, order, indentation, line endings, trailing commas, a byte order mark and unknown keys are copied, never
//! rebuilt. Added values are indented like their surroundings.

mod layout;
mod shape;
#[cfg(test)]
mod tests;

use std::ops::Range;

use self::layout::{Layout, quoted};
use self::shape::{Item, Shape, Value};
use super::comments::strip;
use super::{JsonTree, Scanner};

/// Why a text cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is not JSON, even without its comments.
    #[error("line {line}: {what}")]
    Malformed {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// The agent itself refuses the text: an added value would never be read.
    #[error("line {line}: {what}; the agent refuses the file until that is fixed")]
    Refused {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Something on the path exists and is not an object, or not a list.
    #[error("{key} is not {wanted}")]
    Other {
        /// The key.
        key: String,
        /// What it should be.
        wanted: &'static str,
    },
}

/// Checks that a text is accepted by an agent that removes comments and passes the rest to `JSON.parse`: an object, without
/// a byte order mark and without trailing commas. Everything else here accepts these.
///
/// # Errors
/// If it is not.
pub fn check_accepted(text: &[u8]) -> Result<(), Unfit> {
    if text.starts_with(b"\xef\xbb\xbf") {
        return Err(Unfit::Refused { line: 1, what: "a byte order mark" });
    }
    let page = Page::read(text)?;
    if let Some(at) = last_comma(&page.bare) {
        let before = page.bare.get(..at).unwrap_or_default();
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        return Err(Unfit::Refused { line, what: "a comma after the last item" });
    }
    match JsonTree::parse(&page.bare) {
        Ok(_) => Ok(()),
        Err(_) => Err(Unfit::Refused { line: 1, what: "it is not valid JSON" }),
    }
}

/// Finds a trailing comma.
fn last_comma(bare: &[u8]) -> Option<usize> {
    let mut comma = None;
    let mut at = 0;
    while let Some(&byte) = bare.get(at) {
        match byte {
            b'"' => {
                let mut scanner = Scanner::new(bare.get(at..)?);
                scanner.string().ok()?;
                at += scanner.offset();
                comma = None;
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' if comma.is_some() => return comma,
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => comma = None,
        }
        at += 1;
    }
    None
}

/// Returns the keys of the object at `path`; none if there is no such object.
///
/// # Errors
/// If the text is invalid.
pub fn keys(text: &[u8], path: &[&str]) -> Result<Vec<String>, Unfit> {
    let page = Page::read(text)?;
    let Ok((_, Rest::Found(item))) = page.walk(path) else { return Ok(Vec::new()) };
    let Shape::Object(members) = &item.value.shape else { return Ok(Vec::new()) };
    Ok(members.iter().filter_map(|member| member.key.clone()).collect())
}

/// Removes elements from the lists under `key` in the elements of the list at `path`. Returns `None` if there is none.
///
/// # Errors
/// If the text is invalid.
pub fn remove_inner(
    text: &[u8],
    path: &[&str],
    key: &str,
    is_wanted: impl Fn(&JsonTree) -> bool,
) -> Result<Option<Vec<u8>>, Unfit> {
    let mut found = None;
    loop {
        let page = Page::read(found.as_deref().unwrap_or(text))?;
        let Ok((_, Rest::Found(list))) = page.walk(path) else { break };
        let members = list.value.items().iter().flat_map(|element| element.value.items());
        let mut inner = members.filter(|member| member.key.as_deref() == Some(key));
        let place = inner.find_map(|member| {
            let Shape::Array(elements) = &member.value.shape else { return None };
            let wanted =
                |element: &Item| page.tree(&element.value).is_some_and(|tree| is_wanted(&tree));
            Some((member, elements, elements.iter().position(wanted)?))
        });
        let Some((member, elements, at)) = place else { break };
        let next = page.without(&member.value, elements, at);
        found = Some(next);
    }
    Ok(found)
}

/// Sets the value at `path`, and creates the objects on the path.
///
/// # Errors
/// If the text is invalid, or something on the path is not an object.
pub fn set(text: &[u8], path: &[&str], value: &JsonTree) -> Result<Vec<u8>, Unfit> {
    let page = Page::read(text)?;
    let (object, rest) = page.walk(path)?;
    match rest {
        Rest::Found(item) if page.tree(&item.value).as_ref() == Some(value) => Ok(text.to_vec()),
        Rest::Found(item) => {
            let indent = page.indent_at(item.value.span.start);
            let new = page.render(value, page.is_tall(), indent);
            Ok(page.replaced(item.value.span.clone(), &new))
        }
        Rest::Missing(keys) => {
            let (last, above) =
                keys.split_last().ok_or(Unfit::Other { key: String::new(), wanted: "a path" })?;
            let (key, value) = match above.split_first() {
                None => (*last, value.clone()),
                Some((first, inner)) => {
                    let wrap =
                        |value, key: &&str| JsonTree::Object(vec![((*key).to_owned(), value)]);
                    let innermost = wrap(value.clone(), last);
                    (*first, inner.iter().rev().fold(innermost, wrap))
                }
            };
            Ok(page.put_in(object, Some(key), &value))
        }
    }
}

/// Adds a value to the list at `path`; the list is created if it is missing.
///
/// # Errors
/// Like [`set`], or if it is not a list.
pub fn push(text: &[u8], path: &[&str], value: &JsonTree) -> Result<Vec<u8>, Unfit> {
    let page = Page::read(text)?;
    match page.walk(path)?.1 {
        Rest::Missing(_) => set(text, path, &JsonTree::Array(vec![value.clone()])),
        Rest::Found(item) if matches!(item.value.shape, Shape::Array(_)) => {
            Ok(page.put_in(&item.value, None, value))
        }
        Rest::Found(_) => Err(Unfit::Other { key: path.join("."), wanted: "a list" }),
    }
}

/// Removes the elements of a list that `is_wanted` selects; a list or object that becomes empty is removed too, up to the
/// first of `path`. Returns `None` if there is none.
///
/// # Errors
/// If the text is invalid, or something on the path is not an object or a list.
pub fn remove_elements(
    text: &[u8],
    path: &[&str],
    is_wanted: impl Fn(&JsonTree) -> bool,
) -> Result<Option<Vec<u8>>, Unfit> {
    let mut text = text.to_vec();
    let mut found = false;
    loop {
        let page = Page::read(&text)?;
        let Rest::Found(item) = page.walk(path)?.1 else { break };
        let Shape::Array(elements) = &item.value.shape else {
            return Err(Unfit::Other { key: path.join("."), wanted: "a list" });
        };
        let wanted =
            |element: &Item| page.tree(&element.value).is_some_and(|tree| is_wanted(&tree));
        let Some(at) = elements.iter().position(wanted) else { break };
        found = true;
        text = page.without(&item.value, elements, at);
    }
    if !found {
        return Ok(None);
    }
    remove_blank(text, path).map(Some)
}

/// Removes the value at `path` with its key; with `prunes`, an object that becomes empty is removed too, up to the first of `path`.
/// Returns `None` if there is none.
///
/// # Errors
/// If the text is invalid.
pub fn remove_value(text: &[u8], path: &[&str], prunes: bool) -> Result<Option<Vec<u8>>, Unfit> {
    let page = Page::read(text)?;
    let Ok((object, Rest::Found(item))) = page.walk(path) else { return Ok(None) };
    let Shape::Object(members) = &object.shape else { return Ok(None) };
    let Some(at) = members.iter().position(|member| member.span == item.span) else {
        return Ok(None);
    };
    let text = page.without(object, members, at);
    let above = path.split_last().filter(|_| prunes).map_or(&[][..], |(_, above)| above);
    remove_blank(text, above).map(Some)
}

/// Removes the object or list at `path` if it is empty, then those above it.
fn remove_blank(mut text: Vec<u8>, mut path: &[&str]) -> Result<Vec<u8>, Unfit> {
    while let Some((_, above)) = path.split_last() {
        let page = Page::read(&text)?;
        let (object, Rest::Found(item)) = page.walk(path)? else { break };
        let Shape::Object(members) = &object.shape else { break };
        let at = members.iter().position(|member| member.span == item.span);
        let Some(at) = at.filter(|_| page.is_blank(&item.value)) else { break };
        text = page.without(object, members, at);
        path = above;
    }
    Ok(text)
}

/// The target of a path.
enum Rest<'a, 'p> {
    Found(&'a Item),
    /// The missing keys.
    Missing(&'p [&'p str]),
}

/// A text, and the positions of its values.
struct Page<'a> {
    /// All of it except the byte order mark.
    text: &'a [u8],
    mark: &'a [u8],
    /// The same with spaces for comments.
    bare: Vec<u8>,
    root: Value,
    newline: &'static str,
}

impl<'a> Page<'a> {
    fn read(whole: &'a [u8]) -> Result<Self, Unfit> {
        let marked = whole.strip_prefix(b"\xef\xbb\xbf");
        let text = marked.unwrap_or(whole);
        let mark = whole.get(..whole.len() - text.len()).unwrap_or_default();
        let bare = strip(text);
        let root = shape::read(&bare)?;
        if !matches!(root.shape, Shape::Object(_)) {
            return Err(Unfit::Other { key: "the whole".to_owned(), wanted: "an object" });
        }
        let is_dos = memchr::memmem::find(text, b"\r\n").is_some();
        Ok(Self { text, mark, bare, root, newline: if is_dos { "\r\n" } else { "\n" } })
    }

    /// Follows `path` as far as possible. Returns the last object on the path, and what exists or is missing in it.
    fn walk<'p>(&self, path: &'p [&'p str]) -> Result<(&Value, Rest<'_, 'p>), Unfit> {
        let mut object = &self.root;
        let mut left = path;
        loop {
            let Shape::Object(members) = &object.shape else {
                let key = path.get(..path.len() - left.len()).unwrap_or_default().join(".");
                return Err(Unfit::Other { key, wanted: "an object" });
            };
            let Some((key, rest)) = left.split_first() else {
                return Err(Unfit::Other { key: String::new(), wanted: "a path" });
            };
            // Of duplicate keys the last one counts.
            let Some(item) = members.iter().rev().find(|item| item.key.as_deref() == Some(*key))
            else {
                return Ok((object, Rest::Missing(left)));
            };
            if rest.is_empty() {
                return Ok((object, Rest::Found(item)));
            }
            (object, left) = (&item.value, rest);
        }
    }

    fn tree(&self, value: &Value) -> Option<JsonTree> {
        shape::tree(&self.bare, value)
    }

    /// Adds something to an object or a list, at the end.
    fn put_in(&self, container: &Value, key: Option<&str>, value: &JsonTree) -> Vec<u8> {
        let items = container.items();
        let (open, close) = (container.span.start + 1, container.span.end.saturating_sub(1));
        let outer = self.indent_at(container.span.start);
        let is_tall = match items.first() {
            Some(first) => self.has_newline(open..first.span.start),
            None => self.is_tall(),
        };
        let inner = match items.first() {
            Some(first) if is_tall => self.indent_at(first.span.start),
            _ => format!("{outer}{}", self.unit()),
        };
        let mut new = key.map(|key| format!("{}: ", quoted(key))).unwrap_or_default();
        new.push_str(&self.render(value, is_tall, inner.clone()));
        let Some(last) = items.last() else {
            if !is_tall {
                return self.replaced(open..open, &new);
            }
            // After comments, if there are any.
            let at = self.trimmed(open..close);
            let end = if self.has_newline(at..close) {
                String::new()
            } else {
                format!("{}{outer}", self.newline)
            };
            return self.replaced(at..at, &format!("{}{inner}{new}{end}", self.newline));
        };
        let comma = self.comma(last.span.end..close);
        let after = comma.map_or(last.span.end, |comma| comma + 1);
        if !is_tall {
            let new = if comma.is_some() { format!(" {new},") } else { format!(", {new}") };
            return self.replaced(after..after, &new);
        }
        // A comment after the last one on its line is about that one.
        let at = self.trimmed(after..close);
        let line = format!("{}{inner}{new}", self.newline);
        if comma.is_some() {
            return self.replaced(at..at, &format!("{line},"));
        }
        let between = String::from_utf8_lossy(self.text.get(after..at).unwrap_or_default());
        self.replaced(after..at, &format!(",{between}{line}"))
    }

    /// Removes one of the items of an object or a list, with its comma and the white space around it.
    fn without(&self, container: &Value, items: &[Item], at: usize) -> Vec<u8> {
        let Some(item) = items.get(at) else { return self.replaced(0..0, "") };
        let close = container.span.end.saturating_sub(1);
        let before = at.checked_sub(1).and_then(|before| items.get(before));
        let front = before.map_or(container.span.start + 1, |item| item.span.end);
        let next = items.get(at + 1);
        let comma = self.comma(item.span.end..next.map_or(close, |next| next.span.start));
        let end = comma.map_or(item.span.end, |comma| comma + 1);
        let start = self.trimmed(front..item.span.start);
        let start = self.after_comment(start, item.span.start..end);
        if next.is_some() {
            let blanks = self.text.get(end..).unwrap_or_default().iter();
            let end = end + blanks.take_while(|byte| byte.is_ascii_whitespace()).count();
            return self.replaced(item.span.start..end, "");
        }
        let Some(before) = before else {
            let is_all = self.trimmed(end..close) == end && start == container.span.start + 1;
            return self.replaced(start..if is_all { close } else { end }, "");
        };
        let earlier = self.comma(before.span.end..item.span.start).filter(|_| comma.is_none());
        let mut out = self.replaced(start..end, "");
        if let Some(earlier) = earlier {
            let earlier = earlier + self.mark.len();
            if earlier < out.len() {
                out.remove(earlier);
            }
        }
        out
    }

    fn replaced(&self, span: Range<usize>, new: &str) -> Vec<u8> {
        let before = self.text.get(..span.start).unwrap_or_default();
        let after = self.text.get(span.end..).unwrap_or_default();
        [self.mark, before, new.as_bytes(), after].concat()
    }

    /// Returns the end of the text in a range, without trailing white space; its start if it is blank.
    fn trimmed(&self, span: Range<usize>) -> usize {
        let stretch = self.text.get(span.clone()).unwrap_or_default();
        let blank = stretch.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        span.start + stretch.len() - blank
    }

    /// Keeps the end of a line that ends with a comment.
    fn after_comment(&self, at: usize, item: Range<usize>) -> usize {
        let last = at.checked_sub(1);
        let [written, bare] = [self.text, &self.bare].map(|text| last.and_then(|at| text.get(at)));
        let behind = self.text.get(item.end..).unwrap_or_default();
        let follows = behind.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        if written == bare || matches!(follows, Some(b'\r' | b'\n')) {
            return at;
        }
        let rest = self.text.get(at..item.start).unwrap_or_default();
        rest.iter().position(|byte| *byte == b'\n').map_or(at, |newline| at + newline + 1)
    }

    fn comma(&self, span: Range<usize>) -> Option<usize> {
        let stretch = self.bare.get(span.clone()).unwrap_or_default();
        stretch.iter().position(|byte| *byte == b',').map(|at| span.start + at)
    }

    fn has_newline(&self, span: Range<usize>) -> bool {
        self.text.get(span).unwrap_or_default().contains(&b'\n')
    }

    /// Whether an object or a list is empty, without comments.
    fn is_blank(&self, value: &Value) -> bool {
        let inside = value.span.start + 1..value.span.end.saturating_sub(1);
        value.items().is_empty() && self.trimmed(inside.clone()) == inside.start
    }

    /// Whether the text has one item per line.
    fn is_tall(&self) -> bool {
        match self.root.items().first() {
            Some(first) => self.has_newline(self.root.span.start..first.span.start),
            None => true,
        }
    }

    /// Returns the indentation of the line at a position.
    fn indent_at(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let blanks = before.get(line..).unwrap_or_default().iter();
        let blanks = blanks.take_while(|byte| matches!(byte, b' ' | b'\t'));
        blanks.map(|byte| char::from(*byte)).collect()
    }

    fn render(&self, value: &JsonTree, is_tall: bool, indent: String) -> String {
        Layout { is_tall, indent, unit: &self.unit(), newline: self.newline }.render(value)
    }

    /// Returns one step of indentation.
    fn unit(&self) -> String {
        let first = self.root.items().first().map(|first| self.indent_at(first.span.start));
        let outer = self.indent_at(self.root.span.start);
        let unit = first.and_then(|first| first.strip_prefix(&outer).map(str::to_owned));
        unit.filter(|unit| !unit.is_empty()).unwrap_or_else(|| "  ".to_owned())
    }
}
