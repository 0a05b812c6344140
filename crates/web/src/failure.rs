//! Errors of the API: one document, with a status.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use recount_changes::{Error as ChangeError, WriteError};
use recount_display::words;
use recount_engine::Error;
use serde_json::{Map, Value, json};

use crate::mask::Mask;

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    message: String,
    hint: Option<String>,
    /// Other members of the document.
    more: Map<String, Value>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: None, more: Map::new() }
    }

    /// A parameter that is not understood.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.more.insert(key.to_owned(), value);
        self
    }

    /// Hides what must not be seen.
    pub(crate) fn masked(mut self, mask: Mask) -> Self {
        for text in [Some(&mut self.message), self.hint.as_mut()].into_iter().flatten() {
            let mut value = Value::from(std::mem::take(text));
            mask.value(&mut value);
            value.as_str().unwrap_or_default().clone_into(text);
        }
        self.more.values_mut().for_each(|value| mask.value(value));
        self
    }

    #[cfg(test)]
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response<Body> {
        let mut document = json!({
            "schema": "recount.error/1",
            "error": self.message,
            "hint": self.hint,
        });
        if let Some(members) = document.as_object_mut() {
            members.extend(self.more);
        }
        let mut answer = Response::new(Body::from(format!("{document}\n")));
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("60"));
        }
        answer
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::NoSession(_)
            | Error::NoSessions
            | Error::TooShort(_)
            | Error::NoRow(_)
            | Error::NoProject(_) => StatusCode::NOT_FOUND,
            Error::Ambiguous { .. } | Error::AmbiguousProject { .. } => StatusCode::CONFLICT,
            Error::Query { .. } | Error::NotARelease(_) => StatusCode::BAD_REQUEST,
            Error::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.full_message())
    }
}

impl From<ChangeError> for ApiError {
    fn from(error: ChangeError) -> Self {
        let hint = words::change_hint(&error).map(str::to_owned);
        let message = error.full_message();
        let failure = match error {
            ChangeError::Engine(error) => Self::from(error),
            ChangeError::Write(WriteError::Refused(_)) => {
                Self::new(StatusCode::CONFLICT, message.clone()).with("refusal", json!(message))
            }
            _ => Self::new(StatusCode::CONFLICT, message),
        };
        Self { hint: hint.or(failure.hint), ..failure }
    }
}

impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl From<serde_json::Error> for ApiError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}
