//! The files of the page, embedded in the program.

use std::sync::{LazyLock, OnceLock};

use axum::body::{Body, Bytes};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use sha2::{Digest as _, Sha256};

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The start page.
const INDEX: &str = "index.html";
/// Where files are.
const FOLDER: &str = "\"/assets/";

/// How hard files are compressed: all of them in a few milliseconds.
const EFFORT: i32 = 9;
/// Smaller files are sent as they are.
const SMALL: usize = 1024;

/// A file as it is served.
#[derive(Debug)]
struct Asset {
    path: &'static str,
    plain: Form,
    /// Compressed when the first browser asks for it. `None` if that does not make it smaller.
    packed: OnceLock<Option<Form>>,
}

/// One of the two forms of a file.
#[derive(Debug)]
struct Form {
    body: Bytes,
    tag: HeaderValue,
}

impl Form {
    fn new(body: Bytes) -> Self {
        let tag = format!("\"{}\"", hex(&Sha256::digest(&body), 16));
        let tag = HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"0\""));
        Self { body, tag }
    }
}

impl Asset {
    fn packed(&self) -> Option<&Form> {
        let plain = &self.plain.body;
        let pack = || {
            let packed = zstd::bulk::compress(plain, EFFORT).ok()?;
            (plain.len() >= SMALL && packed.len() < plain.len()).then(|| Form::new(packed.into()))
        };
        self.packed.get_or_init(pack).as_ref()
    }
}

/// All files.
#[derive(Debug)]
struct Assets {
    /// The same for the same files: addresses with it never change their content.
    version: String,
    files: Vec<Asset>,
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    let mut all = Sha256::new();
    for (path, bytes) in FILES {
        all.update(path.as_bytes());
        all.update([0]);
        all.update(bytes);
    }
    let version = hex(&all.finalize(), 8);
    let asset = |(path, bytes): &(&'static str, &'static [u8])| {
        let body =
            if *path == INDEX { versioned(bytes, &version) } else { Bytes::from_static(bytes) };
        Asset { path, plain: Form::new(body), packed: OnceLock::new() }
    };
    let files = FILES.iter().map(asset).collect();
    Assets { version, files }
});

/// Returns the first bytes of a hash as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8], many: usize) -> String {
    use std::fmt::Write as _;
    bytes.iter().take(many).fold(String::new(), |mut text, byte| {
        // Writing to memory cannot fail.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// The start page names its files with the version, and they name each other by relative paths.
fn versioned(page: &[u8], version: &str) -> Bytes {
    let page = String::from_utf8_lossy(page);
    Bytes::from(page.replace(FOLDER, &format!("{FOLDER}{version}/")))
}

/// Whether an address is one of the page's: the script shows what it names.
pub(crate) fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    let rest = path.trim_start_matches('/').split('/').skip(1).any(|part| !part.is_empty());
    match first {
        "" | "sessions" | "search" | "live" | "projects" | "stats" | "problems" | "history" => {
            !rest
        }
        "s" => true,
        _ => false,
    }
}

/// Returns the start page.
pub(crate) fn index(headers: &HeaderMap) -> Response<Body> {
    file(INDEX, headers, false)
}

/// Returns a file below `/assets/`, with or without the version in front.
pub(crate) fn below(path: &str, headers: &HeaderMap) -> Response<Body> {
    let versioned = path.split_once('/').filter(|(first, _)| *first == ASSETS.version);
    match versioned {
        Some((_, path)) => file(path, headers, true),
        None => file(path, headers, false),
    }
}

fn file(path: &str, headers: &HeaderMap, is_versioned: bool) -> Response<Body> {
    let Some(asset) = ASSETS.files.iter().find(|asset| asset.path == path) else {
        let mut missing = Response::new(Body::from("not found\n"));
        *missing.status_mut() = StatusCode::NOT_FOUND;
        missing.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        return missing;
    };
    let packed = if takes_zstd(headers) { asset.packed() } else { None };
    let Form { body, tag } = packed.unwrap_or(&asset.plain);
    let is_known = headers.get_all(IF_NONE_MATCH).iter().any(|known| known == tag);
    let mut answer = Response::new(if is_known { Body::empty() } else { Body::from(body.clone()) });
    if is_known {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let cache = if is_versioned { "private, max-age=31536000, immutable" } else { "no-cache" };
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(ETAG, tag.clone());
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if packed.is_some() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("zstd"));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
    answer
}

/// Whether a browser can read zstd.
fn takes_zstd(headers: &HeaderMap) -> bool {
    let takes = |coding: &str| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case("zstd") && weight.is_none_or(|weight| weight > 0.0)
    };
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(takes)
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_named_by_the_address_bar_and_nothing_else_is() {
        for page in ["/", "/sessions", "/s/gemini/279d2ba9", "/live", "/history"] {
            assert!(is_page(page), "{page}");
        }
        for other in ["/sessions/x", "/nothing", "/assets/app.js", "/api/list", "/favicon.ico"] {
            assert!(!is_page(other), "{other}");
        }
    }

    #[test]
    fn the_start_page_names_its_files_with_the_version() {
        let page = versioned(b"<script src=\"/assets/app.js\">", "abc");
        assert_eq!(page, "<script src=\"/assets/abc/app.js\">");
    }

    #[test]
    fn every_file_that_the_start_page_names_is_there() {
        let page = ASSETS.files.iter().find(|asset| asset.path == INDEX).unwrap();
        let page = std::str::from_utf8(&page.plain.body).unwrap();
        let named: Vec<&str> =
            page.split(FOLDER).skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(named.len() > 10, "{named:?}");
        for file in named {
            assert_eq!(below(file, &HeaderMap::new()).status(), StatusCode::OK, "{file}");
        }
    }

    #[test]
    fn what_is_known_is_not_sent_again() {
        let first = index(&HeaderMap::new());
        let tag = first.headers().get(ETAG).unwrap().clone();
        let again = index(&HeaderMap::from_iter([(IF_NONE_MATCH, tag)]));
        assert_eq!((first.status(), again.status()), (StatusCode::OK, StatusCode::NOT_MODIFIED));
        assert_eq!(below("missing.js", &HeaderMap::new()).status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn files_are_compressed_for_those_who_can_read_that() {
        let asked = |accepted: &'static str| {
            let accepted = HeaderValue::from_static(accepted);
            HeaderMap::from_iter([(ACCEPT_ENCODING, accepted)])
        };
        for refused in ["gzip, br", "zstd;q=0", "", "xzstd"] {
            let plain = below("js/main.js", &asked(refused));
            assert!(plain.headers().get(CONTENT_ENCODING).is_none(), "{refused}");
        }
        let packed = below("js/main.js", &asked("gzip, deflate, br, zstd"));
        assert_eq!(packed.headers().get(CONTENT_ENCODING).unwrap(), "zstd");
        assert_eq!(packed.headers().get(VARY).unwrap(), "accept-encoding");
        let plain = below("js/main.js", &HeaderMap::new());
        assert_ne!(packed.headers().get(ETAG), plain.headers().get(ETAG));
        let asset = ASSETS.files.iter().find(|asset| asset.path == "js/main.js").unwrap();
        let body = &asset.packed().unwrap().body;
        assert_eq!(zstd::decode_all(&body[..]).unwrap(), asset.plain.body);
        assert!(below("icon.svg", &asked("zstd")).headers().get(CONTENT_ENCODING).is_none());
    }
}
