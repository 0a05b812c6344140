//! Finds secrets and personal data in text, and replaces them.
//!
//! ```
//! use recount_redact::{Redactor, Rules, Tags};
//!
//! let redactor = Redactor::new(Rules::default())?;
//! let tags = Tags::new(&[1; 32]); // random, and kept secret
//! let text = redactor.redact("write to ada@lovelace.org", &tags);
//! assert!(text.starts_with("write to [EMAIL-"));
//! # Ok::<(), recount_redact::RuleError>(())
//! ```
//!
//! `scan/` finds, `tags` names, `report` counts. Known shapes come first (`scan/shapes`), then values whose names indicate
//! a secret (`scan/assign`), last what only looks random (`scan/guess`). Text is not parsed: it may be prose, code, JSON, a
//! log with colors, or a piece of any of them.

mod broken;
mod escaped;
mod finding;
mod hidden;
mod kind;
mod report;
mod rules;
mod scan;
mod tags;
mod view;

use std::borrow::Cow;
use std::ops::Range;

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;

pub use finding::SecretFinding;
pub use kind::{KINDS, SecretKind, SecretKindInfo};
pub use report::{Count, RedactionReport};
pub use rules::{RuleError, Rules};
pub use tags::Tags;

use scan::{Homes, Sink};
use view::View;

/// The memory limit of one of the user's patterns.
const PATTERN_LIMIT: usize = 1 << 20;
/// How often a text is scanned again after a change. A replacement can reveal its neighbour.
const ROUNDS: usize = 8;
/// The shortest accepted home folder: a shorter one would match everywhere.
const SHORTEST_HOME: usize = 4;

/// Finds and replaces secrets according to its rules. One redactor serves all threads.
#[derive(Debug)]
pub struct Redactor {
    on: u64,
    homes: Homes,
    patterns: Vec<Pattern>,
    allow: Vec<String>,
}

/// One of the user's patterns.
#[derive(Debug)]
struct Pattern {
    name: String,
    label: String,
    regex: Regex,
}

impl Redactor {
    /// Compiles the rules; fails if a pattern, a name or a home is invalid.
    pub fn new(rules: Rules) -> Result<Self, RuleError> {
        let short = rules
            .homes
            .iter()
            .find(|home| home.trim_end_matches(['/', '\\']).len() < SHORTEST_HOME);
        if let Some(home) = short {
            return Err(RuleError::Home { home: home.clone() });
        }
        if rules.patterns.len() > usize::from(u8::MAX) {
            return Err(RuleError::TooMany { count: rules.patterns.len() });
        }
        let patterns = rules.patterns.into_iter().map(|(name, regex)| Pattern::new(name, &regex));
        Ok(Self {
            on: rules.kinds.iter().fold(0, |on, kind| on | kind.bit()),
            homes: Homes::new(&rules.homes),
            patterns: patterns.collect::<Result<_, _>>()?,
            allow: rules.allow,
        })
    }

    /// Returns all findings, in order and without overlaps. Ranges are on character boundaries.
    pub fn find(&self, text: &str) -> Vec<SecretFinding> {
        let mut found = Vec::new();
        self.look(text, &mut found);
        let plain = hidden::without(text);
        let base = plain.as_ref().map_or(text, |plain| plain.text.as_str());
        let mut inside = Vec::new();
        if plain.is_some() {
            self.look(base, &mut inside);
        }
        if let Some(view) = escaped::read(base) {
            self.look_at(&view, |_, _, _| true, &mut inside);
        }
        if let Some(view) = broken::rejoined(base) {
            let is_broken = |kind, range: &Range<usize>| match kind {
                // A password is any word: the next line is part of it only if both look generated.
                SecretKind::Password => broken::looks_generated_on_each_line(base, range),
                _ => may_be_broken(kind),
            };
            let wanted = |kind, is_whole: bool, range: &_| !is_whole && is_broken(kind, range);
            self.look_at(&view, wanted, &mut inside);
        }
        found.extend(inside.into_iter().map(|finding| match &plain {
            Some(plain) => SecretFinding { range: plain.original(finding.range), ..finding },
            None => finding,
        }));
        if found.is_empty() {
            return found;
        }
        found.retain(|finding| !self.may_stay(finding, text));
        finding::settle(found, text)
    }

    /// Returns the text with tags in place of the findings; the text itself if there are none.
    pub fn redact<'t>(&self, text: &'t str, tags: &Tags) -> Cow<'t, str> {
        self.redact_noting(text, tags, "", &mut RedactionReport::new())
    }

    /// Like [`Self::redact`], and records the findings in a report under this place.
    pub fn redact_noting<'t>(
        &self,
        text: &'t str,
        tags: &Tags,
        place: &str,
        report: &mut RedactionReport,
    ) -> Cow<'t, str> {
        let mut now = Cow::Borrowed(text);
        for _ in 0..ROUNDS {
            let found = self.find(&now);
            if found.is_empty() {
                break;
            }
            report.add(place, &found);
            now = Cow::Owned(self.replaced(&now, &found, tags));
        }
        now
    }

    /// Returns the tag that replaces a finding in its text.
    pub fn tag(&self, finding: &SecretFinding, text: &str, tags: &Tags) -> String {
        let secret = text.get(finding.range.clone()).unwrap_or_default();
        tags.tag(finding.kind, self.label(finding.kind), secret)
    }

    /// Returns the name of a kind, including the user's own.
    pub fn name(&self, kind: SecretKind) -> &str {
        match kind {
            SecretKind::Own(number) => {
                self.patterns.get(usize::from(number)).map_or("", |own| &own.name)
            }
            _ => kind.about().map_or("", |about| about.name),
        }
    }

    fn label(&self, kind: SecretKind) -> &str {
        match kind {
            SecretKind::Own(number) => {
                self.patterns.get(usize::from(number)).map_or("OWN", |own| &own.label)
            }
            _ => kind.about().map_or("SECRET", |about| about.label),
        }
    }

    fn look(&self, text: &str, found: &mut Vec<SecretFinding>) {
        scan::scan(text, &self.homes, &mut Sink::new(self.on, found));
        for (number, pattern) in (0..=u8::MAX).zip(&self.patterns) {
            pattern.scan(text, SecretKind::Own(number), found);
        }
    }

    /// Scans another view of a text.
    fn look_at(
        &self,
        view: &View,
        wanted: impl Fn(SecretKind, bool, &Range<usize>) -> bool,
        found: &mut Vec<SecretFinding>,
    ) {
        let mut inside = Vec::new();
        self.look(&view.text, &mut inside);
        for finding in inside {
            let is_whole = view.is_whole(&finding.range);
            let range = view.original(finding.range);
            if wanted(finding.kind, is_whole, &range) {
                found.push(SecretFinding { range, ..finding });
            }
        }
    }

    fn may_stay(&self, finding: &SecretFinding, text: &str) -> bool {
        let secret = text.get(finding.range.clone()).unwrap_or_default();
        self.allow.iter().any(|allowed| {
            secret == allowed
                || (finding.kind == SecretKind::Email
                    && allowed.starts_with('@')
                    && secret.ends_with(allowed.as_str()))
        })
    }

    fn replaced(&self, text: &str, found: &[SecretFinding], tags: &Tags) -> String {
        let mut new = String::with_capacity(text.len());
        let mut from = 0;
        for finding in found {
            new.push_str(text.get(from..finding.range.start).unwrap_or_default());
            new.push_str(&self.tag(finding, text, tags));
            from = finding.range.end;
        }
        new.push_str(text.get(from..).unwrap_or_default());
        new
    }
}

/// Whether a secret of this kind is long enough to be broken across lines, and is recognized again when it is.
fn may_be_broken(kind: SecretKind) -> bool {
    !matches!(
        kind,
        SecretKind::Random
            | SecretKind::Email
            | SecretKind::Home
            | SecretKind::User
            | SecretKind::Card
            | SecretKind::Phone
            | SecretKind::IpAddress
            | SecretKind::Password
    )
}

impl Pattern {
    fn new(name: String, pattern: &str) -> Result<Self, RuleError> {
        let is_name = (1..=32).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if !is_name {
            return Err(RuleError::Name { name });
        }
        let limits = Regex::config()
            .nfa_size_limit(Some(PATTERN_LIMIT))
            .onepass_size_limit(Some(PATTERN_LIMIT))
            .hybrid_cache_capacity(PATTERN_LIMIT);
        let built = Regex::builder()
            .configure(limits)
            .syntax(syntax::Config::new().multi_line(true))
            .build(pattern);
        match built {
            Ok(regex) => {
                Ok(Self { label: format!("OWN-{}", name.to_ascii_uppercase()), name, regex })
            }
            Err(error) => {
                let why =
                    error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
                Err(RuleError::Pattern { name, why })
            }
        }
    }

    fn scan(&self, text: &str, kind: SecretKind, found: &mut Vec<SecretFinding>) {
        if !self.regex.is_match(text) {
            return;
        }
        let secret = |captures: Captures| captures.get_group(1).or_else(|| captures.get_group(0));
        let spans = self.regex.captures_iter(text).filter_map(secret);
        found.extend(spans.filter(|span| !span.is_empty()).map(|span| SecretFinding {
            kind,
            range: span.range(),
            prefix: "",
        }));
    }
}
