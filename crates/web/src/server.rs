//! Listens on loopback, limits connections and time, and ends on a signal.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as Listener};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::api::rows;
use crate::app::App;
use crate::router::{self, Routes};
use crate::safety::{Safety, Token};
use crate::timed::TimedStream;
use crate::{ServeOptions, Served};

/// The ports that are tried if none is given, before any other.
const PORTS: std::ops::RangeInclusive<u16> = 7326..=7335;
/// Maximum number of connections.
const CONNECTIONS: usize = 64;
/// How long a connection may be silent before it is closed.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long open responses may take when the server ends.
const ENDING: Duration = Duration::from_secs(1);
/// The largest request without its body.
const HEAD: usize = 32 * 1024;
/// Maximum number of questions that are answered at once.
const THREADS: usize = 8;
/// The response to connections above the limit.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Why the server cannot start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is in use.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Port {
        /// The port.
        port: u16,
        /// The cause.
        source: io::Error,
    },
    /// There is no source of randomness for the token.
    #[error("the system has no source of randomness for the token")]
    NoToken,
    /// The system refuses something else.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listeners: Vec<Listener>,
    app: Arc<App>,
    port: u16,
    token: Token,
}

impl Server {
    /// Listens on loopback.
    ///
    /// # Errors
    /// If the port is in use, or the system has no source of randomness.
    pub fn bind(served: Served, options: &ServeOptions) -> Result<Self, ServeError> {
        let token = Token::random().ok_or(ServeError::NoToken)?;
        let first = listen(options.port)?;
        let port = first.local_addr()?.port();
        let mut listeners = vec![first];
        // Where there is no such address, the other one does.
        listeners.extend(Listener::bind((Ipv6Addr::LOCALHOST, port)));
        let safety = Safety::new(port, token.clone());
        let app = App::new(served.engine, safety, *options, served.arguments, served.is_demo);
        Ok(Self { listeners, app: Arc::new(app), port, token })
    }

    /// Returns the address to open, with the token where no server and no log sees it.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/#k={}", self.port, self.token.as_str())
    }

    /// Returns an address for a command line, which others may see: it is good once, and for two minutes. The token if there is no
    /// source of randomness.
    pub fn ticket_address(&self) -> String {
        let ticket = self.app.safety.issue_ticket();
        ticket.map_or_else(
            || self.address(),
            |ticket| format!("http://127.0.0.1:{}/#o={ticket}", self.port),
        )
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns what all requests share.
    #[cfg(test)]
    pub(crate) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Answers until a signal ends it.
    ///
    /// # Errors
    /// If the system refuses threads, sockets or signals.
    pub fn run(self) -> Result<(), ServeError> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let stopping = self.app.stopping.clone();
        let watching = std::thread::spawn(move || {
            if signals.forever().next().is_some() {
                stopping.send_replace(true);
            }
        });
        let served = self.serve();
        handle.close();
        let _ended = watching.join();
        served
    }

    /// Answers until the app is told to stop.
    pub(crate) fn serve(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(THREADS)
            .thread_keep_alive(Duration::from_secs(5))
            .build()?;
        // The first answer should wait neither for the disk nor for what the next start of an agent deletes.
        let app = Arc::clone(&self.app);
        std::thread::spawn(move || rows::prepare(&app, &()));
        let served = runtime.block_on(serve(self.listeners, &self.app));
        runtime.shutdown_timeout(ENDING);
        self.app.engine.finish_writing();
        Ok(served?)
    }
}

fn listen(port: Option<u16>) -> Result<Listener, ServeError> {
    let bind = |port: u16| Listener::bind((Ipv4Addr::LOCALHOST, port));
    match port {
        Some(port) => bind(port).map_err(|source| ServeError::Port { port, source }),
        None => match { PORTS }.find_map(|port| bind(port).ok()) {
            Some(listener) => Ok(listener),
            None => bind(0).map_err(|source| ServeError::Port { port: 0, source }),
        },
    }
}

async fn serve(listeners: Vec<Listener>, app: &Arc<App>) -> io::Result<()> {
    let (sender, mut accepted) = mpsc::channel::<TcpStream>(1);
    for listener in listeners {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        tokio::spawn(accept(listener, sender.clone()));
    }
    let routes = router::routes(app);
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    let mut stopping = app.stopping.subscribe();
    loop {
        let stream = tokio::select! {
            stream = accepted.recv() => stream,
            () = stopped(&mut stopping) => None,
        };
        let Some(stream) = stream else { break };
        match Arc::clone(&free).try_acquire_owned() {
            Ok(permit) => {
                tokio::spawn(answer(stream, permit, routes.clone(), Arc::clone(app)));
            }
            Err(_) => {
                // The client may not read it.
                let _written = stream.try_write(FULL);
            }
        }
    }
    let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
    let _ended = tokio::time::timeout(ENDING, free.acquire_many(all)).await;
    Ok(())
}

/// Waits until the server ends.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // The sender lives as long as the server.
    let _stopped = stopping.wait_for(|stopping| *stopping).await;
}

async fn accept(listener: TcpListener, sender: mpsc::Sender<TcpStream>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) if is_local(&peer) => {
                if sender.send(stream).await.is_err() {
                    return;
                }
            }
            Ok(_) => {}
            // No file descriptors are left, or the other side has gone: others may have more luck a little later.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

fn is_local(peer: &SocketAddr) -> bool {
    peer.ip().is_loopback()
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, permit: OwnedSemaphorePermit, routes: Routes, app: Arc<App>) {
    // Answers are small and should not wait for more.
    let _set = stream.set_nodelay(true);
    let routes = TowerToHyperService::new(routes);
    let mut stopping = app.stopping.subscribe();
    let service = service_fn(|request: Request<Incoming>| {
        let (parts, body) = request.into_parts();
        let checked = app.safety.check(&parts);
        let is_api = parts.uri.path().starts_with("/api");
        let answer = checked.map(|()| routes.call(Request::from_parts(parts, Body::new(body))));
        async move {
            let answer = match answer {
                Ok(answer) => answer.await,
                Err(refused) => Ok(axum::response::IntoResponse::into_response(refused)),
            };
            answer.map(|answer| router::finish(answer, is_api))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(TimedStream::new(stream, PATIENCE)), service);
    let mut connection = std::pin::pin!(connection);
    // A connection that fails concerns nobody but the other side.
    tokio::select! {
        _ended = connection.as_mut() => {}
        () = stopped(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            let _ended = connection.await;
        }
    }
    drop(permit);
}
