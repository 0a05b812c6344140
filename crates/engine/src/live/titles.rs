//! Titles of terminals, asked for in the background: a terminal that does not answer must not delay what files say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use recount_model::TerminalServer;
use recount_platform::pane_titles;

/// Terminals are asked this often.
const EVERY: Duration = Duration::from_secs(1);
/// While a turn is open: a dialog may be shown at any moment.
const EVERY_OPEN: Duration = Duration::from_millis(500);
/// A terminal that does not say its titles is asked again after this time.
const MUTE: Duration = Duration::from_secs(30);

/// What a terminal program answered: its panes and their titles, or nothing.
#[derive(Debug)]
pub(crate) struct TitleAnswer {
    server: TerminalServer,
    panes: Option<Vec<(String, String)>>,
}

/// Where answers go.
type Tell = Box<dyn Fn(TitleAnswer) + Send>;

/// Asks terminal programs for titles.
#[derive(Default)]
pub(crate) struct TitlePoll {
    /// Those that agents run in.
    servers: BTreeSet<TerminalServer>,
    /// To the thread that asks.
    asks: Option<Sender<TerminalServer>>,
    /// Those that have not answered yet.
    asked: BTreeSet<TerminalServer>,
    at: Option<Instant>,
    /// Programs that did not say titles, and when they were asked.
    mute: BTreeMap<TerminalServer, Instant>,
    known: BTreeMap<String, String>,
}

impl std::fmt::Debug for TitlePoll {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TitlePoll").field("servers", &self.servers).finish_non_exhaustive()
    }
}

impl TitlePoll {
    /// Notes which terminals agents run in.
    pub(crate) fn follow(&mut self, servers: BTreeSet<TerminalServer>) {
        self.mute.retain(|server, since| servers.contains(server) && since.elapsed() < MUTE);
        self.servers = servers;
    }

    /// Returns how long nobody has to be asked; `None` while no agent runs in a terminal that can be.
    pub(crate) fn rest(&self, is_open: bool) -> Option<Duration> {
        let has_any = self.servers.iter().any(|server| !self.mute.contains_key(server));
        let every = if is_open { EVERY_OPEN } else { EVERY };
        let rest = self.at.map_or(Duration::ZERO, |at| every.saturating_sub(at.elapsed()));
        has_any.then_some(rest)
    }

    /// Asks the terminals that have answered the last time. `tell` makes what the answers are passed to.
    pub(crate) fn ask(&mut self, tell: impl FnOnce() -> Tell) {
        self.at = Some(Instant::now());
        let wanted: Vec<TerminalServer> = self
            .servers
            .iter()
            .filter(|server| !self.mute.contains_key(server) && !self.asked.contains(server))
            .cloned()
            .collect();
        if wanted.is_empty() {
            return;
        }
        let asks = self.asks.get_or_insert_with(|| start(tell()));
        for server in wanted {
            if asks.send(server.clone()).is_ok() {
                self.asked.insert(server);
            }
        }
    }

    /// Takes an answer, and returns the titles that are different. A terminal that does not answer is left alone for a while.
    pub(crate) fn take(&mut self, answer: TitleAnswer) -> Vec<(String, String)> {
        self.asked.remove(&answer.server);
        let Some(panes) = answer.panes else {
            self.mute.insert(answer.server, Instant::now());
            return Vec::new();
        };
        let mut new = Vec::new();
        for (terminal, title) in panes {
            if self.known.get(&terminal) != Some(&title) {
                self.known.insert(terminal.clone(), title.clone());
                new.push((terminal, title));
            }
        }
        new
    }

    /// Returns all titles that are known.
    pub(crate) fn known(&self) -> &BTreeMap<String, String> {
        &self.known
    }
}

/// Starts the thread that asks; it ends with the sender.
fn start(tell: Tell) -> Sender<TerminalServer> {
    let (asks, servers) = channel::<TerminalServer>();
    std::thread::spawn(move || {
        while let Ok(server) = servers.recv() {
            let panes = pane_titles(&server);
            tell(TitleAnswer { server, panes });
        }
    });
    asks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(panes: Option<&[(&str, &str)]>) -> TitleAnswer {
        let own = |(pane, title): &(&str, &str)| ((*pane).to_owned(), (*title).to_owned());
        let panes = panes.map(|panes| panes.iter().map(own).collect());
        TitleAnswer { server: TerminalServer::Tmux("s".to_owned()), panes }
    }

    #[test]
    fn only_titles_that_changed_are_told_and_who_is_mute_is_left_alone() {
        let mut poll = TitlePoll::default();
        assert_eq!(poll.rest(true), None, "no agent runs in a terminal");
        let server = TerminalServer::Tmux("s".to_owned());
        poll.follow(BTreeSet::from([server.clone()]));
        assert_eq!(poll.rest(true), Some(Duration::ZERO));
        assert_eq!(poll.take(answer(Some(&[("%1", "a"), ("%2", "b")]))).len(), 2);
        let changed = poll.take(answer(Some(&[("%1", "a"), ("%2", "c")])));
        assert_eq!(changed, [("%2".to_owned(), "c".to_owned())]);
        assert!(poll.take(answer(None)).is_empty());
        assert_eq!(poll.rest(true), None);
        // One that is gone and comes back is asked again.
        poll.follow(BTreeSet::new());
        poll.follow(BTreeSet::from([server]));
        assert!(poll.rest(false).is_some());
    }

    #[test]
    fn one_that_has_not_answered_is_not_asked_again() {
        let mut poll = TitlePoll::default();
        // Nobody listens there.
        poll.follow(BTreeSet::from([TerminalServer::Kitty("tcp:localhost:1".to_owned())]));
        let (answers, received) = channel();
        for _ in 0..3 {
            let answers = answers.clone();
            poll.ask(|| Box::new(move |answer| drop(answers.send(answer))));
        }
        drop(answers);
        let answer = received.recv_timeout(Duration::from_secs(20)).unwrap();
        assert!(received.recv_timeout(Duration::from_millis(50)).is_err());
        assert!(poll.take(answer).is_empty() && poll.asked.is_empty());
    }
}
