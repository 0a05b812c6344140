//! Whether the name of a value indicates a secret.

/// What a name indicates about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameHint {
    /// Chosen by people: short, and often a word.
    Password,
    /// `pass`, `pwd`: often something else.
    MaybePassword,
    /// Generated: long, and not a word.
    Secret,
    /// A key of some sort, when the value looks like one.
    MaybeKey,
    /// The secret half of an AWS key.
    Aws,
    /// A key of Azure.
    Azure,
    /// `Authorization`
    Authorization,
    /// `Cookie`
    Cookie,
    /// `Set-Cookie`
    SetCookie,
    /// The name of a cookie that holds a session.
    Session,
    /// A name and a password in base 64.
    Login,
    /// A passphrase of a wallet or a key.
    Phrase,
    /// `value`, `default`: another name precedes it.
    Indirect,
}

/// The longest name.
pub(super) const LONGEST: usize = 64;

/// The ending of a name, in lower case and without separators; whether a word must begin there; what it indicates.
const ENDINGS: &[(&str, bool, NameHint)] = &[
    ("awssecretaccesskey", false, NameHint::Aws),
    ("secretaccesskey", false, NameHint::Aws),
    ("sharedaccesskey", false, NameHint::Azure),
    ("accountkey", true, NameHint::Azure),
    ("sharedaccesssignature", true, NameHint::Azure),
    ("sig", true, NameHint::Azure),
    ("azurestoragekey", false, NameHint::Azure),
    ("storageaccountkey", false, NameHint::Azure),
    ("storageaccesskey", false, NameHint::Azure),
    ("psk", true, NameHint::Password),
    ("requirepass", true, NameHint::Password),
    ("masterauth", true, NameHint::Password),
    ("storepass", true, NameHint::Password),
    ("keypass", true, NameHint::Password),
    ("kennwort", false, NameHint::Password),
    ("motdepasse", false, NameHint::Password),
    ("contrasena", false, NameHint::Password),
    ("senha", true, NameHint::Password),
    ("mnemonic", true, NameHint::Phrase),
    ("seedphrase", false, NameHint::Phrase),
    ("recoveryphrase", false, NameHint::Phrase),
    ("seedwords", false, NameHint::Phrase),
    ("auth", true, NameHint::Login),
    ("value", true, NameHint::Indirect),
    ("default", true, NameHint::Indirect),
    ("defaultvalue", false, NameHint::Indirect),
    ("awssessiontoken", false, NameHint::Secret),
    ("securitytoken", false, NameHint::Secret),
    ("identitytoken", false, NameHint::Secret),
    ("registrytoken", false, NameHint::Secret),
    ("bearertoken", false, NameHint::Secret),
    ("oauthtoken", false, NameHint::Secret),
    ("sastoken", false, NameHint::Secret),
    ("idtoken", false, NameHint::Secret),
    ("bottoken", false, NameHint::Secret),
    ("instrumentationkey", false, NameHint::Secret),
    ("clientkeydata", false, NameHint::Secret),
    ("jwt", true, NameHint::Secret),
    ("pat", true, NameHint::Secret),
    ("erlangcookie", false, NameHint::Secret),
    ("honeycombteam", false, NameHint::Secret),
    ("pagerdutyroutingkey", false, NameHint::Secret),
    ("integrationkey", false, NameHint::Secret),
    ("pepper", true, NameHint::MaybeKey),
    ("creds", true, NameHint::MaybeKey),
    ("amzsignature", false, NameHint::Secret),
    ("googsignature", false, NameHint::Secret),
    ("password", false, NameHint::Password),
    ("passwort", false, NameHint::Password),
    ("passwd", false, NameHint::Password),
    ("passphrase", false, NameHint::Password),
    ("passcode", true, NameHint::Password),
    ("pwd", false, NameHint::MaybePassword),
    ("pass", true, NameHint::MaybePassword),
    ("secret", false, NameHint::Secret),
    ("secrets", true, NameHint::Secret),
    ("token", true, NameHint::Secret),
    ("authtoken", false, NameHint::Secret),
    ("accesstoken", false, NameHint::Secret),
    ("refreshtoken", false, NameHint::Secret),
    ("apitoken", false, NameHint::Secret),
    ("apikey", false, NameHint::Secret),
    ("secretkey", false, NameHint::Secret),
    ("secretkeybase", false, NameHint::Secret),
    ("accesskey", false, NameHint::Secret),
    ("privatekey", false, NameHint::Secret),
    ("authkey", false, NameHint::Secret),
    ("signingkey", false, NameHint::Secret),
    ("encryptionkey", false, NameHint::Secret),
    ("masterkey", false, NameHint::Secret),
    ("webhookkey", false, NameHint::Secret),
    ("servicekey", false, NameHint::Secret),
    ("adminkey", false, NameHint::Secret),
    ("licensekey", false, NameHint::Secret),
    ("subscriptionkey", false, NameHint::Secret),
    ("consumerkey", false, NameHint::Secret),
    ("deploykey", false, NameHint::Secret),
    ("appkey", true, NameHint::Secret),
    ("connectionstring", false, NameHint::MaybeKey),
    ("credential", false, NameHint::MaybeKey),
    ("credentials", false, NameHint::MaybeKey),
    ("key", true, NameHint::MaybeKey),
    ("salt", true, NameHint::MaybeKey),
    ("proxyauthorization", false, NameHint::Authorization),
    ("authorization", true, NameHint::Authorization),
    ("setcookie", true, NameHint::SetCookie),
    ("cookie", true, NameHint::Cookie),
    ("phpsessid", true, NameHint::Session),
    ("jsessionid", true, NameHint::Session),
    ("aspnetsessionid", true, NameHint::Session),
    ("connectsid", true, NameHint::Session),
    ("sessionid", true, NameHint::Session),
    ("sessiontoken", true, NameHint::Session),
    ("sid", true, NameHint::Session),
];

/// The last two letters of all endings.
const LAST_TWO: &[[u8; 2]] = &[
    *b"ig", *b"ey", *b"en", *b"et", *b"rd", *b"wd", *b"rt", *b"se", *b"de", *b"ss", *b"ts", *b"ng",
    *b"al", *b"ls", *b"lt", *b"on", *b"ie", *b"id", *b"re", *b"sk", *b"th", *b"na", *b"ha", *b"ic",
    *b"ds", *b"ue", *b"ta", *b"wt", *b"er", *b"at", *b"am",
];

/// Words that make a following token or key harmless.
const HARMLESS: &[&str] = &[
    "page",
    "pagination",
    "next",
    "continuation",
    "cancellation",
    "cancel",
    "eos",
    "bos",
    "pad",
    "unk",
    "mask",
    "sep",
    "stop",
    "syntax",
    "sync",
    "design",
    "public",
    "primary",
    "foreign",
    "sort",
    "partition",
    "cache",
    "index",
    "map",
    "idempotency",
    "i18n",
    "translation",
    "object",
    "row",
    "hot",
    "short",
    "arrow",
    "enter",
    "registry",
    "react",
    "query",
    "storage",
    "group",
    "routing",
    "publishable",
    "lookup",
    "hash",
    "unique",
];

/// Returns what a name indicates, if anything.
pub(super) fn hint(name: &[u8]) -> Option<NameHint> {
    let end = name.iter().rposition(u8::is_ascii_alphabetic)? + 1;
    let name = name.get(..end)?;
    // Bundler names a gem server, with two underscores for each dot; the value is its login.
    if name.starts_with(b"BUNDLE_") && name.windows(2).any(|two| two == b"__") {
        return Some(NameHint::Secret);
    }
    // Most names end differently.
    let [.., a, b] = name else { return None };
    let last = [a.to_ascii_lowercase(), b.to_ascii_lowercase()];
    if !LAST_TWO.contains(&last) {
        return None;
    }
    let mut best: Option<(usize, usize, NameHint)> = None;
    for (ending, needs_joint, hint) in ENDINGS {
        if ending.as_bytes().ends_with(&last)
            && let Some(start) = ends_in(name, ending)
            && (!needs_joint || begins_word(name, start))
            && best.is_none_or(|(length, _, _)| ending.len() > length)
        {
            best = Some((ending.len(), start, *hint));
        }
    }
    let (_, start, hint) = best?;
    let doubtful = matches!(hint, NameHint::Secret | NameHint::MaybeKey | NameHint::MaybePassword);
    let is_harmless = doubtful
        && HARMLESS
            .iter()
            .any(|word| ends_in(name.get(..start).unwrap_or_default(), word).is_some());
    (!is_harmless).then_some(hint)
}

/// Returns where the ending begins, ignoring separators and case.
fn ends_in(name: &[u8], ending: &str) -> Option<usize> {
    let mut at = name.len();
    for wanted in ending.bytes().rev() {
        loop {
            at = at.checked_sub(1)?;
            match name.get(at)? {
                b'_' | b'-' | b'.' if at + 1 < name.len() => {}
                found if found.to_ascii_lowercase() == wanted => break,
                b'_' | b'-' | b'.' => {}
                _ => return None,
            }
        }
    }
    Some(at)
}

fn begins_word(name: &[u8], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).and_then(|at| name.get(at)) else { return true };
    let here = name.get(start).copied().unwrap_or(0);
    !before.is_ascii_alphabetic() || (here.is_ascii_uppercase() && before.is_ascii_lowercase())
}

/// Whether a name is written like an environment variable.
pub(super) fn is_env_style(name: &[u8]) -> bool {
    name.len() > 3
        && name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_is_reachable() {
        for (ending, _, _) in ENDINGS {
            assert!(LAST_TWO.iter().any(|two| ending.as_bytes().ends_with(two)), "{ending}");
        }
    }

    #[test]
    fn names_are_judged_by_their_endings() {
        for (name, expected) in [
            ("password", Some(NameHint::Password)),
            ("DB_PASSWORD", Some(NameHint::Password)),
            ("userPassword2", Some(NameHint::Password)),
            ("PGPASSWORD", Some(NameHint::Password)),
            ("apiKey", Some(NameHint::Secret)),
            ("x-api-key", Some(NameHint::Secret)),
            ("client_secret", Some(NameHint::Secret)),
            ("AWS_SECRET_ACCESS_KEY", Some(NameHint::Aws)),
            ("AccountKey", Some(NameHint::Azure)),
            ("STRIPE_KEY", Some(NameHint::MaybeKey)),
            ("Set-Cookie", Some(NameHint::SetCookie)),
            ("nextPageToken", None),
            ("monkey", None),
            ("max_tokens", None),
            ("token_count", None),
            ("compass", None),
            ("primary_key", None),
            ("", None),
            ("___", None),
        ] {
            assert_eq!(hint(name.as_bytes()), expected, "{name}");
        }
    }
}
