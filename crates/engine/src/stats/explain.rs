//! The calculation: each request with its prices, and the running total.

use jiff::Timestamp;
use recount_formats::source::Unrecorded;
use recount_model::{Fate, SessionId, Tokens, timestamp};
use recount_prices::{Money, Tier, Units};
use serde::Serialize;

use super::logs::{Place, UsageLogs};
use super::totals::Count;
use super::walk::{Step, UsageWalk, Visitor};
use super::{StatsBasis, StatsRequest, UsageFigures, basis};
use crate::snapshot::disk_scan::Progress;
use crate::stats::usage::Head;
use crate::{Engine, Error};

/// The calculation.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The requests, in order of time.
    pub requests: Vec<ExplainedLine>,
    /// The totals.
    pub total: UsageFigures,
    /// How it was counted.
    #[serde(flatten)]
    pub basis: StatsBasis,
}

/// One request.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedLine {
    /// The time of the answer.
    pub time: Option<Timestamp>,
    /// The session.
    pub session: SessionId,
    /// The session that ran it, for a sub-agent.
    pub parent: Option<SessionId>,
    /// The model that answered.
    pub model: Option<String>,
    /// Fate of the answer. It was billed regardless.
    pub fate: Fate,
    /// What it used.
    pub tokens: Tokens,
    /// Its price tier.
    pub tier: Option<Tier>,
    /// Dollars per million tokens.
    pub prices: Option<Units>,
    /// Its cost.
    pub cost_usd: Option<Money>,
    /// The running total of the cost.
    pub sum_usd: Money,
    /// Requests whose replies are part of this record.
    pub hidden_rounds: u32,
    /// Whether its figures may be those of the first piece of the reply.
    pub first_figures: bool,
}

impl Engine {
    /// Shows the calculation: of one session with its sub-agents, or of everything selected.
    ///
    /// # Errors
    /// If the session is not found, or a filter or a price of the user is invalid.
    pub fn explain(
        &self,
        asked: &StatsRequest,
        session: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Explained, Error> {
        let prices = self.prices()?;
        let wanted = session.map(|wanted| self.open(wanted, progress)).transpose()?;
        let mut logs = self.usage_logs(&asked.sessions, progress)?;
        if let Some(opened) = &wanted {
            logs.ask_only(&opened.facts);
        }
        let window = asked.window();
        let gap = i64::try_from(asked.gap.as_millis()).unwrap_or(i64::MAX);
        let mut walk = UsageWalk::new(&prices, &window, asked.zone.clone());
        let mut lines =
            Lines { count: Count::new(&logs, gap, &[]), logs: &logs, found: Vec::new() };
        walk.go(&logs, &mut lines);
        let Lines { count, found: mut lines, .. } = lines;
        lines.sort_by_key(|(line, _)| line.time);
        let mut sum = Money::default();
        let running = |(mut line, model): (ExplainedLine, Option<u32>)| {
            sum += line.cost_usd.unwrap_or_default();
            line.sum_usd = sum;
            line.model = model.map(|model| walk.models.name(model).to_owned());
            line
        };
        let requests = lines.into_iter().map(running).collect();
        let basis = basis(&logs, asked, &walk, &count);
        let total = count.total();
        self.set_aside(logs);
        Ok(Explained { requests, total, basis })
    }
}

/// Collects requests.
struct Lines<'a> {
    count: Count,
    logs: &'a UsageLogs,
    found: Vec<(ExplainedLine, Option<u32>)>,
}

impl Visitor for Lines<'_> {
    fn step(&mut self, step: &Step<'_>) {
        self.count.step(step);
        let (Some(asked), Some(session)) =
            (&step.asked, self.logs.sessions.get(step.place.session))
        else {
            return;
        };
        let Unrecorded { rounds, first_figures, .. } = asked.unrecorded;
        let line = ExplainedLine {
            time: step.time.and_then(timestamp),
            session: session.id.clone(),
            parent: session.parent.clone(),
            model: None,
            fate: asked.fate,
            tokens: asked.tokens,
            tier: asked.quote.map(|quote| quote.tier),
            prices: asked.quote.map(|quote| quote.units),
            cost_usd: asked.quote.map(|quote| quote.cost),
            sum_usd: Money::default(),
            hidden_rounds: rounds,
            first_figures,
        };
        self.found.push((line, asked.model));
    }

    fn end(&mut self, place: Place, head: &Head) {
        self.count.end(place, head);
    }
}
