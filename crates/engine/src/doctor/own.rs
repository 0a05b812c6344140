//! What is wrong with our own data.

use super::{Finding, Severity, Topic};
use crate::{ChangeState, Engine, Error};

impl Engine {
    pub(super) fn check_own(&self, findings: &mut Vec<Finding>) -> Result<(), Error> {
        let Some(data) = &self.folders.data else { return Ok(()) };
        let own = |severity, what: String, remedy: Option<&str>| Finding {
            topic: Topic::Recount,
            severity,
            what,
            session: None,
            path: None,
            remedy: remedy.map(str::to_owned),
        };
        for change in self.history()? {
            if change.state == ChangeState::CutShort {
                let what = format!(
                    "a {} ({}) was cut short; the next change ends it",
                    change.command, change.receipt
                );
                findings.push(own(Severity::Warning, what, Some("recount history")));
            }
            for path in change.left {
                let what = "changed by others while a change was taken back".to_owned();
                let path = Some(path);
                findings
                    .push(Finding { path, ..own(Severity::Note, what, Some("recount history")) });
            }
        }
        for (path, why) in self.damaged_journals()? {
            let what = format!("a journal is not understood: {why}");
            findings.push(Finding { path: Some(path), ..own(Severity::Error, what, None) });
        }
        let catalog = data.join(crate::cache::refresh::FILE);
        if catalog.is_file() && !recount_catalog::is_sound(&catalog) {
            let what = "the catalog is damaged; it is made again from the sessions".to_owned();
            let finding = own(Severity::Warning, what, Some("recount index rebuild"));
            findings.push(Finding { path: Some(catalog), ..finding });
        }
        Ok(())
    }
}
