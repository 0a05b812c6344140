//! What the tests share: a fixed sequence that looks random, and a key.

use recount_redact::Tags;

pub(crate) use crate::table::{Dice, HEX, PLAIN, UPPER, URL};

pub(crate) fn tags() -> Tags {
    Tags::new(&[7; 32])
}
