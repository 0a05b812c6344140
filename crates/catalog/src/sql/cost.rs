//! What requests cost: not kept, because prices change without any change to a session.

use std::sync::Mutex;

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

use crate::unsigned;

/// A request, with all that its price depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PricedRequest<'a> {
    /// The model that answered.
    pub model: &'a str,
    /// When, in milliseconds.
    pub at: i64,
    /// What it used: input, output, cached, `cache_write`, thoughts, tool, total.
    pub tokens: [u64; 7],
    /// The part of `cache_write` that is kept for an hour.
    pub cache_write_1h: u64,
}

/// Knows prices.
pub trait RequestPrices: Send {
    /// Returns what a request cost in dollars, if its model has a known price.
    fn cost(&mut self, request: &PricedRequest<'_>) -> Option<f64>;
}

/// Knows no price.
impl RequestPrices for () {
    fn cost(&mut self, _request: &PricedRequest<'_>) -> Option<f64> {
        None
    }
}

/// Adds the function that the view of requests calls.
pub(super) fn register(db: &Connection, prices: Box<dyn RequestPrices>) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let prices = Mutex::new(prices);
    db.create_scalar_function("recount_cost", 10, flags, move |context| {
        let Ok(mut prices) = prices.lock() else { return Ok(None) };
        Ok(request(context).and_then(|request| prices.cost(&request)))
    })
}

fn request<'a>(context: &'a Context<'_>) -> Option<PricedRequest<'a>> {
    let number = |at| context.get_raw(at).as_i64().ok();
    let mut tokens = [0; 7];
    for (at, tokens) in tokens.iter_mut().enumerate() {
        *tokens = unsigned(number(at + 2)?);
    }
    Some(PricedRequest {
        model: context.get_raw(0).as_str().ok()?,
        at: number(1)?,
        tokens,
        cache_write_1h: unsigned(number(9)?),
    })
}
