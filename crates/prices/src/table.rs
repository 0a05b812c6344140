//! Finds the price of a model on a day.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use jiff::civil::Date;
use recount_model::Tokens;
use serde::Serialize;

use crate::read::{self, Error, Override, Unread};
use crate::{Above, Money, Tier, Units};

/// The embedded table.
const TABLE: &str = include_str!("table.toml");

/// Words that may precede the name of a model.
const PREFIXES: &[&str] =
    &["publishers/google/models/", "models/", "google/", "anthropic/", "openai/"];

/// All prices: those of the user first.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    entries: Vec<Entry>,
    /// The number of entries that are the user's.
    own: usize,
    /// Entries by name.
    names: HashMap<Cow<'static, str>, usize>,
    /// Entries by name prefix, longest first.
    beginnings: Vec<(Cow<'static, str>, usize)>,
}

/// An entry, read when it is asked for.
#[derive(Clone, Debug)]
enum Entry {
    Own(PriceEntry),
    Table(Unread, OnceLock<Option<PriceEntry>>),
}

impl Entry {
    fn read(&self) -> Option<&PriceEntry> {
        match self {
            Self::Own(entry) => Some(entry),
            // A test reads the whole table: each of its models can be read.
            Self::Table(unread, read) => read.get_or_init(|| unread.read().ok()).as_ref(),
        }
    }
}

/// Models that cost the same, and their price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PriceEntry {
    /// The names of the models.
    pub names: Vec<String>,
    /// The source of the price.
    pub origin: PriceOrigin,
    /// The prices, in order of time.
    pub periods: Vec<Period>,
}

/// The source of a price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PriceOrigin {
    /// The embedded table.
    Table {
        /// The page on which it is published.
        source: String,
    },
    /// The user.
    Config,
}

/// A price and when it applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Period {
    /// The first day; if missing, from the start.
    pub from: Option<Date>,
    /// The base prices.
    #[serde(flatten)]
    pub units: Units,
    /// Prices of long prompts.
    pub above: Option<Above>,
    /// The last day on which it was checked.
    pub seen: Option<Date>,
}

/// The cost of a request, with the prices used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quote {
    /// The tier.
    pub tier: Tier,
    /// The prices.
    pub units: Units,
    /// The cost.
    pub cost: Money,
}

impl Prices {
    /// Loads the embedded table and puts the user's prices before it.
    ///
    /// # Errors
    /// If a price is invalid.
    pub fn new(own: &BTreeMap<String, Override>) -> Result<Self, Error> {
        let mut prices = Self::default();
        for (name, price) in own {
            let entry = read::own(name, price)?;
            prices.add(Entry::Own(entry), [Cow::Owned(name.clone())]);
        }
        prices.own = prices.entries.len();
        for model in read::split(TABLE) {
            prices.add(Entry::Table(model, OnceLock::new()), model.names().map(Cow::Borrowed));
        }
        prices.beginnings.sort_by_key(|(beginning, _)| std::cmp::Reverse(beginning.len()));
        Ok(prices)
    }

    fn add(&mut self, entry: Entry, names: impl IntoIterator<Item = Cow<'static, str>>) {
        let number = self.entries.len();
        for name in names {
            match name.strip_suffix('*') {
                Some(beginning) => self.beginnings.push((beginning.to_owned().into(), number)),
                // The first entry wins.
                None => drop(self.names.entry(name).or_insert(number)),
            }
        }
        self.entries.push(entry);
    }

    /// Returns all entries, those of the user first.
    pub fn entries(&self) -> impl Iterator<Item = &PriceEntry> {
        self.entries.iter().filter_map(Entry::read)
    }

    /// Returns the price entry for a model.
    pub fn entry(&self, model: &str) -> Option<&PriceEntry> {
        let bare = PREFIXES.iter().find_map(|prefix| model.strip_prefix(prefix)).unwrap_or(model);
        let by_name = |name: &str| self.names.get(name).copied();
        let by_beginning = |is_wanted: &dyn Fn(&usize) -> bool| {
            let begins =
                |(beginning, _): &&(Cow<'static, str>, usize)| bare.starts_with(&**beginning);
            let numbers = self.beginnings.iter().filter(begins).map(|(_, number)| *number);
            { numbers }.find(is_wanted)
        };
        let is_own = |number: &usize| *number < self.own;
        let named = by_name(model).or_else(|| by_name(bare));
        let number = named
            .filter(is_own)
            .or_else(|| by_beginning(&is_own))
            .or(named)
            .or_else(|| by_beginning(&|_| true))
            .or_else(|| by_name(undated(bare)?))?;
        self.entries.get(number)?.read()
    }

    /// Returns a fingerprint of these prices.
    pub fn fingerprint(own: &BTreeMap<String, Override>) -> u64 {
        let mut hasher = DefaultHasher::new();
        (TABLE, format!("{own:?}")).hash(&mut hasher);
        // 0 means no prices.
        hasher.finish().max(1)
    }

    /// Returns the cost of a request on a day, or `None` for a model without a known price.
    pub fn quote(&self, model: &str, day: Date, tokens: &Tokens) -> Option<Quote> {
        Some(self.entry(model)?.quote(day, tokens))
    }
}

impl PriceEntry {
    /// Returns the price on a day.
    fn on(&self, day: Date) -> Option<&Period> {
        let begun = |period: &&Period| period.from.is_none_or(|from| from <= day);
        // Before the first of several days, the first price is the closest.
        self.periods.iter().rev().find(begun).or_else(|| self.periods.first())
    }

    /// Returns the cost of a request on a day.
    pub fn quote(&self, day: Date, tokens: &Tokens) -> Quote {
        let period = self.on(day);
        let above =
            period.and_then(|period| period.above).filter(|above| tokens.input > above.tokens);
        let (tier, units) = match (above, period) {
            (Some(above), _) => (Tier::Above(above.tokens), above.units),
            (None, Some(period)) => (Tier::Base, period.units),
            (None, None) => (Tier::Base, Units::default()),
        };
        Quote { tier, units, cost: units.product(tokens) }
    }
}

/// Removes a date from the end of a name: `-20250929`, `@20250929`, `-2025-09-29`.
fn undated(name: &str) -> Option<&str> {
    let digits = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((bare, end)) = name.rsplit_once(['-', '@'])
        && digits(end)
    {
        return Some(bare);
    }
    let cut = name.len().checked_sub(11)?;
    let (bare, end) = name.split_at_checked(cut)?;
    end.strip_prefix('-')?.parse::<Date>().ok().map(|_| bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        Prices::new(&BTreeMap::new()).unwrap()
    }

    fn cost(prices: &Prices, model: &str, day: &str, tokens: Tokens) -> Option<Money> {
        prices.quote(model, day.parse().unwrap(), &tokens).map(|quote| quote.cost)
    }

    fn sent(input: u64) -> Tokens {
        Tokens { input, ..Tokens::default() }
    }

    #[test]
    fn the_table_has_the_source_and_day_of_each_price() {
        let prices = prices();
        assert!(prices.entries().count() > 50);
        let mut names: Vec<&String> = prices.entries().flat_map(|entry| &entry.names).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "a name stands there twice");
        for entry in prices.entries() {
            let PriceOrigin::Table { source } = &entry.origin else { panic!("{entry:?}") };
            assert!(source.starts_with("https://"), "{source}");
            assert!(entry.periods.iter().all(|period| period.seen.is_some()), "{:?}", entry.names);
            let order: Vec<_> = entry.periods.iter().map(|period| period.from).collect();
            assert!(
                order.is_sorted() && order.iter().skip(1).all(Option::is_some),
                "{:?}",
                entry.names
            );
        }
    }

    #[test]
    fn models_read_one_by_one_are_those_of_the_whole_table() {
        let whole: toml::Table = toml::from_str(TABLE).unwrap();
        let names_of = |model: &toml::Value| model["names"].clone().try_into::<Vec<String>>();
        let expected: Vec<Vec<String>> = whole["model"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| names_of(model).unwrap())
            .collect();
        let split: Vec<Unread> = read::split(TABLE).collect();
        let found: Vec<Vec<&str>> = split.iter().map(|model| model.names().collect()).collect();
        assert_eq!(found, expected);
        for (model, names) in split.iter().zip(&expected) {
            assert_eq!(model.read().unwrap().names, *names);
        }
    }

    #[test]
    fn long_prompts_cost_more_as_a_whole() {
        let prices = prices();
        let quote = |input| {
            prices.quote("gemini-2.5-pro", "2026-06-01".parse().unwrap(), &sent(input)).unwrap()
        };
        assert_eq!(quote(200_000).cost, Money::from_dollars("0.25").unwrap());
        assert_eq!(quote(200_000).tier, Tier::Base);
        assert_eq!(quote(200_001).cost, Money::from_dollars("0.5000025").unwrap());
        assert_eq!(quote(200_001).tier, Tier::Above(200_000));
    }

    #[test]
    fn a_request_has_the_price_of_its_day() {
        let prices = prices();
        let million = sent(1_000_000);
        let dollars = |text| Money::from_dollars(text);
        assert_eq!(cost(&prices, "o3", "2025-06-09", million), dollars("10"));
        assert_eq!(cost(&prices, "o3", "2025-06-10", million), dollars("2"));
    }

    #[test]
    fn names_are_found_with_prefixes_and_days_but_never_guessed() {
        let prices = prices();
        for name in [
            "gemini-2.5-flash",
            "models/gemini-2.5-flash",
            "google/gemini-3-flash-preview",
            "claude-sonnet-4-5-20250929",
            "claude-opus-4-5@20251101",
            "gpt-5-2025-08-07",
        ] {
            assert!(prices.entry(name).is_some(), "{name}");
        }
        for name in ["gemini-2.5-flash-x", "gemini-9-pro", "gemini", "", "auto", "gemini-2.5"] {
            assert_eq!(prices.entry(name), None, "{name}");
        }
    }

    #[test]
    fn models_in_trial_are_free_and_unknown_ones_have_no_price() {
        let prices = prices();
        assert_eq!(
            cost(&prices, "gemini-2.5-pro-exp-03-25", "2025-04-01", sent(9)),
            Some(Money::default())
        );
        assert_eq!(cost(&prices, "unheard-of", "2025-04-01", sent(9)), None);
    }

    #[test]
    fn what_the_user_sets_comes_first() {
        let own = toml::from_str::<BTreeMap<String, Override>>(
            r#"
            "gemini-2.5-pro" = { input = 1, output = "2.5", cached = 0.1 }
            "local-*" = { free = true }
            house = [{ input = 1, output = 1 }, { from = "2026-02-01", input = 2, output = 2 }]
            "#,
        );
        let prices = Prices::new(&own.unwrap()).unwrap();
        let million = sent(1_000_000);
        let dollars = |text| Money::from_dollars(text);
        assert_eq!(cost(&prices, "gemini-2.5-pro", "2026-06-01", million), dollars("1"));
        assert_eq!(prices.entry("gemini-2.5-pro").unwrap().origin, PriceOrigin::Config);
        assert_eq!(cost(&prices, "local-llama", "2026-06-01", million), dollars("0"));
        assert_eq!(cost(&prices, "house", "2026-01-31", million), dollars("1"));
        assert_eq!(cost(&prices, "house", "2026-02-01", million), dollars("2"));
    }

    #[test]
    fn errors_name_the_model() {
        for (text, expected) in [
            ("x = { input = \"1,5\", output = 2 }", "prices of x: `1,5` is not dollars"),
            ("x = { input = 1 }", "prices of x: no price of output tokens"),
            ("x = { input = 1, output = 1, from = \"May\" }", "prices of x: `May` is not a day"),
            ("x = []", "prices of x: there is none"),
        ] {
            let own = toml::from_str::<BTreeMap<String, Override>>(text).unwrap();
            let error = Prices::new(&own).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
