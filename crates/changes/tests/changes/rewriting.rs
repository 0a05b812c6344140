//! Tests on every fixture and every recorded home: rewritten sessions have the same content, and are restored byte for
//! byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_changes::{Changes, Compaction, Conversion, Notice, Proposal};
use recount_engine::{Engine, ListQuery, View};
use recount_model::{Grammar, SessionFacts};
use recount_platform::{Processes, Running};
use serde_json::Value;

use crate::{engine, entries, homes};

fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for path in entries(folder) {
        if path.is_dir() {
            all.extend(bytes(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    all
}

/// Returns what a view of a session shows, except locations.
fn view(engine: &Engine, id: &str, view: View) -> Vec<Value> {
    let opened = engine.open(id, &()).unwrap();
    let messages = opened.messages(view).unwrap();
    let message = messages.map(|message| {
        let mut value = match message {
            Ok(message) => serde_json::to_value(&message).unwrap(),
            Err(problem) => serde_json::to_value(problem.to_string()).unwrap(),
        };
        if let Some(fields) = value.as_object_mut() {
            fields.remove("where");
        }
        value
    });
    message.collect()
}

fn sessions(engine: &Engine) -> Vec<Arc<SessionFacts>> {
    engine.list(&ListQuery::default(), &()).unwrap().sessions
}

/// Returns what people see of a session in a list, except sizes.
fn row(facts: &SessionFacts) -> Value {
    let mut value = serde_json::to_value(facts).unwrap();
    let fields = value.as_object_mut().unwrap();
    for size in ["files", "problems", "problem_list", "sights", "project"] {
        fields.remove(size);
    }
    value
}

/// Carries out a plan and returns its receipt.
fn carry_out(engine: &Engine, offer: Proposal) -> String {
    Changes::new(engine).carry_out(offer.plan, &()).unwrap().receipt
}

fn undo(home: &Path, receipt: &str) {
    let engine = engine(home);
    let plan = Changes::new(&engine).undo_plan(Some(receipt)).unwrap();
    carry_out(&engine, plan);
}

#[test]
fn compacted_sessions_have_the_same_content() {
    let (mut before_bytes, mut after_bytes, mut files) = (0, 0, 0);
    for (name, home) in homes() {
        let (home, agents) = (home.path(), home.path().join(".gemini"));
        let as_it_was = bytes(&agents);
        let known = sessions(&engine(home));
        let look = |engine: &Engine| -> Vec<_> {
            let ids = known.iter().map(|facts| facts.id.as_str());
            ids.map(|id| (view(engine, id, View::Strict), view(engine, id, View::Full))).collect()
        };
        let seen = look(&engine(home));
        let wanted = Compaction { min_saving: 0, ..Compaction::default() };
        let plan = Changes::new(&engine(home)).compact_plan(&wanted, &()).unwrap();
        if plan.is_empty() {
            continue;
        }
        for step in &plan.plan.steps {
            before_bytes += step.before.as_ref().unwrap().bytes;
            after_bytes += step.after.as_ref().unwrap().bytes;
            files += 1;
        }
        let receipt = carry_out(&engine(home), plan);
        let (was, is) = (known.iter().map(|facts| row(facts)), sessions(&engine(home)));
        assert!(was.eq(is.iter().map(|facts| row(facts))), "{name}");
        for ((was, is), facts) in seen.iter().zip(look(&engine(home))).zip(&known) {
            assert!(was.0 == is.0, "{name}: {}: strict", facts.id);
            assert!(was.1 == is.1, "{name}: {}: full", facts.id);
        }
        let again = Changes::new(&engine(home)).compact_plan(&wanted, &()).unwrap();
        let gain: u64 = again
            .plan
            .steps
            .iter()
            .map(|step| step.before.as_ref().unwrap().bytes - step.after.as_ref().unwrap().bytes)
            .sum();
        assert_eq!(gain, 0, "{name}: it can be compacted again");
        undo(home, &receipt);
        assert!(bytes(&agents) == as_it_was, "{name}");
    }
    assert!(files > 20 && after_bytes < before_bytes, "{files}: {before_bytes} -> {after_bytes}");
}

/// Whether a notice announces messages that look different afterwards.
fn is_lossy(notice: &Notice) -> bool {
    let is_lossy = |effect: &Conversion| {
        matches!(effect, Conversion::GetsId | Conversion::SameId | Conversion::Richer)
    };
    match notice {
        Notice::Converted { effect, .. } => is_lossy(effect),
        other => matches!(other, Notice::TwinStays(_)),
    }
}

#[test]
fn documents_become_logs_and_back() {
    let (mut there, mut back) = (0, 0);
    for (name, home) in homes() {
        let (home, agents) = (home.path(), home.path().join(".gemini"));
        let as_it_was = bytes(&agents);
        for facts in sessions(&engine(home)) {
            let id = facts.id.as_str();
            let look = |kind| view(&engine(home), id, kind);
            let (strict, full) = (look(View::Strict), look(View::Full));
            for to in [Grammar::Jsonl, Grammar::Json] {
                let plan = match Changes::new(&engine(home)).convert_plan(id, to, &()) {
                    Ok(plan) if !plan.is_empty() => plan,
                    Ok(_) => continue,
                    Err(error) => {
                        let message = error.to_string();
                        assert!(message.contains("cannot load"), "{name}: {id}: {message}");
                        continue;
                    }
                };
                let is_announced = plan.notices.iter().any(is_lossy);
                let receipt = carry_out(&engine(home), plan);
                // Messages without an id, two with one, versions that are lost: announced by a notice.
                let is_same = is_announced || look(View::Strict) == strict;
                assert!(is_same, "{name}: {id}: {to:?}");
                if to == Grammar::Jsonl && !is_announced {
                    assert!(look(View::Full) == full, "{name}: {id}");
                    there += 1;
                }
                back += usize::from(to == Grammar::Json);
                undo(home, &receipt);
                assert!(bytes(&agents) == as_it_was, "{name}: {id}");
            }
        }
    }
    assert!(there > 10 && back > 20, "{there} {back}");
}

/// An agent running in a folder.
#[derive(Debug)]
struct Agent(PathBuf);

impl Processes for Agent {
    fn running(&self, _variables: &[&str]) -> Vec<Running> {
        let args = ["node", "/usr/local/bin/gemini"].map(str::to_owned).to_vec();
        vec![Running { pid: 4711, args, folder: Some(self.0.clone()), ..Running::default() }]
    }
}

#[test]
fn a_session_that_is_in_use_is_left_alone() {
    let (_, home) = homes().find(|(name, _)| name.ends_with("checkpoints/tools/home")).unwrap();
    let before = bytes(&home.path().join(".gemini"));
    let live = engine(home.path()).with_processes(Arc::new(Agent("/home/dev/code/shop".into())));
    let all = Compaction::default();
    let live = Changes::new(&live);
    let plan = live.compact_plan(&all, &()).unwrap();
    assert!(
        plan.is_empty() && plan.notices.iter().any(|notice| matches!(notice, Notice::InUse(_))),
        "{plan:?}"
    );
    let id = sessions(&engine(home.path()))[0].id.to_string();
    let one = Compaction { sessions: vec![id], ..all };
    let plan = live.compact_plan(&one, &()).unwrap();
    assert!(!plan.is_empty());
    let refused = live.carry_out(plan.plan, &()).unwrap_err().to_string();
    assert!(refused.contains("in use by process 4711"), "{refused}");
    assert_eq!(bytes(&home.path().join(".gemini")), before);
}
