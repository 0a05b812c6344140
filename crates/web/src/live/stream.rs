//! A stream of events to one reader. It is asked for more only when the reader has taken what was sent, so that a slow one holds
//! nobody and nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Request, Response};
use futures_util::stream;
use serde_json::json;
use tokio::sync::watch;

use super::{Event, Listener};
use crate::app::App;
use crate::params::Params;
use crate::server::stopped;

/// The longest time between two messages, even if nothing happens.
const PULSE: Duration = Duration::from_secs(15);

/// One stream.
struct Reader {
    app: Arc<App>,
    _listener: Listener,
    newest: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    /// The number of the last event that was sent.
    at: u64,
    /// What is sent first.
    first: Option<String>,
}

/// Answers `/api/watch`.
pub(crate) async fn stream(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let params = Params::read(request.uri().query());
    let header = request.headers().get("last-event-id").and_then(|id| id.to_str().ok());
    let after = params.get("after").or(header).and_then(|id| id.parse::<u64>().ok());
    let listener = Listener::new(&app);
    let newest = app.hub.newest.subscribe();
    let at = app.hub.newest();
    let (at, is_lost) = match after {
        None => (at, false),
        Some(after) if app.hub.behind(after).is_some() => (after, false),
        Some(_) => (at, true),
    };
    let mut first = event(at, "hello", &hello(&app).to_string());
    if is_lost {
        first.push_str(&event(at, "reset", "{}"));
    }
    let stopping = app.stopping.subscribe();
    let reader = Reader { app, _listener: listener, newest, stopping, at, first: Some(first) };
    let body = stream::unfold(reader, |mut reader| async move {
        let text = reader.next().await?;
        Some((Ok::<Bytes, io::Error>(text.into()), reader))
    });
    let mut answer = Response::new(Body::from_stream(body));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    answer
}

fn hello(app: &App) -> serde_json::Value {
    let snapshot = app.known_snapshot();
    json!({
        "number": snapshot.as_ref().map(recount_engine::Snapshot::number),
        "sessions": snapshot.as_ref().map(|snapshot| snapshot.sessions().len()),
        "is_watched": app.is_watched.load(Ordering::Acquire),
        "live": app.hub.board().as_deref(),
    })
}

fn event(id: u64, name: &str, data: &str) -> String {
    format!("id: {id}\nevent: {name}\ndata: {data}\n\n")
}

impl Reader {
    /// Returns what is sent next; `None` when the server ends.
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            self.newest.borrow_and_update();
            match self.app.hub.behind(self.at) {
                None => {
                    self.at = self.app.hub.newest();
                    return Some(event(self.at, "reset", "{}"));
                }
                Some(events) if !events.is_empty() => {
                    let text = |event_: &Event| event(event_.id, event_.name, &event_.data);
                    self.at = events.last().map_or(self.at, |last| last.id);
                    return Some(events.iter().map(text).collect());
                }
                Some(_) => {}
            }
            tokio::select! {
                changed = self.newest.changed() => changed.ok()?,
                () = stopped(&mut self.stopping) => return None,
                () = tokio::time::sleep(PULSE) => return Some(":\n\n".to_owned()),
            }
        }
    }
}
