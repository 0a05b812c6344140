//! Which address is answered by what.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode};
use axum::response::IntoResponse as _;
use axum::routing::{MethodRouter, get, post};
use recount_engine::Cancel;

use crate::api::{
    changes, command, documents, find, images, index, messages, outline, read, rows, session,
};
use crate::app::{App, ask};
use crate::failure::ApiError;
use crate::params::{Params, decode};
use crate::{assets, live, safety};

/// All routes.
pub(crate) type Routes = Router;

/// The largest body of a request.
const BODY: usize = 64 * 1024;

/// One question.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) app: &'a Arc<App>,
    pub(crate) params: &'a Params,
    /// The parts of the path behind `/api/`, decoded.
    pub(crate) path: &'a [String],
    pub(crate) cancel: &'a Cancel,
}

impl Asked<'_> {
    /// Whether nobody waits for the answer any more.
    pub(crate) fn cancelled(&self) -> bool {
        recount_engine::Progress::is_cancelled(self.cancel)
    }

    /// Returns a part of the path.
    pub(crate) fn part(&self, at: usize) -> &str {
        self.path.get(at).map_or("", String::as_str)
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A document.
    Json(Vec<u8>),
    /// A document that others get, too.
    Shared(Bytes),
    /// Something else, with its type.
    Other(&'static str, Vec<u8>),
}

type Question = fn(&Asked<'_>) -> Result<Answer, ApiError>;
type Request1 = fn(&Asked<'_>, &[u8]) -> Result<Answer, ApiError>;

/// What is read: the path behind `/api/`, and who answers.
pub(crate) const READ: &[(&str, Question)] = &[
    ("hello", documents::hello),
    ("rows", rows::answer),
    ("lost", documents::lost),
    ("search", documents::search),
    ("projects", documents::projects),
    ("stats", documents::stats),
    ("guard", documents::guard),
    ("doctor", documents::doctor),
    ("history", documents::history),
    ("trash", documents::trash),
    ("vault", documents::vault),
    ("live", documents::live),
    ("command", command::answer),
    ("session/{source}/{id}", session::answer),
    ("session/{source}/{id}/outline", outline::answer),
    ("session/{source}/{id}/index", index::answer),
    ("session/{source}/{id}/messages", messages::answer),
    ("session/{source}/{id}/find", find::answer),
    ("session/{source}/{id}/record", session::record),
    ("session/{source}/{id}/image/{hash}", images::answer),
];

/// What is streamed: the path behind `/api/`, the type, and who writes.
pub(crate) const STREAMED: &[(&str, &str, documents::Write)] = &[
    ("list", "application/json", documents::list),
    ("show/{source}/{id}", "application/json", documents::show),
    ("replay", "application/x-ndjson", documents::replay),
];

/// What is changed.
pub(crate) const CHANGED: &[(&str, Request1)] =
    &[("plan", changes::plan), ("apply", changes::apply), ("labels", changes::labels)];

/// What is noted in recount's own data, with or without `--changes`.
pub(crate) const NOTED: &[(&str, Request1)] = &[("read", read::mark)];

/// Makes the routes.
pub(crate) fn routes(app: &Arc<App>) -> Routes {
    let mut routes = Router::new();
    for (path, question) in READ {
        routes = routes.route(&format!("/api/{path}"), reading(*question));
    }
    for (path, kind, write) in STREAMED {
        routes = routes.route(&format!("/api/{path}"), streaming(kind, *write));
    }
    for (path, request) in CHANGED {
        routes = routes.route(&format!("/api/{path}"), changing(*request));
    }
    for (path, request) in NOTED {
        routes = routes.route(&format!("/api/{path}"), noting(*request));
    }
    routes
        .route("/api/watch", get(live::stream))
        .route(safety::EXCHANGE, reading(documents::token))
        .fallback(page)
        .method_not_allowed_fallback(not_allowed)
        .with_state(Arc::clone(app))
}

fn reading(question: Question) -> MethodRouter<Arc<App>> {
    get(move |State(app): State<Arc<App>>, request: Request<Body>| async move {
        let (params, path) = parts(&request);
        let answer = ask(&app, move |app, cancel| {
            question(&Asked { app, params: &params, path: &path, cancel })
        });
        respond(&app, answer.await)
    })
}

fn changing(question: Request1) -> MethodRouter<Arc<App>> {
    post(move |State(app): State<Arc<App>>, request: Request<Body>| async move {
        if !app.changes {
            let refused = ApiError::new(StatusCode::FORBIDDEN, "this server only reads")
                .hint("start it with `recount serve --changes`");
            return refused.into_response();
        }
        posted(&app, request, question).await
    })
}

fn noting(question: Request1) -> MethodRouter<Arc<App>> {
    post(move |State(app): State<Arc<App>>, request: Request<Body>| async move {
        posted(&app, request, question).await
    })
}

/// Answers a request with a body.
async fn posted(app: &Arc<App>, request: Request<Body>, question: Request1) -> Response<Body> {
    let is_json = request.headers().get(CONTENT_TYPE).is_some_and(|kind| {
        kind.to_str().is_ok_and(|kind| kind.split(';').next() == Some("application/json"))
    });
    if !is_json {
        return ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body must be application/json",
        )
        .into_response();
    }
    let (params, path) = parts(&request);
    let body = match body(request).await {
        Ok(body) => body,
        Err(error) => return error.into_response(),
    };
    let answer = ask(app, move |app, cancel| {
        question(&Asked { app, params: &params, path: &path, cancel }, &body)
    });
    respond(app, answer.await)
}

/// Reads a body, unless it is too large or takes too long.
async fn body(request: Request<Body>) -> Result<Bytes, ApiError> {
    let too_large =
        || ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than 64 KB");
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if length.and_then(|length| length.parse::<usize>().ok()).is_some_and(|length| length > BODY) {
        return Err(too_large());
    }
    let read = axum::body::to_bytes(request.into_body(), BODY);
    match tokio::time::timeout(std::time::Duration::from_secs(30), read).await {
        Ok(body) => body.map_err(|_| too_large()),
        Err(_) => Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body did not come")),
    }
}

fn streaming(kind: &'static str, write: documents::Write) -> MethodRouter<Arc<App>> {
    get(move |State(app): State<Arc<App>>, request: Request<Body>| async move {
        let (params, path) = parts(&request);
        match crate::api::streamed::start(&app, params, path, write).await {
            Ok(body) => {
                let mut answer = Response::new(body);
                answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
                answer
            }
            Err(error) => error.masked(app.mask).into_response(),
        }
    })
}

fn parts(request: &Request<Body>) -> (Params, Vec<String>) {
    let path = request.uri().path().strip_prefix("/api/").unwrap_or_default();
    (Params::read(request.uri().query()), path.split('/').map(decode).collect())
}

fn respond(app: &App, answer: Result<Answer, ApiError>) -> Response<Body> {
    let (kind, body) = match answer {
        Ok(Answer::Json(text)) => ("application/json", Body::from(app.mask.document(text))),
        Ok(Answer::Shared(text)) if app.mask.is_nothing() => ("application/json", Body::from(text)),
        Ok(Answer::Shared(text)) => {
            ("application/json", Body::from(app.mask.document(text.to_vec())))
        }
        Ok(Answer::Other(kind, bytes)) => (kind, Body::from(bytes)),
        Err(error) => return error.masked(app.mask).into_response(),
    };
    let mut answer = Response::new(body);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// Answers every address that is not of the API.
async fn page(request: Request<Body>) -> Response<Body> {
    let path = request.uri().path();
    if path == "/api" || path.starts_with("/api/") {
        return ApiError::missing("there is no such address").into_response();
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return not_allowed().await;
    }
    match path.strip_prefix("/assets/") {
        Some(file) => assets::below(file, request.headers()),
        None if assets::is_page(path) => assets::index(request.headers()),
        None => assets::below("", request.headers()),
    }
}

async fn not_allowed() -> Response<Body> {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this method is not allowed here").into_response()
}

/// Adds what every answer has.
pub(crate) fn finish(mut answer: Response<Body>, is_api: bool) -> Response<Body> {
    let headers = answer.headers_mut();
    safety::add_headers(headers);
    if is_api {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    answer
}
