//! Sessions that run.

use recount_engine::live::{LiveEvent, LiveFacts, LiveRow, Projection, dollars_per_minute};
use recount_model::timestamp;
use serde_json::{Value, json};

/// Returns the document of one change. `t` is its place in a recording.
pub fn live_change(
    event: &LiveEvent,
    rows: &[LiveRow],
    facts: &LiveFacts,
    t: Option<i64>,
) -> Value {
    let mut document = json!({
        "schema": "recount.watch/1",
        "time": time(event.time),
        "event": event.kind.as_str(),
        "session": live_session(&event.row, facts, event.time),
    });
    if let Some(members) = document.as_object_mut() {
        members.extend(t.map(|t| ("t".to_owned(), json!(t))));
        let budget = budget(rows, facts, event.time);
        members.extend(budget.map(|budget| ("budget".to_owned(), budget)));
    }
    document
}

/// Returns what was spent, and what it comes to at the rate of the last ten minutes, if that was added up.
fn budget(rows: &[LiveRow], facts: &LiveFacts, now: i64) -> Option<Value> {
    let spending = facts.spending()?;
    let rate = dollars_per_minute(rows);
    let period = |one: Projection| {
        json!({
            "spent_usd": one.spent_usd,
            "is_lower_bound": one.is_lower_bound,
            "limit_usd": one.limit_usd,
            "projected_usd": one.projected_usd,
            "reached": one.reached.and_then(time),
        })
    };
    Some(json!({
        "usd_per_minute": rate,
        "daily": period(spending.today(rate, now)),
        "monthly": period(spending.month(rate, now)),
    }))
}

/// Returns the whole board as one document.
pub fn live_board(rows: &[LiveRow], facts: &LiveFacts, now: i64) -> Value {
    let sessions: Vec<Value> = rows.iter().map(|row| live_session(row, facts, now)).collect();
    let mut document =
        json!({"schema": "recount.watch/1", "time": time(now), "sessions": sessions});
    if let (Some(budget), Some(members)) = (budget(rows, facts, now), document.as_object_mut()) {
        members.insert("budget".to_owned(), budget);
    }
    document
}

/// Returns the title of a session, if its row was read.
pub fn live_title(row: &LiveRow, facts: &LiveFacts) -> Option<String> {
    facts.title(row.session.source, row.session.id.as_ref()?).map(str::to_owned)
}

/// Returns one session of the board.
pub fn live_session(row: &LiveRow, facts: &LiveFacts, now: i64) -> Value {
    let session = &row.session;
    let (tokens, cost) = facts.used(row);
    let signals: Vec<Value> = session
        .signals
        .iter()
        .map(|signal| json!({"from": signal.from, "says": signal.says, "age_ms": (now - signal.at).max(0)}))
        .collect();
    let tool = session.tool.as_ref().map(
        |tool| json!({"name": tool.name, "argument": tool.argument, "since": time(tool.since)}),
    );
    let context = row.context.map(|(used, window)| {
        #[expect(clippy::cast_precision_loss, reason = "a percentage needs no exact digits")]
        let percent =
            window.map(|window| (used as f64 * 1000.0 / window.max(1) as f64).round() / 10.0);
        json!({"used": used, "window": window, "percent": percent})
    });
    let subagents: Vec<Value> = session
        .subagents
        .iter()
        .map(|one| {
            let state = if one.is_working { "working" } else { "done" };
            json!({"id": one.id, "state": state, "updated": time(one.changed)})
        })
        .collect();
    let circling =
        session.circling.as_ref().map(|one| json!({"tool": one.tool, "times": one.times}));
    let [minute, ten] = row.rates;
    json!({
        "source": session.source.as_str(),
        "id": session.id.as_ref().map(recount_model::SessionId::as_str),
        "title": live_title(row, facts),
        "project": {"path": session.folder},
        "pid": session.process,
        "state": row.state.as_str(),
        "since": time(row.since),
        "certain": session.certain,
        "signals": signals,
        "tool": tool,
        "doing": session.doing,
        "model": session.model,
        "context": context,
        "tokens": tokens,
        "cost_usd": cost,
        "per_minute": {"tokens": minute.tokens, "usd": minute.usd},
        "per_minute_10": {"tokens": ten.tokens, "usd": ten.usd},
        "circling": circling,
        "subagents": subagents,
        "headless": session.headless,
        "terminal": session.terminal,
    })
}

fn time(millis: i64) -> Option<String> {
    timestamp(millis).map(|time| time.to_string())
}
