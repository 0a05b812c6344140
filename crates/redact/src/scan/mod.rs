//! Where in a text something stands that should not be seen.
//!
//! Each pass looks for one telling thing at the speed of memory (a long run of characters, `=`, `@`, `://`) and
//! looks closely only there. A closer look is bounded, so that a pass is linear in the text whatever it holds.

mod assign;
mod bearer;
mod command;
mod edge;
mod elsewhere;
mod email;
mod encoded;
mod guess;
mod hashes;
mod home;
mod issuers;
mod name;
mod numbers;
mod pem;
mod runs;
mod shapes;
mod spoken;
mod url;
mod value;
mod woven;

use std::ops::Range;

pub(crate) use home::Homes;

use crate::SecretFinding;
use crate::kind::SecretKind;

/// Takes what passes find, of the kinds that are on.
pub(crate) struct Sink<'a> {
    on: u64,
    found: &'a mut Vec<SecretFinding>,
    /// How often the text was decoded.
    depth: u8,
    /// How far lines of encoded text were put together.
    joined: usize,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(on: u64, found: &'a mut Vec<SecretFinding>) -> Self {
        Self { on, found, depth: 0, joined: 0 }
    }

    fn wants(&self, kind: SecretKind) -> bool {
        self.on & kind.bit() != 0
    }

    fn put(&mut self, kind: SecretKind, range: Range<usize>) {
        self.put_shown(kind, range, "");
    }

    /// Takes a finding of which the beginning is no secret.
    fn put_shown(&mut self, kind: SecretKind, range: Range<usize>, prefix: &'static str) {
        if self.wants(kind) && !range.is_empty() {
            self.found.push(SecretFinding { kind, range, prefix });
        }
    }
}

/// Looks through a text for all that the sink wants.
pub(crate) fn scan(text: &str, homes: &Homes, sink: &mut Sink<'_>) {
    let bytes = text.as_bytes();
    runs::scan(bytes, sink);
    woven::marked(bytes, sink);
    assign::scan(bytes, sink);
    spoken::scan(bytes, sink);
    command::scan(bytes, sink);
    bearer::scan(bytes, sink);
    if sink.wants(SecretKind::PasswordHash) {
        hashes::scan(bytes, sink);
    }
    if sink.wants(SecretKind::PrivateKey) {
        pem::scan(bytes, sink);
        pem::putty(bytes, sink);
    }
    if sink.wants(SecretKind::UrlPassword) {
        url::scan(bytes, sink);
    }
    if sink.wants(SecretKind::Email) {
        email::scan(bytes, sink);
    }
    if sink.wants(SecretKind::User) {
        home::users(text, sink);
    }
    homes.scan(bytes, sink);
    numbers::scan(bytes, sink);
}
