//! Views that count each request once across machines, copies and forks, for other engines.
//!
//! A message has the same `key` in every copy, and all copies are in one month: of those with one key, the row of the session
//! that began first counts. What another session of the same machine has first is marked, or left out, when it is written.

use std::fmt::Write as _;

use recount_engine::export::ExportTable;

use crate::{LAYOUT, Lake};

/// An engine that reads the lake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryEngine {
    /// `DuckDB`.
    DuckDb,
    /// Spark SQL.
    Spark,
    /// `ClickHouse`.
    ClickHouse,
    /// Polars, in Python.
    Polars,
}

/// The order in which copies of a message count.
const ORDER: &str = "session_started NULLS FIRST, session, number, origin";
/// The order in which rows of one session count: the one that was read last.
const SESSION_ORDER: &str = "gone, messages DESC, updated DESC, origin";

/// Returns the text that makes the views over a lake.
pub fn views(lake: &Lake, engine: QueryEngine) -> String {
    let place = Place { url: lake.url(), account: lake.account.as_deref() };
    match engine {
        QueryEngine::DuckDb | QueryEngine::ClickHouse => sql(place, engine),
        QueryEngine::Spark => {
            let setting = "SET spark.sql.sources.partitionColumnTypeInference.enabled = false;\n";
            format!("{setting}{}", sql(place, engine))
        }
        QueryEngine::Polars => polars(place.url),
    }
}

/// Where the tables are.
#[derive(Clone, Copy)]
struct Place<'a> {
    url: &'a str,
    /// The storage account, which some engines want in the address of a container.
    account: Option<&'a str>,
}

/// Returns a text as a literal of SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The same where a backslash begins an escape.
fn escaped_literal(text: &str) -> String {
    literal(&text.replace('\\', "\\\\"))
}

fn plain(url: &str) -> &str {
    url.strip_prefix("file://").unwrap_or(url)
}

/// Returns how an engine reads the files of a table.
fn from(Place { url, account }: Place<'_>, engine: QueryEngine, table: &str) -> String {
    // A name to replace, if it is not known.
    let account = account.unwrap_or("ACCOUNT");
    let files = format!("{}/{LAYOUT}/{table}/*/*/*/part.parquet", plain(url));
    match engine {
        QueryEngine::DuckDb | QueryEngine::Polars => {
            let files = literal(&files);
            format!("read_parquet({files}, hive_partitioning = true, hive_types_autocast = false)")
        }
        QueryEngine::Spark => {
            let url = match url.split_once("://") {
                Some(("s3", rest)) => format!("s3a://{rest}"),
                Some(("az", rest)) => {
                    let (container, path) = rest.split_once('/').unwrap_or((rest, ""));
                    let url = format!("abfss://{container}@{account}.dfs.core.windows.net/{path}");
                    url.trim_end_matches('/').to_owned()
                }
                _ => url.to_owned(),
            };
            format!("parquet.`{}/{LAYOUT}/{table}`", url.replace('`', "``"))
        }
        QueryEngine::ClickHouse => match url.split_once("://") {
            Some(("file", _)) => format!("file({}, 'Parquet')", escaped_literal(&files)),
            Some(("gs", rest)) => {
                let files = format!(
                    "https://storage.googleapis.com/{rest}/{LAYOUT}/{table}/*/*/*/part.parquet"
                );
                format!("gcs({}, 'Parquet')", escaped_literal(&files))
            }
            Some(("az", rest)) => {
                let (container, path) = rest.split_once('/').unwrap_or((rest, ""));
                let path = if path.is_empty() { String::new() } else { format!("{path}/") };
                let [account, container, files] = [
                    &format!("https://{account}.blob.core.windows.net"),
                    container,
                    &format!("{path}{LAYOUT}/{table}/*/*/*/part.parquet"),
                ]
                .map(escaped_literal);
                format!("azureBlobStorage({account}, {container}, {files}, 'Parquet')")
            }
            _ => format!("s3({}, 'Parquet')", escaped_literal(&files)),
        },
    }
}

fn sql(place: Place<'_>, engine: QueryEngine) -> String {
    let create = match engine {
        QueryEngine::Spark => "CREATE OR REPLACE TEMPORARY VIEW",
        _ => "CREATE OR REPLACE VIEW",
    };
    let all_but_rank = match engine {
        QueryEngine::DuckDb => "* EXCLUDE (copy_rank)",
        QueryEngine::Spark => "*",
        QueryEngine::ClickHouse | QueryEngine::Polars => "* EXCEPT (copy_rank)",
    };
    let mut text = String::new();
    for table in ExportTable::ALL {
        let name = table.name();
        let (rank, by, order) = match table {
            // A session is in the lake once per machine that has it.
            ExportTable::Sessions => ("row_number()", "source, id, kind, parent", SESSION_ORDER),
            // A message has several calls: those of one copy of it count.
            ExportTable::ToolCalls | ExportTable::FilesTouched => {
                ("rank()", "source, month, key", ORDER)
            }
            ExportTable::Messages | ExportTable::Requests => {
                ("row_number()", "source, month, key", ORDER)
            }
        };
        let is_marked = !matches!(table, ExportTable::Sessions | ExportTable::Requests);
        let own = if is_marked { " WHERE NOT is_copy" } else { "" };
        let from = from(place, engine, name);
        let _infallible = writeln!(
            text,
            "{create} {name} AS SELECT {all_but_rank} FROM (\n  SELECT *, {rank} OVER (PARTITION BY {by} ORDER BY {order}) AS copy_rank\n  FROM {from}{own}\n) AS every_copy WHERE copy_rank = 1;"
        );
    }
    text.push_str(&totals(create));
    text
}

/// Returns views with the figures of `recount stats --by month`, `model` and `project`, in UTC.
fn totals(create: &str) -> String {
    let tokens = ["input", "output", "cached", "cache_write", "thoughts", "tool", "total"];
    let sums: Vec<String> = tokens.iter().map(|name| format!("sum({name}) AS {name}")).collect();
    let used = format!("count(*) AS requests, {}, sum(cost_usd) AS cost_usd", sums.join(", "));
    let mut text = String::new();
    for (view, by) in [("by_month", "month"), ("by_project", "project")] {
        let columns: Vec<String> = tokens.iter().map(|name| format!("r.{name}")).collect();
        let _infallible = writeln!(
            text,
            "{create} {view} AS
WITH counted AS (
  SELECT {by}, source, main FROM messages WHERE counts_as IS NOT NULL
  UNION ALL SELECT {by}, source, main FROM requests
), s AS (
  SELECT {by}, count(DISTINCT concat(source, ' ', main)) AS sessions FROM counted GROUP BY {by}
), m AS (
  SELECT {by}, sum(CASE WHEN counts_as = 'prompt' THEN 1 ELSE 0 END) AS prompts, sum(CASE WHEN counts_as = 'answer' THEN 1 ELSE 0 END) AS answers
  FROM messages GROUP BY {by}
), c AS (
  SELECT {by}, count(*) AS tool_calls, sum(CASE WHEN is_error THEN 1 ELSE 0 END) AS tools_failed FROM tool_calls GROUP BY {by}
), r AS (
  SELECT {by}, {used} FROM requests GROUP BY {by}
)
SELECT s.{by} AS {by}, s.sessions, r.requests, m.prompts, m.answers, {}, r.cost_usd, c.tool_calls, c.tools_failed
FROM s LEFT JOIN m ON m.{by} = s.{by} LEFT JOIN c ON c.{by} = s.{by} LEFT JOIN r ON r.{by} = s.{by};",
            columns.join(", ")
        );
    }
    let _infallible = writeln!(
        text,
        "{create} by_model AS SELECT model, count(DISTINCT concat(source, ' ', main)) AS sessions, {used} FROM requests GROUP BY model;"
    );
    text
}

fn polars(url: &str) -> String {
    let root = format!("{}/{LAYOUT}", plain(url));
    // JSON has no text that Python reads otherwise.
    let root = serde_json::to_string(&root).unwrap_or_default();
    format!(
        r#"# Lazy frames over a lake; each request counts once across machines, copies and forks.
import polars as pl

ROOT = {root}
ORDER = ["session_started", "session", "number", "origin"]
KEY = ["source", "month", "key"]


def table(name):
    return pl.scan_parquet(f"{{ROOT}}/{{name}}/**/part.parquet", hive_partitioning=True, try_parse_hive_dates=False,
                           hive_schema={{"source": pl.String, "month": pl.String, "origin": pl.String}})


def once(frame):
    # Of all copies of a message, the one in the session that began first; a message may have several rows.
    first = [pl.col(name).first().over(KEY).alias("first_" + name) for name in ORDER[1:]]
    frame = frame.sort(ORDER, nulls_last=False).with_columns(first)
    is_first = pl.all_horizontal([pl.col(name) == pl.col("first_" + name) for name in ORDER[1:]])
    return frame.filter(is_first).drop(["first_" + name for name in ORDER[1:]])


sessions = (table("sessions").sort(["gone", "messages", "updated", "origin"], descending=[False, True, True, False])
            .unique(subset=["source", "id", "kind", "parent"], keep="first", maintain_order=True))
messages = once(table("messages").filter(~pl.col("is_copy"))).unique(subset=KEY, keep="first", maintain_order=True)
tool_calls = once(table("tool_calls").filter(~pl.col("is_copy")))
files_touched = once(table("files_touched").filter(~pl.col("is_copy")))
requests = once(table("requests")).unique(subset=KEY, keep="first", maintain_order=True)


def totals(by):
    """The figures of `recount stats --by month` or `project`, in UTC."""
    counted = pl.concat([messages.filter(pl.col("counts_as").is_not_null()).select(by, "source", "main"),
                         requests.select(by, "source", "main")])
    used = ["input", "output", "cached", "cache_write", "thoughts", "tool", "total", "cost_usd"]
    parts = [
        messages.group_by(by).agg(prompts=(pl.col("counts_as") == "prompt").sum(), answers=(pl.col("counts_as") == "answer").sum()),
        tool_calls.group_by(by).agg(tool_calls=pl.len(), tools_failed=pl.col("is_error").sum()),
        requests.group_by(by).agg(pl.len().alias("requests"), *[pl.col(name).sum() for name in used]),
    ]
    result = counted.unique().group_by(by).agg(sessions=pl.len())
    for part in parts:
        result = result.join(part, on=by, how="left", nulls_equal=True)
    return result


by_month, by_project = totals("month"), totals("project")
by_model = requests.group_by("model").agg(pl.struct("source", "main").n_unique().alias("sessions"), pl.len().alias("requests"),
                                          pl.col("input", "output", "cached", "total", "cost_usd").sum())
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> Place<'_> {
        Place { url, account: None }
    }

    #[test]
    fn a_container_is_named_with_its_account() {
        let place = Place { url: "az://team/agents", account: Some("acme") };
        let text = from(place, QueryEngine::Spark, "requests");
        assert_eq!(text, "parquet.`abfss://team@acme.dfs.core.windows.net/agents/v1/requests`");
        let text = from(place, QueryEngine::ClickHouse, "requests");
        let files = "'agents/v1/requests/*/*/*/part.parquet'";
        let wanted = format!(
            "azureBlobStorage('https://acme.blob.core.windows.net', 'team', {files}, 'Parquet')"
        );
        assert_eq!(text, wanted);
        assert!(from(at("az://team"), QueryEngine::Spark, "requests").contains("@ACCOUNT."));
        assert!(from(place, QueryEngine::DuckDb, "requests").contains("'az://team/agents/v1/"));
    }

    #[test]
    fn a_url_cannot_end_its_literal() {
        let text = from(at("s3://b/it's"), QueryEngine::DuckDb, "requests");
        assert!(text.contains("'s3://b/it''s/v1/requests/*/*/*/part.parquet'"), "{text}");
        let text = from(at("file:///a`b\\' c"), QueryEngine::Spark, "requests");
        assert!(text.contains("`file:///a``b"), "{text}");
        let text = from(at("file:///a\\' c"), QueryEngine::ClickHouse, "requests");
        assert!(text.contains("'/a\\\\'' c/v1/"), "{text}");
    }

    #[test]
    fn every_table_has_a_view_in_every_engine() {
        for engine in [QueryEngine::DuckDb, QueryEngine::Spark, QueryEngine::ClickHouse] {
            let text = sql(at("file:///lake"), engine);
            for table in ExportTable::ALL {
                assert!(text.contains(&format!("VIEW {} AS", table.name())), "{text}");
            }
        }
        let text = polars("file:///lake");
        assert!(
            ExportTable::ALL.iter().all(|table| text.contains(&format!("\n{} = ", table.name())))
        );
    }
}
