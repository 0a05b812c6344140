//! The tables of a fact file.

use crate::schema::Tables;

/// Rows are clustered by session: one is removed and put in as a whole, and read as a whole. They are in the order of the
/// sessions' keys, so that answers come in the same order whichever session was read first. No text of any length is in them; it is read
/// from where it stands.
pub(crate) const TABLES: Tables = Tables { version: "5", create: CREATE };

const CREATE: &str = "
    CREATE TABLE kept_sessions (
        key INTEGER PRIMARY KEY,
        stamp INTEGER NOT NULL,
        source TEXT NOT NULL,
        id TEXT NOT NULL,
        folder TEXT,
        began INTEGER,
        ended INTEGER,
        is_background INTEGER NOT NULL
    );
    CREATE INDEX kept_sessions_by_id ON kept_sessions (id);
    CREATE TABLE kept_files (
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,
        path TEXT NOT NULL,
        PRIMARY KEY (session, number)
    ) WITHOUT ROWID;
    CREATE TABLE kept_messages (
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,
        id TEXT,
        kind TEXT NOT NULL,
        fate TEXT NOT NULL,
        time TEXT,
        model TEXT,
        characters INTEGER,
        tool_calls INTEGER NOT NULL,
        input INTEGER,
        output INTEGER,
        cached INTEGER,
        cache_write INTEGER,
        thoughts INTEGER,
        tool INTEGER,
        total INTEGER,
        file INTEGER NOT NULL,
        line INTEGER,
        offset INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        request INTEGER,
        cache_write_1h INTEGER NOT NULL,
        at INTEGER,
        PRIMARY KEY (session, number)
    ) WITHOUT ROWID;
    CREATE INDEX kept_messages_by_request ON kept_messages (request) WHERE request IS NOT NULL;
    CREATE TABLE kept_copies (
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (session, number)
    ) WITHOUT ROWID;
    CREATE TABLE kept_marks (name TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE kept_versions (
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,
        place INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (session, number, place)
    ) WITHOUT ROWID;
    CREATE TABLE kept_pieces (
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,
        place INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (session, number, place)
    ) WITHOUT ROWID;
    CREATE TABLE kept_calls (
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,
        call INTEGER NOT NULL,
        id TEXT,
        name TEXT NOT NULL,
        display_name TEXT,
        status TEXT,
        time TEXT,
        key_arg TEXT,
        agent_id TEXT,
        output_state TEXT NOT NULL,
        PRIMARY KEY (session, number, call)
    ) WITHOUT ROWID;
    CREATE TABLE kept_touched (
        session INTEGER NOT NULL,
        number INTEGER NOT NULL,
        place INTEGER NOT NULL,
        tool TEXT NOT NULL,
        how TEXT NOT NULL,
        path TEXT NOT NULL,
        time TEXT,
        PRIMARY KEY (session, number, place)
    ) WITHOUT ROWID;
";

/// Tables with rows of a session, besides the one of sessions.
pub(crate) const OF_SESSION: &[&str] =
    &["kept_files", "kept_messages", "kept_versions", "kept_pieces", "kept_calls", "kept_touched"];
