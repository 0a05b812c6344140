//! Normalizes the remote addresses of a repository.

/// The maximum number of remotes per repository.
const MOST_REMOTES: usize = 100;

/// Reads the remotes from a configuration; sorted, without duplicates.
pub(super) fn remotes(config: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_remote = false;
    for line in config.lines() {
        let mut line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            in_remote = header.get(..6).is_some_and(|name| name.eq_ignore_ascii_case("remote"))
                && header.get(6..).is_some_and(|rest| rest.trim_start().starts_with('"'));
            // A key may follow on the same line.
            line = header.rsplit_once(']').map_or("", |(_, rest)| rest.trim());
        }
        if in_remote
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("url")
        {
            found.extend(normalized(&plain(value)));
        }
    }
    found.sort();
    found.dedup();
    found.truncate(MOST_REMOTES);
    found
}

/// Removes quotes, escapes and comments from a value.
fn plain(value: &str) -> String {
    let mut plain = String::new();
    let mut in_quotes = false;
    let mut chars = value.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => in_quotes = !in_quotes,
            '\\' => plain.extend(chars.next()),
            '#' | ';' if !in_quotes => break,
            c => plain.push(c),
        }
    }
    plain.trim_end().to_owned()
}

/// Returns `host/path`, or the whole path of a repository on this machine.
///
/// Users, secrets and ports are removed. Addresses that could hide a secret elsewhere give `None`.
fn normalized(url: &str) -> Option<String> {
    let is_odd = url.contains(|c: char| c.is_whitespace() || c.is_control());
    if is_odd || url.contains("::") {
        // The address for a helper can be a whole command.
        return None;
    }
    let location = match url.split_once("://") {
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") => path.to_owned(),
        Some((_, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            remote(authority, path)?
        }
        None => match url.split_once(':') {
            // A Windows drive is not a host.
            Some((authority, path)) if authority.len() > 1 && !authority.contains(['/', '\\']) => {
                remote(authority, path)?
            }
            _ => url.to_owned(),
        },
    };
    let trimmed = location.trim_end_matches('/');
    let trimmed = trimmed.strip_suffix(".git").unwrap_or(trimmed).trim_end_matches('/');
    // A path relative to the repository means nothing elsewhere.
    (!trimmed.is_empty() && !trimmed.starts_with('.')).then(|| trimmed.to_owned())
}

/// Joins host and path, if it is certain which is which.
fn remote(authority: &str, path: &str) -> Option<String> {
    // Otherwise the part before the sign may be the rest of a secret with a separator in it.
    if path.contains('@') {
        return None;
    }
    // A query may contain a token.
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    let host = host(authority).filter(|_| !path.is_empty())?;
    Some(format!("{host}/{path}"))
}

/// Returns the host of `[user[:secret]@]host[:port]`.
fn host(authority: &str) -> Option<String> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = host.split_once(':').unwrap_or((host, ""));
    // A port that is not a number is part of something else.
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    (is_port && !host.is_empty()).then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_repository_has_one_form() {
        for url in [
            "git@github.com:a/b.git",
            "https://github.com/a/b.git",
            "https://user:secret@github.com/a/b.git",
            "https://user:sec@ret@github.com/a/b/",
            "https://GitHub.com:443/a/b",
            "https://github.com/a/b.git?token=secret",
            "ssh://git@github.com/a/b.git",
            "ssh://git@github.com:22//a/b.git/",
            "git://github.com/a/b",
            "github.com:/a/b.git",
        ] {
            assert_eq!(normalized(url).as_deref(), Some("github.com/a/b"), "{url}");
        }
        for (url, expected) in [
            ("/srv/git/b.git", Some("/srv/git/b")),
            ("file:///srv/git/b.git", Some("/srv/git/b")),
            (r"C:\git\b", Some(r"C:\git\b")),
            ("../b", None),
            ("", None),
            ("https://user:se/cret@github.com/a/b", None),
            ("ext::sh -c secret", None),
            ("https://github.com", None),
            ("/", None),
        ] {
            assert_eq!(normalized(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn remotes_are_read_from_their_sections_only() {
        let config = "[core]\n\turl = https://no.example/a\n[Remote \"origin\"]\n\tURL = git@github.com:a/b.git ; mine\n\
                      \tpushurl = https://no.example/b\n[remote \"fork\"] url = \"https://x:y@github.com/c/d#e\"\n\
                      [branch \"main\"]\n\tremote = origin\n[remotes]\nurl = https://no.example/c\n[url \"x\"]\nurl=y\n\
                      [remote \"same\"]\nurl=https://github.com/a/b\n[remote \"torn\"\nurl=https://github.com/e/f";
        assert_eq!(remotes(config), ["github.com/a/b", "github.com/c/d", "github.com/e/f"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in any::<String>()) {
            let _found = remotes(&text);
            let _found = remotes(&format!("[remote \"o\"]\nurl = {text}"));
        }

        #[test]
        fn a_secret_is_never_kept(secret in "[a-z0-9/:@?#.]{0,3}SECRET[a-z0-9/:@?#.]{0,3}", scheme in "https|ssh|git") {
            let found = normalized(&format!("{scheme}://user:{secret}@github.com/a/b.git"));
            prop_assert!(found.iter().all(|found| !found.contains("SECRET")), "{found:?}");
            let found = normalized(&format!("user:{secret}@github.com:a/b.git"));
            prop_assert!(found.iter().all(|found| !found.contains("SECRET")), "{found:?}");
        }
    }
}
