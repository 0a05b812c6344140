//! The texts that say why usage is not in the figures.

use recount_engine::stats::MissingReason;

/// Says why requests were billed but not recorded. The number of them comes before it.
pub fn missing(reason: MissingReason, number: u64) -> &'static str {
    match (reason, number) {
        (MissingReason::Rounds, 1) => {
            "reply without text was merged into the record before it, which has the token counts of one reply"
        }
        (MissingReason::Rounds, _) => {
            "replies without text were merged into the record before them, which has the token counts of one reply"
        }
        (MissingReason::FirstFigures, 1) => {
            "request may have only the token counts of the first chunk of the reply, as older releases recorded them"
        }
        (MissingReason::FirstFigures, _) => {
            "requests may have only the token counts of the first chunk of the reply, as older releases recorded them"
        }
        (MissingReason::NoFigures, 1) => "reply has no token counts",
        (MissingReason::NoFigures, _) => "replies have no token counts",
        (MissingReason::Unanswered, 1) => {
            "prompt has no recorded answer: failed and stopped requests leave no token counts"
        }
        (MissingReason::Unanswered, _) => {
            "prompts have no recorded answer: failed and stopped requests leave no token counts"
        }
        (MissingReason::SideCalls, 1) => "request for a title, summary or search is never recorded",
        (MissingReason::SideCalls, _) => {
            "requests for titles, summaries or searches are never recorded"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_case_is_worded_as_one() {
        assert!(missing(MissingReason::Unanswered, 1).starts_with("prompt has "));
        assert!(missing(MissingReason::SideCalls, 2).starts_with("requests for "));
    }
}
