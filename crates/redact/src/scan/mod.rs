//! Finds secrets in a text.
//!
//! Each pass searches for one characteristic (a long run of characters, `=`, `@`, `://`) at memory speed and inspects the
//! text closely only there. A close inspection is bounded, so every pass is linear in any text.

mod assign;
mod bearer;
mod command;
mod composite;
mod edge;
mod email;
mod encoded;
mod guess;
mod hashes;
mod home;
mod indirect;
mod issuers;
mod name;
mod numbers;
mod pem;
mod prose;
mod runs;
mod shapes;
mod url;
mod value;

use std::ops::Range;

pub(crate) use home::Homes;

use crate::SecretFinding;
use crate::kind::SecretKind;

/// Collects findings of the enabled kinds.
pub(crate) struct Sink<'a> {
    on: u64,
    found: &'a mut Vec<SecretFinding>,
    /// The decoding depth.
    depth: u8,
    /// The position up to which lines of encoded text were joined.
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
        self.put_with_prefix(kind, range, "");
    }

    /// Adds a finding whose prefix is not secret.
    fn put_with_prefix(&mut self, kind: SecretKind, range: Range<usize>, prefix: &'static str) {
        if self.wants(kind) && !range.is_empty() {
            self.found.push(SecretFinding { kind, range, prefix });
        }
    }
}

/// Scans a text for everything that the sink collects.
pub(crate) fn scan(text: &str, homes: &Homes, sink: &mut Sink<'_>) {
    let bytes = text.as_bytes();
    runs::scan(bytes, sink);
    composite::marked(bytes, sink);
    assign::scan(bytes, sink);
    prose::scan(bytes, sink);
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
