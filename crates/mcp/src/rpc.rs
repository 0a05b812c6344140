//! Messages of the protocol. There are two eras: until 2025-11-25 a connection begins with `initialize`; from 2026-07-28 on every request stands alone
//! and says its version itself. Clients of both are answered, request by request.

use serde_json::{Map, Value, json};

/// The revision in which requests stand alone.
pub(crate) const MODERN: &str = "2026-07-28";
/// The revisions that begin with `initialize`, newest first.
pub(crate) const LEGACY: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Where a request says its version.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Where a request says which client it comes from.
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const NO_METHOD: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const NO_RESOURCE: i64 = -32002;
const UNSUPPORTED_VERSION: i64 = -32022;

/// What came in.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It does not.
    Notification { method: String, params: Value },
    /// An answer to a question that was never asked.
    Response,
}

/// A request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    /// Its id: text or a number.
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// Why a request is refused.
#[derive(Debug, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// Reads a message.
pub(crate) fn read(value: Value) -> Result<Incoming, RpcError> {
    let wrong = |what: &str| RpcError::new(INVALID_REQUEST, what);
    let Value::Object(mut fields) = value else { return Err(wrong("not a JSON-RPC message")) };
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (fields.remove("method"), fields.remove("id")) {
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (Some(Value::String(method)), Some(id @ (Value::String(_) | Value::Number(_)))) => {
            Ok(Incoming::Request(Request { id, method, params }))
        }
        (None, Some(_)) if fields.contains_key("result") || fields.contains_key("error") => {
            Ok(Incoming::Response)
        }
        (Some(_), Some(_)) => Err(wrong("the id must be text or a number")),
        _ => Err(wrong("a method is missing")),
    }
}

impl Request {
    /// Returns a value of its metadata.
    pub(crate) fn meta(&self, name: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(name)
    }

    /// Whether it is of the era in which requests stand alone.
    pub(crate) fn is_modern(&self) -> bool {
        self.meta(VERSION).is_some() || self.method == "server/discover"
    }

    /// Returns the name of the client, if the request says it.
    pub(crate) fn client(&self) -> Option<&str> {
        let info = self.meta(CLIENT).or_else(|| self.params.get("clientInfo"))?;
        info.get("name")?.as_str()
    }

    /// Refuses a version that is not known.
    pub(crate) fn check_version(&self) -> Result<(), RpcError> {
        let asked = self.meta(VERSION).and_then(Value::as_str);
        match asked {
            Some(asked) if asked != MODERN && !LEGACY.contains(&asked) => Err(RpcError {
                code: UNSUPPORTED_VERSION,
                message: "unsupported protocol version".to_owned(),
                data: Some(json!({ "supported": versions(), "requested": asked })),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the version for the answer to `initialize`: the one that was asked for, else the newest.
    pub(crate) fn negotiated(&self) -> &'static str {
        let asked = self.params.get("protocolVersion").and_then(Value::as_str);
        let known = LEGACY.iter().find(|known| asked == Some(**known));
        known.or(LEGACY.first()).copied().unwrap_or_default()
    }

    /// Returns the answer.
    pub(crate) fn answer(&self, result: Result<Value, RpcError>) -> Value {
        match result {
            Ok(mut result) => {
                if self.is_modern()
                    && let Value::Object(fields) = &mut result
                {
                    fields.insert("resultType".to_owned(), "complete".into());
                    if is_cacheable(&self.method) {
                        fields.insert("ttlMs".to_owned(), 0.into());
                        fields.insert("cacheScope".to_owned(), "private".into());
                    }
                }
                json!({ "jsonrpc": "2.0", "id": self.id, "result": result })
            }
            Err(error) => refusal(&self.id, error),
        }
    }
}

/// Whether the answer says how long it may be kept: lists, resources and what the server is.
fn is_cacheable(method: &str) -> bool {
    method.ends_with("/list") || matches!(method, "resources/read" | "server/discover")
}

/// Returns the answer to a request that is refused.
pub(crate) fn refusal(id: &Value, error: RpcError) -> Value {
    let RpcError { code, message, data } = error;
    let mut fields = Map::new();
    fields.insert("code".to_owned(), code.into());
    fields.insert("message".to_owned(), message.into());
    if let Some(data) = data {
        fields.insert("data".to_owned(), data);
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": fields })
}

/// Returns every revision, newest first.
pub(crate) fn versions() -> Vec<&'static str> {
    std::iter::once(MODERN).chain(LEGACY.iter().copied()).collect()
}
