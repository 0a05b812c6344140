//! The team lake: sessions of many machines as tables in an object store.
