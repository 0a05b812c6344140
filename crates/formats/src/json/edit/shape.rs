//! Positions of values in a text. Comments must already be replaced; a trailing comma is accepted.

use std::ops::Range;

use super::Unfit;
use crate::json::{JsonTree, Scanner};

/// The maximum depth of objects and lists.
const DEEPEST: usize = 100;

/// A value and its position.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) span: Range<usize>,
    pub(super) shape: Shape,
}

/// What kind of value it is.
#[derive(Debug)]
pub(super) enum Shape {
    Object(Vec<Item>),
    Array(Vec<Item>),
    Plain,
}

/// A member of an object, or an element of a list.
#[derive(Debug)]
pub(super) struct Item {
    /// Including its key.
    pub(super) span: Range<usize>,
    pub(super) key: Option<String>,
    pub(super) value: Value,
}

impl Value {
    pub(super) fn items(&self) -> &[Item] {
        match &self.shape {
            Shape::Object(items) | Shape::Array(items) => items,
            Shape::Plain => &[],
        }
    }
}

/// Reads the one value of a text.
pub(super) fn read(bare: &[u8]) -> Result<Value, Unfit> {
    let mut reader = Reader { bare, at: 0 };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at < bare.len() { Err(reader.fault("something follows the end")) } else { Ok(value) }
}

/// Builds a value, without trailing commas.
pub(super) fn tree(bare: &[u8], value: &Value) -> Option<JsonTree> {
    let part = |item: &Item| tree(bare, &item.value);
    match &value.shape {
        Shape::Plain => JsonTree::parse(bare.get(value.span.clone())?).ok(),
        Shape::Array(items) => {
            items.iter().map(part).collect::<Option<Vec<_>>>().map(JsonTree::Array)
        }
        Shape::Object(items) => {
            let field = |item: &Item| Some((item.key.clone()?, part(item)?));
            items.iter().map(field).collect::<Option<Vec<_>>>().map(JsonTree::Object)
        }
    }
}

struct Reader<'a> {
    bare: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn fault(&self, what: &'static str) -> Unfit {
        let before = self.bare.get(..self.at).unwrap_or(self.bare);
        Unfit::Malformed { line: 1 + memchr::memchr_iter(b'\n', before).count(), what }
    }

    fn peek(&self) -> Option<u8> {
        self.bare.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while self.peek().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Unfit> {
        let start = self.at;
        if depth > DEEPEST {
            return Err(self.fault("nested too deeply"));
        }
        let shape = match self.peek() {
            Some(b'{') => Shape::Object(self.items(b'}', depth)?),
            Some(b'[') => Shape::Array(self.items(b']', depth)?),
            Some(_) => {
                let rest = self.bare.get(start..).unwrap_or_default();
                let mut scanner = Scanner::new(rest);
                let end = if scanner.skip().is_ok() { scanner.offset() } else { 0 };
                if end == 0 {
                    return Err(self.fault("not a value"));
                }
                self.at += end;
                Shape::Plain
            }
            None => return Err(self.fault("it ends too early")),
        };
        Ok(Value { span: start..self.at, shape })
    }

    fn items(&mut self, close: u8, depth: usize) -> Result<Vec<Item>, Unfit> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.blanks();
            match self.peek() {
                Some(byte) if byte == close => {
                    self.at += 1;
                    return Ok(items);
                }
                Some(_) => items.push(self.item(close, depth)?),
                None => return Err(self.fault("it ends too early")),
            }
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte == close => {}
                Some(_) => return Err(self.fault("a comma or an end is missing")),
                None => return Err(self.fault("it ends too early")),
            }
        }
    }

    fn item(&mut self, close: u8, depth: usize) -> Result<Item, Unfit> {
        let start = self.at;
        let mut key = None;
        if close == b'}' {
            let rest = self.bare.get(start..).unwrap_or_default();
            let mut scanner = Scanner::new(rest);
            let text = scanner.string().map_err(|_| self.fault("a key is missing"))?;
            key = Some(text.decode().into_owned());
            self.at += scanner.offset();
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.fault("a colon is missing"));
            }
            self.at += 1;
            self.blanks();
        }
        let value = self.value(depth + 1)?;
        Ok(Item { span: start..self.at, key, value })
    }
}
