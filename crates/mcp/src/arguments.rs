//! The arguments of a tool. Clients drop limits from schemas, and models make mistakes: everything is checked here, and a mistake is told with a call
//! that works.

use jiff::Timestamp;
use recount_display::when;
use serde_json::{Map, Value};

use crate::text::line;

/// An argument that one client adds to every tool.
const ADDED: &[&str] = &["wait_for_previous"];

/// The arguments of a tool.
#[derive(Debug)]
pub(crate) struct Arguments {
    given: Map<String, Value>,
    now: Timestamp,
}

/// What is wrong with an argument.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadArgument(pub(crate) String);

impl Arguments {
    pub(crate) fn new(given: Value, now: Timestamp) -> Result<Self, BadArgument> {
        match given {
            Value::Object(given) => Ok(Self { given, now }),
            Value::Null => Ok(Self { given: Map::new(), now }),
            _ => Err(BadArgument("arguments must be an object".to_owned())),
        }
    }

    /// Returns a sentence about arguments that are not known.
    pub(crate) fn unknown(&self, known: &[&str]) -> Option<String> {
        let is_known =
            |name: &String| known.contains(&name.as_str()) || ADDED.contains(&name.as_str());
        let names: Vec<String> = self
            .given
            .keys()
            .filter(|name| !is_known(name))
            .take(5)
            .map(|name| line(name, 30))
            .collect();
        let known = known.join(", ");
        (!names.is_empty())
            .then(|| format!("ignored: {} (arguments are {known})", names.join(", ")))
    }

    /// Returns a text that is not empty.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, BadArgument> {
        match self.given.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(BadArgument(format!("{name} must be text"))),
        }
    }

    /// Returns a text that must be given.
    pub(crate) fn needed(&self, name: &str) -> Result<&str, BadArgument> {
        self.text(name)?.ok_or_else(|| BadArgument(format!("{name} is missing")))
    }

    /// Returns a whole number, brought into a range. Numbers that came as text are read, too.
    pub(crate) fn number(
        &self,
        name: &str,
        default: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, BadArgument> {
        let wrong = || BadArgument(format!("{name} must be a whole number"));
        let given = match self.given.get(name) {
            None | Some(Value::Null) => return Ok(default),
            Some(Value::Number(number)) => match (number.as_u64(), number.as_f64()) {
                (Some(number), _) => number,
                (None, Some(number)) if number < 0.0 => 0,
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is brought into the range"
                )]
                (None, Some(number)) => number as u64,
                _ => return Err(wrong()),
            },
            Some(Value::String(text)) => text.trim().parse().map_err(|_| wrong())?,
            Some(_) => return Err(wrong()),
        };
        let given = usize::try_from(given).unwrap_or(usize::MAX);
        Ok(given.clamp(*range.start(), *range.end()))
    }

    /// Returns one of some words.
    pub(crate) fn choice<'a>(
        &self,
        name: &str,
        words: &[&'a str],
    ) -> Result<Option<&'a str>, BadArgument> {
        let Some(given) = self.text(name)? else { return Ok(None) };
        let found = words.iter().find(|word| word.eq_ignore_ascii_case(given));
        found
            .copied()
            .map(Some)
            .ok_or_else(|| BadArgument(format!("{name} must be one of: {}", words.join(", "))))
    }

    /// Returns a time.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Timestamp>, BadArgument> {
        let read = |text| {
            when::parse(text, self.now).map_err(|what| BadArgument(format!("{name}: {what}")))
        };
        self.text(name)?.map(read).transpose()
    }

    /// Returns where to go on: the number that an earlier answer gave.
    pub(crate) fn cursor(&self) -> Result<Option<usize>, BadArgument> {
        if let Some(number) = self.given.get("cursor").and_then(Value::as_u64) {
            return Ok(usize::try_from(number).ok());
        }
        let read = |text: &str| {
            text.parse()
                .map_err(|_| BadArgument("cursor must be copied from an earlier answer".to_owned()))
        };
        self.text("cursor")?.map(read).transpose()
    }
}
