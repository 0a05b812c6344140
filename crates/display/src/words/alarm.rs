//! The texts of alarms.

use recount_engine::live::{AlarmReason, BudgetPeriod};

/// Says why an alarm is raised.
pub fn alarm(reason: &AlarmReason) -> String {
    match reason {
        AlarmReason::Approve(name) => format!("{name} waits for your approval"),
        AlarmReason::Yours(name) => format!("{name} has finished its turn"),
        AlarmReason::Failed(name) => format!("{name} failed"),
        AlarmReason::Gone(name) => format!("{name} ended in the middle of a turn"),
        AlarmReason::Context(name) => format!("the context of {name} is nearly full"),
        AlarmReason::Circling(name) => format!("{name} repeats the same call"),
        AlarmReason::Budget { period, spent_usd, limit_usd } => {
            let period = match period {
                BudgetPeriod::Day => "day",
                BudgetPeriod::Month => "month",
            };
            format!("the budget of the {period} is used up: ${spent_usd:.2} of ${limit_usd:.2}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_names_the_session_or_the_budget() {
        let name = || "shop".to_owned();
        let budget = |period| AlarmReason::Budget { period, spent_usd: 5.125, limit_usd: 5.0 };
        for (reason, expected) in [
            (AlarmReason::Approve(name()), "shop waits for your approval"),
            (AlarmReason::Yours(name()), "shop has finished its turn"),
            (AlarmReason::Failed(name()), "shop failed"),
            (AlarmReason::Gone(name()), "shop ended in the middle of a turn"),
            (AlarmReason::Context(name()), "the context of shop is nearly full"),
            (AlarmReason::Circling(name()), "shop repeats the same call"),
            (budget(BudgetPeriod::Day), "the budget of the day is used up: $5.12 of $5.00"),
            (budget(BudgetPeriod::Month), "the budget of the month is used up: $5.12 of $5.00"),
        ] {
            assert_eq!(alarm(&reason), expected);
        }
    }
}
