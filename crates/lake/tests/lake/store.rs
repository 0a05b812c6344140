//! A store in memory that fails on request.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::Mutex;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{BoxStream, once};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result,
};

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It does nothing, and fails.
    Fails,
    /// It does nothing, and fails after a while.
    TimesOut,
    /// It is done, and fails all the same.
    NoAnswer,
}

/// A store in memory that counts requests, and fails on request.
#[derive(Debug, Default)]
pub(crate) struct FaultyStore {
    inner: InMemory,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    count: usize,
    puts: Vec<String>,
    /// The request that fails, from 0.
    fault: Option<(usize, Fault)>,
    /// All requests from this one on fail: the program is dead.
    dead_from: Option<usize>,
    /// Called before a request.
    before: Option<(usize, Box<dyn FnOnce() + Send>)>,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("count", &self.count).finish_non_exhaustive()
    }
}

impl FaultyStore {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Counts from 0 again, without faults.
    pub(crate) fn reset(&self) {
        *self.state.lock().unwrap() = State::default();
    }

    pub(crate) fn fail_at(&self, number: usize, fault: Fault) {
        self.reset();
        self.state.lock().unwrap().fault = Some((number, fault));
    }

    pub(crate) fn die_at(&self, number: usize) {
        self.reset();
        self.state.lock().unwrap().dead_from = Some(number);
    }

    pub(crate) fn call_before(&self, number: usize, call: impl FnOnce() + Send + 'static) {
        self.reset();
        self.state.lock().unwrap().before = Some((number, Box::new(call)));
    }

    pub(crate) fn count(&self) -> usize {
        self.state.lock().unwrap().count
    }

    pub(crate) fn puts(&self) -> Vec<String> {
        self.state.lock().unwrap().puts.clone()
    }

    /// Returns every object.
    pub(crate) fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut objects = BTreeMap::new();
            let mut all = self.inner.list(None);
            while let Some(found) = all.next().await {
                let path = found.unwrap().location;
                let bytes = self.inner.get(&path).await.unwrap().bytes().await.unwrap();
                objects.insert(path.to_string(), bytes.to_vec());
            }
            objects
        })
    }

    /// Replaces an object.
    pub(crate) fn set(&self, path: &str, bytes: Vec<u8>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.inner.put(&Path::from(path), bytes.into())).unwrap();
    }

    fn request(&self) -> Option<Fault> {
        let call = {
            let mut state = self.state.lock().unwrap();
            let is_it = state.before.as_ref().is_some_and(|(number, _)| *number == state.count);
            if is_it { state.before.take() } else { None }
        };
        if let Some((_, call)) = call {
            // Another machine has its own client.
            std::thread::spawn(call).join().unwrap();
        }
        let mut state = self.state.lock().unwrap();
        let number = state.count;
        state.count += 1;
        if state.dead_from.is_some_and(|from| number >= from) {
            return Some(Fault::Fails);
        }
        state.fault.filter(|(at, _)| *at == number).map(|(_, fault)| fault)
    }

    async fn gate(&self) -> Result<Option<Fault>> {
        match self.request() {
            Some(Fault::Fails) => Err(failed()),
            Some(Fault::TimesOut) => {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                Err(failed())
            }
            other => Ok(other),
        }
    }
}

fn failed() -> Error {
    Error::Generic { store: "faulty", source: "it failed".into() }
}

fn answer<T>(fault: Option<Fault>, done: Result<T>) -> Result<T> {
    if fault == Some(Fault::NoAnswer) { Err(failed()) } else { done }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let fault = self.gate().await?;
        self.state.lock().unwrap().puts.push(location.to_string());
        answer(fault, self.inner.put_opts(location, payload, options).await)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let fault = self.gate().await?;
        answer(fault, self.inner.put_multipart_opts(location, options).await)
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let fault = self.gate().await?;
        answer(fault, self.inner.get_opts(location, options).await)
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        match self.request() {
            Some(Fault::Fails | Fault::TimesOut) => once(async { Err(failed()) }).boxed(),
            fault => self
                .inner
                .delete_stream(locations)
                .map(move |deleted| answer(fault, deleted))
                .boxed(),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
