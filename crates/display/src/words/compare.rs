//! The texts that say why two counts differ.

use recount_engine::stats::CompareReason;

use crate::number::grouped;

/// Says why our count and that of another tool differ.
pub fn compare_reason(reason: CompareReason) -> String {
    match reason {
        CompareReason::NotReported => "not in their report".to_owned(),
        CompareReason::Unread(tokens) => {
            format!("they do not read compressed files: {} tokens", grouped(tokens.into()))
        }
        CompareReason::CountedAgain { tokens, of } if tokens == of => {
            format!("they count {} tokens of copies again", grouped(tokens.into()))
        }
        CompareReason::CountedAgain { tokens, of } => format!(
            "they count {} of {} tokens of copies again",
            grouped(tokens.into()),
            grouped(of.into())
        ),
        CompareReason::More(tokens) => {
            format!("they count {} tokens more", grouped(tokens.into()))
        }
        CompareReason::Fewer(tokens) => {
            format!("they count {} tokens less", grouped(tokens.into()))
        }
        CompareReason::LatestPrices => "they take the latest prices for every day".to_owned(),
        CompareReason::Unpriced(requests) => format!("{requests} requests have no price here"),
        CompareReason::NoPrice => "they have no price".to_owned(),
        CompareReason::OtherPrices => "they have other prices".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_their_numbers() {
        for (reason, expected) in [
            (CompareReason::NotReported, "not in their report"),
            (CompareReason::Unread(1_000), "they do not read compressed files: 1,000 tokens"),
            (
                CompareReason::CountedAgain { tokens: 3, of: 3 },
                "they count 3 tokens of copies again",
            ),
            (
                CompareReason::CountedAgain { tokens: 3, of: 4_000 },
                "they count 3 of 4,000 tokens of copies again",
            ),
            (CompareReason::More(1_233), "they count 1,233 tokens more"),
            (CompareReason::Fewer(1), "they count 1 tokens less"),
            (CompareReason::LatestPrices, "they take the latest prices for every day"),
            (CompareReason::Unpriced(1_000), "1000 requests have no price here"),
            (CompareReason::NoPrice, "they have no price"),
            (CompareReason::OtherPrices, "they have other prices"),
        ] {
            assert_eq!(compare_reason(reason), expected);
        }
    }
}
