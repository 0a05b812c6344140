//! Keys that are known by their prefix, followed by a number of characters of an alphabet.

use super::edge::{at, is_word, piece, stretch};
use super::guess::is_made_up;
use super::woven;
use crate::kind::SecretKind;

/// The characters a key goes on with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alphabet {
    /// `0-9 a-f`
    Hex,
    /// `0-9 A-Z`
    Upper,
    /// Letters and digits.
    Plain,
    /// Letters, digits, `-` and `_`.
    Url,
    /// As [`Alphabet::Url`], with dots.
    Dotted,
}

impl Alphabet {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Upper => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Url => is_word(byte) || byte == b'-',
            Self::Dotted => is_word(byte) || matches!(byte, b'-' | b'.'),
        }
    }
}

/// Where the last stretch of each alphabet lies, so that no stretch is walked twice.
#[derive(Debug, Default)]
pub(super) struct Stretches([(usize, usize); 5]);

impl Stretches {
    /// Returns where the stretch ends that `from` stands in.
    pub(super) fn end(
        &mut self,
        bytes: &[u8],
        from: usize,
        to: usize,
        alphabet: Alphabet,
    ) -> usize {
        let Some(known) = self.0.get_mut(alphabet as usize) else { return from };
        if !(known.0..known.1).contains(&from) {
            let end = stretch(bytes, from, to.saturating_sub(from), |b| alphabet.holds(b));
            *known = (from, end);
        }
        known.1
    }
}

/// How the keys of one issuer look.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) kind: SecretKind,
    prefix: &'static str,
    rest: Alphabet,
    least: usize,
    most: usize,
}

impl Shape {
    /// Returns where the key ends that begins here. `fresh`: no word goes on across its beginning.
    pub(super) fn matches(
        &self,
        bytes: &[u8],
        start: usize,
        end: usize,
        fresh: bool,
        known: &mut Stretches,
    ) -> Option<usize> {
        // A prefix with a joint in it does not come about by accident.
        let is_telling =
            self.prefix.len() > 3 && self.prefix.bytes().any(|b| matches!(b, b'_' | b'-'));
        if !(fresh || is_telling) || !piece(bytes, start, end).starts_with(self.prefix.as_bytes()) {
            return None;
        }
        let body = start + self.prefix.len();
        let mut stop = known.end(bytes, body, end, self.rest);
        while stop > body && matches!(at(bytes, stop - 1), b'.' | b'-') {
            stop -= 1;
        }
        let fits = (self.least..=self.most).contains(&(stop - body));
        let closed = !at(bytes, stop).is_ascii_alphanumeric();
        (fits && closed && !is_made_up(piece(bytes, body, stop))).then_some(stop)
    }

    /// What of such a key may be shown: the same for all of them.
    pub(super) fn shown(&self) -> &'static str {
        self.prefix.get(..4).unwrap_or(self.prefix)
    }
}

const fn shape(
    kind: SecretKind,
    prefix: &'static str,
    rest: Alphabet,
    least: usize,
    most: usize,
) -> Shape {
    Shape { kind, prefix, rest, least, most }
}

use Alphabet::{Dotted, Hex, Plain, Upper, Url};
use SecretKind::{
    AwsKey, DockerToken, GithubToken, GitlabToken, GoogleKey, GoogleToken, ModelKey, PackageToken,
    ServiceKey, SlackToken, StripeKey,
};

/// Every shape, by its first byte.
const SHAPES: &[Shape] = &[
    shape(AwsKey, "ABIA", Upper, 16, 16),
    shape(AwsKey, "ACCA", Upper, 16, 16),
    shape(ServiceKey, "AGE-SECRET-KEY-1", Upper, 58, 58),
    shape(GoogleKey, "AIza", Url, 35, 35),
    shape(AwsKey, "AKIA", Upper, 16, 16),
    shape(AwsKey, "ASIA", Upper, 16, 16),
    shape(ServiceKey, "ATATT3", Url, 60, 240),
    shape(ServiceKey, "ATBB", Plain, 28, 40),
    shape(ServiceKey, "EAAA", Url, 56, 80),
    shape(GoogleToken, "GOCSPX-", Url, 28, 28),
    shape(ServiceKey, "NRAK-", Upper, 27, 27),
    shape(ServiceKey, "PMAK-", Url, 50, 70),
    shape(ServiceKey, "SK", Hex, 32, 32),
    shape(GoogleToken, "1//", Url, 36, 200),
    shape(ServiceKey, "CFPAT-", Url, 40, 50),
    shape(ModelKey, "api_org_", Plain, 30, 40),
    shape(PackageToken, "cio", Plain, 32, 32),
    shape(ServiceKey, "dapi", Hex, 32, 32),
    shape(DockerToken, "dckr_oat_", Url, 20, 64),
    shape(DockerToken, "dckr_pat_", Url, 20, 64),
    shape(ServiceKey, "dop_v1_", Hex, 64, 64),
    shape(ServiceKey, "doo_v1_", Hex, 64, 64),
    shape(ServiceKey, "dor_v1_", Hex, 64, 64),
    shape(ServiceKey, "dp.pt.", Plain, 40, 48),
    shape(ServiceKey, "figd_", Url, 40, 60),
    shape(GithubToken, "github_pat_", Url, 40, 255),
    shape(GithubToken, "ghp_", Plain, 36, 255),
    shape(GithubToken, "gho_", Plain, 36, 255),
    shape(GithubToken, "ghu_", Plain, 36, 255),
    shape(GithubToken, "ghs_", Plain, 36, 255),
    shape(GithubToken, "ghr_", Plain, 36, 255),
    shape(ServiceKey, "glc_", Url, 32, 400),
    shape(ServiceKey, "glsa_", Url, 32, 60),
    shape(GitlabToken, "glpat-", Dotted, 20, 64),
    shape(GitlabToken, "gldt-", Dotted, 20, 64),
    shape(GitlabToken, "glrt-", Dotted, 20, 64),
    shape(GitlabToken, "glptt-", Dotted, 20, 64),
    shape(GitlabToken, "glcbt-", Dotted, 20, 64),
    shape(GitlabToken, "gloas-", Dotted, 20, 80),
    shape(ModelKey, "gsk_", Plain, 40, 64),
    shape(ModelKey, "hf_", Plain, 30, 40),
    shape(ServiceKey, "hvb.", Url, 24, 300),
    shape(ServiceKey, "hvs.", Url, 24, 300),
    shape(ServiceKey, "key-", Hex, 32, 32),
    shape(ServiceKey, "lin_api_", Plain, 32, 48),
    shape(PackageToken, "npm_", Plain, 36, 36),
    shape(ServiceKey, "ntn_", Plain, 40, 56),
    shape(StripeKey, "pk_live_", Plain, 16, 128),
    shape(StripeKey, "pk_test_", Plain, 16, 128),
    shape(ModelKey, "pplx-", Plain, 40, 64),
    shape(ServiceKey, "pscale_tkn_", Url, 32, 64),
    shape(PackageToken, "pypi-", Url, 50, 400),
    shape(ModelKey, "r8_", Plain, 37, 37),
    shape(StripeKey, "rk_live_", Plain, 16, 128),
    shape(StripeKey, "rk_test_", Plain, 16, 128),
    shape(PackageToken, "rubygems_", Hex, 48, 48),
    shape(ServiceKey, "sbp_", Hex, 40, 40),
    shape(ServiceKey, "secret_", Plain, 43, 43),
    shape(ServiceKey, "shpat_", Hex, 32, 32),
    shape(ServiceKey, "shpca_", Hex, 32, 32),
    shape(ServiceKey, "shppa_", Hex, 32, 32),
    shape(ServiceKey, "shpss_", Hex, 32, 32),
    shape(ModelKey, "sk-ant-", Url, 32, 200),
    shape(ModelKey, "sk-or-v1-", Hex, 64, 64),
    shape(ModelKey, "sk-proj-", Url, 40, 255),
    shape(ModelKey, "sk-svcacct-", Url, 40, 255),
    shape(ModelKey, "sk-admin-", Url, 40, 255),
    shape(ModelKey, "sk-", Plain, 32, 64),
    shape(StripeKey, "sk_live_", Plain, 16, 128),
    shape(StripeKey, "sk_test_", Plain, 16, 128),
    shape(ServiceKey, "sntrys_", Url, 60, 400),
    shape(ServiceKey, "sq0atp-", Url, 22, 22),
    shape(ServiceKey, "sq0csp-", Url, 43, 43),
    shape(ServiceKey, "tskey-", Url, 24, 80),
    shape(StripeKey, "whsec_", Plain, 24, 64),
    shape(ModelKey, "xai-", Plain, 60, 100),
    shape(SlackToken, "xapp-", Url, 30, 200),
    shape(SlackToken, "xoxa-", Url, 20, 255),
    shape(SlackToken, "xoxb-", Url, 20, 255),
    shape(SlackToken, "xoxe-", Url, 20, 255),
    shape(SlackToken, "xoxe.", Url, 20, 255),
    shape(SlackToken, "xoxo-", Url, 20, 255),
    shape(SlackToken, "xoxp-", Url, 20, 255),
    shape(SlackToken, "xoxr-", Url, 20, 255),
    shape(SlackToken, "xoxs-", Url, 20, 255),
    shape(GoogleToken, "ya29.", Url, 20, 400),
];

/// Where the shapes of each first byte lie in [`SHAPES`].
const FIRST: [(usize, usize); 256] = {
    let mut table = [(0, 0); 256];
    let mut at = 0;
    while at < SHAPES.len() {
        let byte = SHAPES[at].prefix.as_bytes()[0] as usize;
        table[byte] = (if table[byte].1 == 0 { at } else { table[byte].0 }, at + 1);
        at += 1;
    }
    table
};

/// Which two bytes a key can begin with, a bit for each: most places need no closer look.
const PAIRS: [u64; 1024] = {
    let mut table = [0; 1024];
    let mut at = 0;
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix.as_bytes();
        let pair = (prefix[0] as usize) << 8 | prefix[1] as usize;
        table[pair / 64] |= 1 << (pair % 64);
        at += 1;
    }
    let mut at = 0;
    while at < woven::PAIRS.len() {
        let pair = (woven::PAIRS[at][0] as usize) << 8 | woven::PAIRS[at][1] as usize;
        table[pair / 64] |= 1 << (pair % 64);
        at += 1;
    }
    table
};

/// Whether a key may begin with these two bytes.
pub(super) fn may_begin(first: u8, second: u8) -> bool {
    let pair = usize::from(first) << 8 | usize::from(second);
    PAIRS.get(pair / 64).is_some_and(|bits| bits >> (pair % 64) & 1 == 1)
}

/// What may begin with this byte. A few may begin with another: the prefix decides.
pub(super) fn shapes_of(byte: u8) -> &'static [Shape] {
    let (from, to) = FIRST.get(usize::from(byte)).copied().unwrap_or_default();
    SHAPES.get(from..to).unwrap_or_default()
}
