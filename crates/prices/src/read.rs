//! Reads price tables: the embedded one and the user's.

use jiff::civil::Date;
use serde::Deserialize;

use crate::table::{Period, PriceEntry, PriceOrigin};
use crate::unit::{Above, Unit, Units};

/// An invalid price table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The price is not a number of dollars.
    #[error("prices of {model}: `{price}` is not dollars per million tokens, as in 1.25")]
    NotAPrice {
        /// The model.
        model: String,
        /// The text.
        price: String,
    },
    /// The day is invalid.
    #[error("prices of {model}: `{day}` is not a day, as in 2026-01-31")]
    NotADay {
        /// The model.
        model: String,
        /// The text.
        day: String,
    },
    /// The table as a whole is invalid.
    #[error("{0}")]
    Form(String),
}

/// What the user sets for a model: one price, or several in sequence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Override {
    /// One price at all times.
    One(Box<Written>),
    /// Prices with the days from which they apply.
    Many(Vec<Written>),
}

/// A price as written in a table.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    from: Option<String>,
    #[serde(default)]
    free: bool,
    input: Option<Dollars>,
    cached: Option<Dollars>,
    cache_write: Option<Dollars>,
    cache_write_1h: Option<Dollars>,
    output: Option<Dollars>,
    above: Option<WrittenAbove>,
    seen: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAbove {
    tokens: u64,
    input: Dollars,
    cached: Option<Dollars>,
    cache_write: Option<Dollars>,
    cache_write_1h: Option<Dollars>,
    output: Dollars,
}

/// Dollars, with or without quotes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Dollars {
    Text(String),
    Whole(u64),
    Point(f64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTable {
    model: Vec<WrittenModel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenModel {
    names: Vec<String>,
    source: String,
    prices: Vec<Written>,
}

impl Dollars {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(number) => number.to_string(),
            // The shortest text that parses as this double is what was written.
            Self::Point(number) => number.to_string(),
        }
    }
}

/// A model of the embedded table that is not read yet: most questions are about few models.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unread(&'static str);

/// Splits the embedded table into its models.
pub(crate) fn split(table: &'static str) -> impl Iterator<Item = Unread> {
    const HEAD: &str = "[[model]]\n";
    let starts: Vec<usize> = table.match_indices(HEAD).map(|(at, _)| at).collect();
    let ends = starts.clone().into_iter().skip(1).chain([table.len()]);
    starts.into_iter().zip(ends).filter_map(|(start, end)| table.get(start..end).map(Unread))
}

impl Unread {
    /// Returns the names of the model, which are on a line of their own.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        let line = self.0.lines().find_map(|line| line.strip_prefix("names = ["));
        line.into_iter().flat_map(|line| line.split('"').skip(1).step_by(2))
    }

    /// Reads the model.
    pub(crate) fn read(self) -> Result<PriceEntry, Error> {
        let table: WrittenTable =
            toml::from_str(self.0).map_err(|error| Error::Form(error.message().to_owned()))?;
        let [model] = <[WrittenModel; 1]>::try_from(table.model)
            .map_err(|_| Error::Form("not one model".to_owned()))?;
        let about = model.names.first().cloned().unwrap_or_default();
        let periods = periods(&about, &model.prices)?;
        let origin = PriceOrigin::Table { source: model.source };
        Ok(PriceEntry { names: model.names, origin, periods })
    }
}

/// Reads what the user has set for one model.
pub(crate) fn own(name: &str, prices: &Override) -> Result<PriceEntry, Error> {
    let prices = match prices {
        Override::One(price) => std::slice::from_ref(&**price),
        Override::Many(prices) => prices,
    };
    let periods = periods(name, prices)?;
    Ok(PriceEntry { names: vec![name.to_owned()], origin: PriceOrigin::Config, periods })
}

fn periods(model: &str, prices: &[Written]) -> Result<Vec<Period>, Error> {
    let mut periods =
        prices.iter().map(|price| period(model, price)).collect::<Result<Vec<_>, _>>()?;
    if periods.is_empty() {
        return Err(Error::Form(format!("prices of {model}: there is none")));
    }
    periods.sort_by_key(|period| period.from);
    Ok(periods)
}

fn period(model: &str, price: &Written) -> Result<Period, Error> {
    let unit = |dollars: &Dollars| {
        let text = dollars.text();
        Unit::per_million(&text)
            .ok_or_else(|| Error::NotAPrice { model: model.to_owned(), price: text })
    };
    let day = |day: &String| {
        let bad = |_| Error::NotADay { model: model.to_owned(), day: day.clone() };
        day.parse::<Date>().map_err(bad)
    };
    let units = |input: &Dollars, cache: [Option<&Dollars>; 3], output: &Dollars| {
        // Without a price of their own, cached tokens cost the same as other input.
        let [cached, write, write_1h] = cache.map(|price| price.unwrap_or(input));
        Ok(Units {
            input: unit(input)?,
            cached: unit(cached)?,
            cache_write: unit(write)?,
            cache_write_1h: unit(write_1h)?,
            output: unit(output)?,
        })
    };
    let zero = Dollars::Whole(0);
    let named = |dollars: &Option<Dollars>, kind: &str| match dollars {
        Some(dollars) => Ok(dollars.clone()),
        None if price.free => Ok(zero.clone()),
        None => Err(Error::Form(format!("prices of {model}: no price of {kind} tokens"))),
    };
    let (input, output) = (named(&price.input, "input")?, named(&price.output, "output")?);
    let above = |above: &WrittenAbove| {
        let cache = [&above.cached, &above.cache_write, &above.cache_write_1h].map(Option::as_ref);
        let units = units(&above.input, cache, &above.output)?;
        Ok(Above { tokens: above.tokens, units })
    };
    let cache = [&price.cached, &price.cache_write, &price.cache_write_1h].map(Option::as_ref);
    Ok(Period {
        from: price.from.as_ref().map(day).transpose()?,
        units: units(&input, cache, &output)?,
        above: price.above.as_ref().map(above).transpose()?,
        seen: price.seen.as_ref().map(day).transpose()?,
    })
}
