//! The texts that say why two counts differ.

use recount_engine::stats::CompareReason;

use crate::number::grouped;

/// Says why our count and that of another tool differ.
pub fn compare_reason(reason: CompareReason) -> String {
    let number = |tokens: u64| grouped(tokens.into());
    let tokens = |tokens| format!("{} token{}", number(tokens), if tokens == 1 { "" } else { "s" });
    match reason {
        CompareReason::NotReported => "not in their report".to_owned(),
        CompareReason::Unread(unread) => {
            format!("they do not read compressed files: {}", tokens(unread))
        }
        CompareReason::CountedAgain { tokens: again, of } if again == of => {
            format!("they count {} of copies again", tokens(again))
        }
        CompareReason::CountedAgain { tokens: again, of } => {
            format!("they count {} of {} of copies again", number(again), tokens(of))
        }
        CompareReason::More(more) => format!("they count {} more", tokens(more)),
        CompareReason::Fewer(less) => format!("they count {} less", tokens(less)),
        CompareReason::LatestPrices => "they take the latest prices for every day".to_owned(),
        CompareReason::Unpriced(1) => "1 request has no price here".to_owned(),
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
            (CompareReason::Fewer(1), "they count 1 token less"),
            (CompareReason::LatestPrices, "they take the latest prices for every day"),
            (CompareReason::Unpriced(1), "1 request has no price here"),
            (CompareReason::Unpriced(1_000), "1000 requests have no price here"),
            (CompareReason::NoPrice, "they have no price"),
            (CompareReason::OtherPrices, "they have other prices"),
        ] {
            assert_eq!(compare_reason(reason), expected);
        }
    }
}
