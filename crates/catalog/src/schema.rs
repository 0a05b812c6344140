//! The tables. Another version means that all is made again, never a migration.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};

use crate::Error;

/// The tables of one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tables {
    /// Raised with every change to them.
    pub(crate) version: &'static str,
    /// Makes them.
    pub(crate) create: &'static str,
}

/// The tables of the catalog.
pub(crate) const CATALOG: Tables = Tables { version: "13", create: CREATE };

const CREATE: &str = "
    CREATE TABLE groups (
        key INTEGER NOT NULL UNIQUE,
        roots INTEGER NOT NULL,
        stamp INTEGER NOT NULL,
        content BLOB NOT NULL
    );
    CREATE TABLE ledgers (
        roots INTEGER NOT NULL,
        key INTEGER NOT NULL,
        stamp INTEGER NOT NULL,
        last INTEGER NOT NULL,
        content BLOB NOT NULL,
        PRIMARY KEY (roots, key)
    );
    CREATE TABLE lists (
        roots INTEGER PRIMARY KEY,
        shape INTEGER NOT NULL,
        content BLOB NOT NULL
    );
    CREATE TABLE listed (
        roots INTEGER NOT NULL,
        session INTEGER NOT NULL,
        gone INTEGER NOT NULL,
        content BLOB NOT NULL,
        PRIMARY KEY (roots, session)
    ) WITHOUT ROWID;
    CREATE TABLE indexed (
        roots INTEGER NOT NULL,
        session INTEGER NOT NULL,
        stamp INTEGER NOT NULL,
        files INTEGER NOT NULL,
        others INTEGER NOT NULL,
        versions INTEGER NOT NULL,
        print INTEGER NOT NULL,
        undone INTEGER NOT NULL,
        title INTEGER NOT NULL,
        PRIMARY KEY (roots, session)
    ) WITHOUT ROWID;
    CREATE TABLE notes (
        roots INTEGER NOT NULL,
        topic TEXT NOT NULL,
        key INTEGER NOT NULL,
        stamp INTEGER NOT NULL,
        content BLOB NOT NULL,
        PRIMARY KEY (roots, topic, key)
    );
    CREATE TABLE states (
        path TEXT PRIMARY KEY,
        inode INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        print INTEGER NOT NULL,
        content BLOB NOT NULL
    );
";

/// Makes the tables, unless they are there in this version.
pub(crate) fn prepare(db: &Connection, tables: Tables, version: &str) -> Result<(), Error> {
    // Others may be writing for a moment.
    db.busy_timeout(Duration::from_secs(5))?;
    // Mapped pages are not copied. A lost write after a power cut is found out by its checksum and made again.
    db.execute_batch(
        "PRAGMA mmap_size = 1073741824; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;",
    )?;
    let version = format!("{}/{version}", tables.version);
    if current(db)?.as_deref() == Some(version.as_str()) {
        return Ok(());
    }
    // Nothing is lost with tables that are still empty: a file that a power cut left in pieces is made again. What is
    // kept of thousands of sessions is written at once, so pages are large; their size holds from when the file is made.
    db.execute_batch(
        "PRAGMA synchronous = OFF; PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;",
    )?;
    let made = make(db, tables, &version);
    db.execute_batch(if made.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    // Nobody waits for the disk because of empty tables: neither here, nor when the connection is closed.
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    db.execute_batch("PRAGMA synchronous = NORMAL;")?;
    made
}

fn make(db: &Connection, tables: Tables, version: &str) -> Result<(), Error> {
    if current(db)?.as_deref() == Some(version) {
        // Another run was faster.
        return Ok(());
    }
    let old: Vec<String> = db
        .prepare(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for table in old {
        db.execute_batch(&format!("DROP TABLE \"{}\"", table.replace('"', "\"\"")))?;
    }
    db.execute_batch(
        "CREATE TABLE words (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;",
    )?;
    db.execute_batch(tables.create)?;
    db.execute("INSERT INTO words (name, value) VALUES ('version', ?1)", [version])?;
    Ok(())
}

fn current(db: &Connection) -> Result<Option<String>, Error> {
    let is_there: bool = db.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'words')",
        [],
        |row| row.get(0),
    )?;
    if !is_there {
        return Ok(None);
    }
    let select = "SELECT value FROM words WHERE name = 'version'";
    Ok(db.query_row(select, [], |row| row.get(0)).optional()?)
}
