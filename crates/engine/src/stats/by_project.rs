//! What projects used, counted as `stats` counts it.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use recount_model::SessionFacts;
use recount_prices::Prices;

use super::figures::{Sum, UsageFigures};
use super::totals::Key;
use super::{By, StatsRequest, count};
use crate::search::index::session_key;
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

impl Engine {
    /// Returns what each project used, by its key. The projects are those of the given sessions: a search of the disk may have
    /// found folders that `stats` does not search for.
    pub(crate) fn usage_by_project(
        &self,
        sessions: &[Arc<SessionFacts>],
        progress: &dyn Progress,
    ) -> Result<HashMap<String, UsageFigures>, Error> {
        let asked = StatsRequest {
            sessions: ListQuery::default(),
            zone: TimeZone::UTC,
            gap: SignedDuration::ZERO,
        };
        // Errors in the user's own prices are reported by queries about cost; here no cost is known then.
        let none = Prices::default();
        let prices = self.pricing().prices().unwrap_or(&none);
        let logs = self.usage_logs(&asked.sessions, progress)?;
        let mut counted = count(&logs, prices, &asked, &[By::Session]);
        let by_session = std::mem::take(&mut counted.all_totals).into_iter().flatten();
        let known: HashMap<u64, &Arc<SessionFacts>> =
            sessions.iter().map(|session| (session_key(session), session)).collect();
        let mut sums: HashMap<String, Sum> = HashMap::new();
        for (key, sum) in by_session {
            let Key::Number(number) = key else { continue };
            let Some(counted) = logs.sessions.get(number as usize) else { continue };
            let session = known.get(&session_key(counted)).copied().unwrap_or(counted);
            sums.entry(session.project.key()).or_default().add(&sum);
        }
        self.set_aside(logs);
        Ok(sums.into_iter().map(|(key, sum)| (key, sum.figures())).collect())
    }
}
