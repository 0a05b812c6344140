//! Tags that replace secrets.
//!
//! A tag ends in a keyed hash of the secret. A counter would depend on the order of the exported files and on earlier
//! exports; a hash is the same in every thread and every run with the same key. Without the key nobody can test guesses, so
//! even a short password cannot be found from its tag: the key must not leave the machine. Among ten thousand secrets, the
//! chance that any two share their 40 bits is 1 in 20 000.

use sha2::{Digest as _, Sha256};

use crate::hidden;
use crate::kind::SecretKind;

/// The number of hash characters in a tag, five bits each.
const SHOWN: usize = 8;
/// The longest label, including the user's own.
pub(crate) const LONGEST_LABEL: usize = 40;
const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// The block size of SHA-256, to which the key is padded.
const BLOCK: usize = 64;

/// Creates tags: always the same for the same secret and key.
#[derive(Clone)]
pub struct Tags {
    inner: Sha256,
    outer: Sha256,
}

impl std::fmt::Debug for Tags {
    /// Does not print the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tags")
    }
}

impl Tags {
    /// Creates tags with a key. Exports with the same key have the same tags; it must be random and kept secret.
    pub fn new(key: &[u8; 32]) -> Self {
        let padded = |mask: u8| {
            let mut block = [mask; BLOCK];
            for (to, from) in block.iter_mut().zip(key) {
                *to ^= from;
            }
            Sha256::new_with_prefix(block)
        };
        Self { inner: padded(0x36), outer: padded(0x5c) }
    }

    /// Creates tags with the hash of a passphrase as key, for several machines that share one.
    pub fn of_passphrase(phrase: &str) -> Self {
        Self::new(&Sha256::digest(phrase).into())
    }

    /// Returns the first 64 bits of the keyed hash of a text.
    pub fn hash(&self, text: &str) -> u64 {
        let mut inner = self.inner.clone();
        inner.update(text);
        let mut outer = self.outer.clone();
        outer.update(inner.finalize());
        let hash = outer.finalize();
        hash.iter().take(8).fold(0u64, |bits, byte| bits << 8 | u64::from(*byte))
    }

    /// Returns the tag of a secret.
    pub(crate) fn tag(&self, kind: SecretKind, label: &str, secret: &str) -> String {
        if kind == SecretKind::Home {
            return format!("[{label}]");
        }
        let bits = self.hash(&canonical(kind, secret));
        let mut tag = format!("[{label}-");
        for place in 0..SHOWN {
            let digit = usize::try_from(bits >> (59 - 5 * place) & 31).unwrap_or(0);
            tag.push(char::from(DIGITS.get(digit).copied().unwrap_or(b'A')));
        }
        tag.push(']');
        tag
    }
}

/// Returns the canonical spelling of a secret: colors, line breaks and escapes do not count.
fn canonical(kind: SecretKind, secret: &str) -> String {
    let hidden = hidden::without(secret);
    let shown = hidden.as_ref().map_or(secret, |plain| plain.text.as_str());
    match kind {
        SecretKind::Email => shown.to_ascii_lowercase(),
        SecretKind::PrivateKey => {
            let unbroken = shown.replace("\\n", "").replace("\\r", "");
            unbroken.chars().filter(char::is_ascii_alphanumeric).collect()
        }
        _ => shown.replace('\\', ""),
    }
}

/// Returns the end of the tag that begins here, if there is one.
pub(crate) fn tag_end(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..)?.strip_prefix(b"[")?;
    let inside = rest
        .iter()
        .take(LONGEST_LABEL + SHOWN + 2)
        .position(|b| !(b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'-'))?;
    let (name, close) = rest.split_at_checked(inside)?;
    if close.first() != Some(&b']') {
        return None;
    }
    let (label, hash) = name.split_at_checked(name.len().checked_sub(SHOWN)?)?;
    let is_tag = name == b"PATH-HOME"
        || (label.len() > 1
            && label.ends_with(b"-")
            && hash.iter().all(|digit| DIGITS.contains(digit)));
    is_tag.then_some(start + inside + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags() -> Tags {
        Tags::new(&[7; 32])
    }

    #[test]
    fn the_hash_is_hmac() {
        // RFC 4231, case 2: key "Jefe", padded with zeros as HMAC does.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        let tag = Tags::new(&key).tag(SecretKind::Secret, "SECRET", "what do ya want for nothing?");
        // 5bdcc146bf… in base 32.
        assert_eq!(tag, "[SECRET-LPOMCRV7]");
    }

    #[test]
    fn a_secret_has_one_tag_however_it_is_written() {
        let tag = |kind, secret| tags().tag(kind, "X", secret);
        assert_eq!(tag(SecretKind::Email, "Ada@Site.org"), tag(SecretKind::Email, "ada@site.org"));
        assert_eq!(tag(SecretKind::Secret, "a/b"), tag(SecretKind::Secret, "a\\/b"));
        assert_eq!(tag(SecretKind::Secret, "ab"), tag(SecretKind::Secret, "a\u{200b}b"));
        assert_eq!(tag(SecretKind::PrivateKey, "AB\nCD"), tag(SecretKind::PrivateKey, "AB\\nCD"));
        assert_ne!(tag(SecretKind::Secret, "a"), tag(SecretKind::Secret, "b"));
        assert_ne!(
            tag(SecretKind::Secret, "a"),
            Tags::new(&[8; 32]).tag(SecretKind::Secret, "X", "a")
        );
    }

    #[test]
    fn a_tag_is_recognized() {
        let tag = tags().tag(SecretKind::GoogleKey, "GOOGLE-KEY", "AIza");
        assert_eq!(tag_end(tag.as_bytes(), 0), Some(tag.len()));
        assert_eq!(tag_end(b"[PATH-HOME]", 0), Some(11));
        for no in
            ["[]", "[A]", "[ABCDEFGH]", "[A-abcdefgh]", "[A-ABCDEFGH", "A-ABCDEFGH]", "[-ABCDEFGH]"]
        {
            assert_eq!(tag_end(no.as_bytes(), 0), None, "{no}");
        }
    }
}
