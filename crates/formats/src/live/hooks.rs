//! What agents said through hooks, by session.

use std::collections::BTreeMap;

use recount_model::{HookMoment, LiveHook};

use crate::live::Known;

/// A record may be seen so long after a hook that was run later: what is written is seen when the disk has it.
const BEHIND: i64 = 500;

/// What an agent said of one session, each moment with the last time it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooked {
    pub(crate) prompt: Option<i64>,
    permission: Option<i64>,
    turn_end: Option<i64>,
    end: Option<i64>,
    parents: Vec<u32>,
    last: i64,
}

impl Hooked {
    /// Returns since when a process asks for a permission, if neither a record at `record` nor another hook came after the question.
    pub(crate) fn permission(&self, known: &Known, record: i64) -> Option<i64> {
        let asked = self.permission.filter(|at| *at >= known.process.start_ms)?;
        let is_answered =
            [self.prompt, self.turn_end, self.end].into_iter().flatten().any(|at| at > asked);
        (!is_answered && record <= asked + BEHIND).then_some(asked)
    }

    /// Returns when the turn ended, if it ended after `prompt`.
    pub(crate) fn turn_end(&self, prompt: i64) -> Option<i64> {
        self.turn_end.filter(|at| *at > prompt && self.prompt.is_none_or(|prompt| *at > prompt))
    }

    /// Whether the hooks are run in the turn that began with a prompt at `prompt`.
    pub(crate) fn is_in_turn(&self, prompt: i64) -> bool {
        self.prompt.is_some_and(|at| (at - prompt).abs() < 5000)
    }

    /// Returns when the session ended, if it ended after `start`.
    pub(crate) fn end(&self, start: i64) -> Option<i64> {
        self.end.filter(|at| *at >= start && Some(*at) >= self.prompt)
    }

    /// Whether a process ran the hooks of this session.
    pub(crate) fn is_below(&self, known: &Known) -> bool {
        self.last >= known.process.start_ms && self.parents.contains(&known.process.pid)
    }
}

/// What an agent said of all its sessions.
#[derive(Debug, Default)]
pub(crate) struct HookLog {
    by_session: BTreeMap<String, Hooked>,
}

impl HookLog {
    pub(crate) fn update(&mut self, hook: &LiveHook) {
        let known = self.by_session.entry(hook.session.clone()).or_default();
        let moment = match hook.moment {
            HookMoment::Start => None,
            HookMoment::Prompt => Some(&mut known.prompt),
            HookMoment::Permission => Some(&mut known.permission),
            HookMoment::TurnEnd => Some(&mut known.turn_end),
            HookMoment::End => Some(&mut known.end),
        };
        if let Some(moment) = moment {
            *moment = (*moment).max(Some(hook.at));
        }
        known.parents.clone_from(&hook.parents);
        known.last = known.last.max(hook.at);
    }

    pub(crate) fn of(&self, session: &str) -> Option<&Hooked> {
        self.by_session.get(session)
    }

    /// Forgets sessions of which nothing was said since `time`.
    pub(crate) fn forget(&mut self, time: i64) {
        self.by_session.retain(|_, one| one.last >= time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(said: &[(HookMoment, i64)]) -> HookLog {
        let mut log = HookLog::default();
        for &(moment, at) in said {
            let (source, session) = ("toy".to_owned(), "a".to_owned());
            log.update(&LiveHook { at, source, moment, session, parents: vec![7] });
        }
        log
    }

    fn known() -> Known {
        Known::new(&recount_model::LiveProcess { pid: 7, start_ms: 500, ..Default::default() }, 600)
    }

    #[test]
    fn a_permission_is_open_until_something_says_otherwise() {
        let asked = [(HookMoment::Prompt, 1000), (HookMoment::Permission, 9000)];
        assert_eq!(log(&asked).of("a").unwrap().permission(&known(), 8900), Some(9000));
        // The record before it may be seen after it.
        assert_eq!(log(&asked).of("a").unwrap().permission(&known(), 9300), Some(9000));
        assert_eq!(
            log(&asked).of("a").unwrap().permission(&known(), 11_000),
            None,
            "a record came"
        );
        for moment in [HookMoment::Prompt, HookMoment::TurnEnd, HookMoment::End] {
            let later = log(&[asked[0], asked[1], (moment, 12_000)]);
            assert_eq!(later.of("a").unwrap().permission(&known(), 8900), None, "{moment:?}");
        }
        assert!(log(&asked).of("b").is_none());
        assert!(log(&asked).of("a").unwrap().is_below(&known()));
        // Another process that asked was another run of the session.
        let mut later = known();
        later.process.start_ms = 9500;
        assert_eq!(log(&asked).of("a").unwrap().permission(&later, 8900), None);
    }

    #[test]
    fn what_is_old_is_forgotten() {
        let mut log = log(&[(HookMoment::Start, 5), (HookMoment::End, 10)]);
        assert_eq!(log.of("a").unwrap().end(6), Some(10));
        assert_eq!(log.of("a").unwrap().end(11), None);
        log.forget(10);
        assert!(log.of("a").is_some());
        log.forget(11);
        assert!(log.of("a").is_none());
    }
}
