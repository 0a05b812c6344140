//! Who may ask: checked before anything else, for every route and method.
//!
//! Any page in the browser can send requests to a port of this machine. The exact `Host` stops names that were rebound to this
//! address, `Origin` and `Sec-Fetch-Site` stop other pages, and the token stops everybody else.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};

use crate::assets::hex;
use crate::failure::ApiError;

/// Maximum number of wrong tokens in a minute.
const WRONG: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// How long a ticket is good.
const TICKET: Duration = Duration::from_secs(120);
/// Where a ticket is exchanged for the token.
pub(crate) const EXCHANGE: &str = "/api/token";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The headers of every answer.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// The secret that every request for data carries.
#[derive(Clone)]
pub(crate) struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// Makes one of 256 random bits; `None` if the system has no source of randomness.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(hex(&bytes, 32)))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token, in a time that does not depend on how much of it is right.
    fn is(&self, text: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let same_length = u8::from(text.len() != own.len());
        let difference = own
            .iter()
            .enumerate()
            .fold(same_length, |sum, (at, byte)| sum | (byte ^ text.get(at).copied().unwrap_or(0)));
        std::hint::black_box(difference) == 0
    }
}

/// The checks.
#[derive(Debug)]
pub(crate) struct Safety {
    hosts: [String; 3],
    token: Token,
    /// Good for one exchange: other users of the machine may see the command line that opens the browser.
    ticket: Mutex<Option<(Token, Instant)>>,
    wrong: Mutex<VecDeque<Instant>>,
}

impl Safety {
    pub(crate) fn new(port: u16, token: Token) -> Self {
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        Self { hosts, token, ticket: Mutex::default(), wrong: Mutex::default() }
    }

    /// Returns the token, for whoever has exchanged a ticket.
    pub(crate) fn token(&self) -> &str {
        self.token.as_str()
    }

    /// Makes a ticket, which replaces an earlier one; `None` if the system has no source of randomness.
    pub(crate) fn issue_ticket(&self) -> Option<String> {
        let ticket = Token::random()?;
        let text = ticket.as_str().to_owned();
        *self.ticket.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((ticket, Instant::now()));
        Some(text)
    }

    /// Whether a request may go on; if not, the answer.
    pub(crate) fn check(&self, request: &Parts) -> Result<(), ApiError> {
        let headers = &request.headers;
        let host = only(headers, &HOST).and_then(|host| host.to_str().ok());
        let refused = |what: &str| ApiError::new(StatusCode::FORBIDDEN, what);
        let Some(host) = host.filter(|host| self.hosts.iter().any(|own| own == host)) else {
            return Err(refused("this is not the address of this server"));
        };
        // An address in the request line counts as a second host.
        if request.uri.authority().is_some_and(|other| other.as_str() != host) {
            return Err(refused("this is not the address of this server"));
        }
        if headers.contains_key(ORIGIN) {
            let origin = only(headers, &ORIGIN).and_then(|origin| origin.to_str().ok());
            if origin.and_then(|origin| origin.strip_prefix("http://")) != Some(host) {
                return Err(refused("requests of other pages are refused"));
            }
        }
        if headers.contains_key(FETCH_SITE) {
            let site = only(headers, &FETCH_SITE).map(HeaderValue::as_bytes);
            if !matches!(site, Some(b"same-origin" | b"none")) {
                return Err(refused("requests of other pages are refused"));
            }
        }
        let path = request.uri.path();
        if path == EXCHANGE {
            return self.check_ticket(headers);
        }
        if path == "/api" || path.starts_with("/api/") { self.check_token(headers) } else { Ok(()) }
    }

    /// Takes the ticket, if it is the right one.
    fn check_ticket(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let given = only(headers, &AUTHORIZATION).map(HeaderValue::as_bytes);
        let given = given.and_then(|given| given.strip_prefix(b"Ticket "));
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        let is_right = |(ticket, made): &(Token, Instant)| {
            made.elapsed() < TICKET && given.is_some_and(|given| ticket.is(given))
        };
        if ticket.as_ref().is_some_and(is_right) {
            *ticket = None;
            return Ok(());
        }
        drop(ticket);
        Err(self.refused(headers))
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let given = only(headers, &AUTHORIZATION).map(HeaderValue::as_bytes);
        let given = given.and_then(|given| given.strip_prefix(b"Bearer "));
        if given.is_some_and(|given| self.token.is(given)) {
            return Ok(());
        }
        Err(self.refused(headers))
    }

    /// Returns the answer to a request without the right token. Guesses are counted.
    fn refused(&self, headers: &HeaderMap) -> ApiError {
        if headers.contains_key(AUTHORIZATION) {
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            while wrong.front().is_some_and(|first| first.elapsed() > MINUTE) {
                wrong.pop_front();
            }
            if wrong.len() >= WRONG {
                return ApiError::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many wrong tokens; wait a minute",
                );
            }
            wrong.push_back(Instant::now());
        }
        ApiError::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong")
            .hint("open the address that `recount serve` printed")
    }
}

/// Returns the value of a header that is sent exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Adds the headers of every answer.
pub(crate) fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn status(safety: &Safety, path: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        safety.check(&parts).map_or_else(|error| error.status().as_u16(), |()| 200)
    }

    #[test]
    fn only_the_right_token_is_the_token() {
        let token = Token("ab".repeat(32));
        assert!(token.is("ab".repeat(32).as_bytes()));
        for wrong in ["", "ab", &"ab".repeat(31), &"ab".repeat(33), &"cd".repeat(32)] {
            assert!(!token.is(wrong.as_bytes()), "{wrong}");
        }
        let [one, other] = [Token::random().unwrap(), Token::random().unwrap()];
        assert_eq!(one.as_str().len(), 64);
        assert_ne!(one.as_str(), other.as_str());
    }

    #[test]
    fn wrong_tokens_are_slowed_down_and_the_right_one_is_not() {
        let safety = Safety::new(80, Token("x".repeat(64)));
        let host = ("host", "127.0.0.1:80");
        for _ in 0..10 {
            assert_eq!(status(&safety, "/api/hello", &[host, ("authorization", "Bearer no")]), 401);
        }
        assert_eq!(status(&safety, "/api/hello", &[host, ("authorization", "Bearer no")]), 429);
        assert_eq!(status(&safety, "/api/hello", &[host]), 401, "no token is no guess");
        let right = format!("Bearer {}", "x".repeat(64));
        assert_eq!(status(&safety, "/api/hello", &[host, ("authorization", &right)]), 200);
    }

    #[test]
    fn a_ticket_is_good_for_one_exchange_and_nothing_else() {
        let safety = Safety::new(80, Token("x".repeat(64)));
        let host = ("host", "127.0.0.1:80");
        let ask =
            |path: &str, header: &str| status(&safety, path, &[host, ("authorization", header)]);
        assert_eq!(ask(EXCHANGE, "Ticket "), 401, "there is none");
        let first = format!("Ticket {}", safety.issue_ticket().unwrap());
        let second = format!("Ticket {}", safety.issue_ticket().unwrap());
        assert_eq!(ask(EXCHANGE, &first), 401, "a newer one replaces it");
        assert_eq!(ask("/api/hello", &second), 401);
        assert_eq!(ask("/api/hello", &second.replace("Ticket", "Bearer")), 401);
        assert_eq!(ask(EXCHANGE, &format!("Bearer {}", "x".repeat(64))), 401);
        assert_eq!(status(&safety, EXCHANGE, &[("host", "evil"), ("authorization", &second)]), 403);
        assert_eq!(ask(EXCHANGE, &second), 200);
        assert_eq!(ask(EXCHANGE, &second), 401, "it is used up");
    }

    #[test]
    fn a_second_host_is_refused() {
        let safety = Safety::new(80, Token("x".repeat(64)));
        let host = ("host", "127.0.0.1:80");
        assert_eq!(status(&safety, "/", &[host]), 200);
        assert_eq!(status(&safety, "/", &[host, host]), 403);
        assert_eq!(status(&safety, "http://evil.example/", &[host]), 403);
        assert_eq!(status(&safety, "http://127.0.0.1:80/", &[host]), 200);
    }
}
