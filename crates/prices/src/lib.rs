//! What a request to a model costs, and how that is known. Pure: no clock, no disk, no network.
//!
//! Prices are whole numbers of a millionth of a millionth of a dollar per token, so sums are exact in any order. The
//! embedded table (`table.toml`) has the page and the day of each price; prices set by the user take precedence.

mod money;
mod read;
mod table;
mod unit;
mod windows;

pub use money::Money;
pub use read::{Error, Override};
pub use table::{Period, PriceEntry, PriceOrigin, Prices, Quote};
pub use unit::{Above, Tier, Unit, Units};
pub use windows::context_window;
