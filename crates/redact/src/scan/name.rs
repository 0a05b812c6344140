//! Whether the name of a value says that it is a secret.

/// What a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// People choose it: short, and often a word.
    Password,
    /// `pass`, `pwd`: often something else.
    MaybePassword,
    /// Machines make it: long, and no word.
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
    /// Words that open a wallet or a key.
    Phrase,
    /// `value`, `default`: what it is stands before.
    Elsewhere,
}

/// The longest name.
pub(super) const LONGEST: usize = 64;

/// What a name ends in, in lower case and without joints; whether a word must begin there; what it says.
const ENDINGS: &[(&str, bool, Says)] = &[
    ("awssecretaccesskey", false, Says::Aws),
    ("secretaccesskey", false, Says::Aws),
    ("sharedaccesskey", false, Says::Azure),
    ("accountkey", true, Says::Azure),
    ("sharedaccesssignature", true, Says::Azure),
    ("sig", true, Says::Azure),
    ("azurestoragekey", false, Says::Azure),
    ("storageaccountkey", false, Says::Azure),
    ("storageaccesskey", false, Says::Azure),
    ("psk", true, Says::Password),
    ("requirepass", true, Says::Password),
    ("masterauth", true, Says::Password),
    ("storepass", true, Says::Password),
    ("keypass", true, Says::Password),
    ("kennwort", false, Says::Password),
    ("motdepasse", false, Says::Password),
    ("contrasena", false, Says::Password),
    ("senha", true, Says::Password),
    ("mnemonic", true, Says::Phrase),
    ("seedphrase", false, Says::Phrase),
    ("recoveryphrase", false, Says::Phrase),
    ("seedwords", false, Says::Phrase),
    ("auth", true, Says::Login),
    ("value", true, Says::Elsewhere),
    ("default", true, Says::Elsewhere),
    ("defaultvalue", false, Says::Elsewhere),
    ("awssessiontoken", false, Says::Secret),
    ("securitytoken", false, Says::Secret),
    ("identitytoken", false, Says::Secret),
    ("registrytoken", false, Says::Secret),
    ("bearertoken", false, Says::Secret),
    ("oauthtoken", false, Says::Secret),
    ("sastoken", false, Says::Secret),
    ("idtoken", false, Says::Secret),
    ("bottoken", false, Says::Secret),
    ("instrumentationkey", false, Says::Secret),
    ("clientkeydata", false, Says::Secret),
    ("jwt", true, Says::Secret),
    ("pepper", true, Says::MaybeKey),
    ("creds", true, Says::MaybeKey),
    ("amzsignature", false, Says::Secret),
    ("googsignature", false, Says::Secret),
    ("password", false, Says::Password),
    ("passwort", false, Says::Password),
    ("passwd", false, Says::Password),
    ("passphrase", false, Says::Password),
    ("passcode", true, Says::Password),
    ("pwd", false, Says::MaybePassword),
    ("pass", true, Says::MaybePassword),
    ("secret", false, Says::Secret),
    ("secrets", true, Says::Secret),
    ("token", true, Says::Secret),
    ("authtoken", false, Says::Secret),
    ("accesstoken", false, Says::Secret),
    ("refreshtoken", false, Says::Secret),
    ("apitoken", false, Says::Secret),
    ("apikey", false, Says::Secret),
    ("secretkey", false, Says::Secret),
    ("secretkeybase", false, Says::Secret),
    ("accesskey", false, Says::Secret),
    ("privatekey", false, Says::Secret),
    ("authkey", false, Says::Secret),
    ("signingkey", false, Says::Secret),
    ("encryptionkey", false, Says::Secret),
    ("masterkey", false, Says::Secret),
    ("webhookkey", false, Says::Secret),
    ("servicekey", false, Says::Secret),
    ("adminkey", false, Says::Secret),
    ("licensekey", false, Says::Secret),
    ("subscriptionkey", false, Says::Secret),
    ("consumerkey", false, Says::Secret),
    ("deploykey", false, Says::Secret),
    ("appkey", true, Says::Secret),
    ("connectionstring", false, Says::MaybeKey),
    ("credential", false, Says::MaybeKey),
    ("credentials", false, Says::MaybeKey),
    ("key", true, Says::MaybeKey),
    ("salt", true, Says::MaybeKey),
    ("proxyauthorization", false, Says::Authorization),
    ("authorization", true, Says::Authorization),
    ("setcookie", true, Says::SetCookie),
    ("cookie", true, Says::Cookie),
    ("phpsessid", true, Says::Session),
    ("jsessionid", true, Says::Session),
    ("aspnetsessionid", true, Says::Session),
    ("connectsid", true, Says::Session),
    ("sessionid", true, Says::Session),
    ("sessiontoken", true, Says::Session),
    ("sid", true, Says::Session),
];

/// The last two letters of all endings.
const LAST_TWO: &[[u8; 2]] = &[
    *b"ig", *b"ey", *b"en", *b"et", *b"rd", *b"wd", *b"rt", *b"se", *b"de", *b"ss", *b"ts", *b"ng",
    *b"al", *b"ls", *b"lt", *b"on", *b"ie", *b"id", *b"re", *b"sk", *b"th", *b"na", *b"ha", *b"ic",
    *b"ds", *b"ue", *b"ta", *b"wt", *b"er",
];

/// Tokens and keys of another sort stand behind these words.
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

/// Returns what a name says; nothing for most.
pub(super) fn says(name: &[u8]) -> Option<Says> {
    let end = name.iter().rposition(u8::is_ascii_alphabetic)? + 1;
    let name = name.get(..end)?;
    // Most names end otherwise.
    let [.., a, b] = name else { return None };
    let last = [a.to_ascii_lowercase(), b.to_ascii_lowercase()];
    if !LAST_TWO.contains(&last) {
        return None;
    }
    let mut best: Option<(usize, usize, Says)> = None;
    for (ending, needs_joint, says) in ENDINGS {
        if ending.as_bytes().ends_with(&last)
            && let Some(start) = ends_in(name, ending)
            && (!needs_joint || begins_word(name, start))
            && best.is_none_or(|(length, _, _)| ending.len() > length)
        {
            best = Some((ending.len(), start, *says));
        }
    }
    let (_, start, says) = best?;
    let doubtful = matches!(says, Says::Secret | Says::MaybeKey | Says::MaybePassword);
    let is_harmless = doubtful
        && HARMLESS
            .iter()
            .any(|word| ends_in(name.get(..start).unwrap_or_default(), word).is_some());
    (!is_harmless).then_some(says)
}

/// Returns where the ending begins, joints and case left out of account.
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

/// Whether a name is written as those of environment variables are.
pub(super) fn is_shouted(name: &[u8]) -> bool {
    name.len() > 3
        && name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ending_is_out_of_reach() {
        for (ending, _, _) in ENDINGS {
            assert!(LAST_TWO.iter().any(|two| ending.as_bytes().ends_with(two)), "{ending}");
        }
    }

    #[test]
    fn names_tell_by_how_they_end() {
        for (name, told) in [
            ("password", Some(Says::Password)),
            ("DB_PASSWORD", Some(Says::Password)),
            ("userPassword2", Some(Says::Password)),
            ("PGPASSWORD", Some(Says::Password)),
            ("apiKey", Some(Says::Secret)),
            ("x-api-key", Some(Says::Secret)),
            ("client_secret", Some(Says::Secret)),
            ("AWS_SECRET_ACCESS_KEY", Some(Says::Aws)),
            ("AccountKey", Some(Says::Azure)),
            ("STRIPE_KEY", Some(Says::MaybeKey)),
            ("Set-Cookie", Some(Says::SetCookie)),
            ("nextPageToken", None),
            ("monkey", None),
            ("max_tokens", None),
            ("token_count", None),
            ("compass", None),
            ("primary_key", None),
            ("", None),
            ("___", None),
        ] {
            assert_eq!(says(name.as_bytes()), told, "{name}");
        }
    }
}
