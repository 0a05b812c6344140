//! Large documents, written piece by piece as the other side reads them.

use std::io::{self, Write};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures_util::stream;
use recount_engine::Cancel;
use tokio::sync::{mpsc, oneshot};

use super::documents;
use crate::app::App;
use crate::failure::ApiError;
use crate::params::Params;
use crate::router::Asked;

/// The size of a piece.
const PIECE: usize = 64 * 1024;
/// Maximum number of pieces that wait to be sent.
const AHEAD: usize = 4;

/// Where a document is written to.
#[derive(Debug)]
pub(crate) struct PieceWriter {
    pieces: mpsc::Sender<Bytes>,
    piece: Vec<u8>,
    /// Told when the first byte is written: until then an error can still be the answer.
    begun: Option<oneshot::Sender<Result<(), ApiError>>>,
}

impl PieceWriter {
    fn send(&mut self) -> io::Result<()> {
        if let Some(begun) = self.begun.take() {
            // If nobody waits any more, the next piece fails.
            let _told = begun.send(Ok(()));
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        self.pieces.blocking_send(piece.into()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts to write a document; returns its body when the first piece is there, or why there is none.
pub(crate) async fn start(
    app: &Arc<App>,
    params: Params,
    path: Vec<String>,
    write: documents::Write,
) -> Result<Body, ApiError> {
    let ended = |_| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "the server ends");
    // Held until the last piece is read.
    let permit = Arc::clone(&app.heavy).acquire_owned().await.map_err(ended)?;
    let (pieces, received) = mpsc::channel(AHEAD);
    let (begun, begins) = oneshot::channel();
    let app = Arc::clone(app);
    tokio::task::spawn_blocking(move || {
        let mut out = PieceWriter { pieces, piece: Vec::with_capacity(PIECE), begun: Some(begun) };
        let cancel = Cancel::default();
        let asked = Asked { app: &app, params: &params, path: &path, cancel: &cancel };
        match write(&asked, &mut out) {
            Ok(()) => {
                let _sent = out.send();
            }
            Err(error) => {
                if let Some(begun) = out.begun.take() {
                    let _told = begun.send(Err(error));
                }
            }
        }
    });
    let early = |_| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "the question ended without an answer")
    };
    begins.await.map_err(early)??;
    let body = stream::unfold((received, permit), |(mut received, permit)| async move {
        let piece = received.recv().await?;
        Some((Ok::<Bytes, io::Error>(piece), (received, permit)))
    });
    Ok(Body::from_stream(body))
}
