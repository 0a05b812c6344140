//! Problems of recount's own data.

use super::{Finding, Remedy, Severity, Symptom, Topic};
use crate::{Change, ChangeState, Changes, Error};

impl Changes<'_> {
    pub(super) fn check_own(self, findings: &mut Vec<Finding>) -> Result<(), Error> {
        if self.engine.folders().data.is_none() {
            return Ok(());
        }
        let own = |severity, what: Symptom, remedy: Option<Remedy>| Finding {
            topic: Topic::Recount,
            severity,
            what,
            session: None,
            path: None,
            remedy,
        };
        for change in self.history()? {
            let Change { state, command, receipt, .. } = change;
            if state == ChangeState::CutShort {
                let what = Symptom::CutShort { command, receipt };
                findings.push(own(Severity::Warning, what, Some(Remedy::History)));
            }
            for path in change.left {
                let what = Symptom::ChangedByOthers;
                let finding = own(Severity::Note, what, Some(Remedy::History));
                findings.push(Finding { path: Some(path), ..finding });
            }
        }
        for (path, why) in self.damaged_journals()? {
            let finding = own(Severity::Error, Symptom::DamagedJournal { why }, None);
            findings.push(Finding { path: Some(path), ..finding });
        }
        if let Some(catalog) = self.engine.damaged_catalog() {
            let remedy = Some(Remedy::RebuildIndex);
            let finding = own(Severity::Warning, Symptom::DamagedCatalog, remedy);
            findings.push(Finding { path: Some(catalog), ..finding });
        }
        Ok(())
    }
}
