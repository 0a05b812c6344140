//! Conversations with other agents in the same projects.

use crate::{
    call::{agent, edit, glob, read, run, search, todos, web_search, write},
    scenario::{Level, Scenario},
};

const CART: &str = "export const total = (items) =>\n  items.reduce((sum, item) => sum + item.price * item.count, 0);\n";
const STOCK: &str = "sku,pieces\napple,40\npear,0\nplum,12\n";
const LEXER: &str = "pub fn digits(text: &str) -> usize {\n    text.bytes().take_while(u8::is_ascii_digit).count()\n}\n";
const TAG: &str = "#!/bin/sh\nset -eu\ngit tag \"v$1\"\ngit push origin \"v$1\"\n";

/// Claude Code 1.0, resumed once: two files.
pub(crate) fn rounding() -> Scenario {
    Scenario::titled("Round the total of the cart once")
        .ask("The total on the receipt is sometimes one cent off. Why?")
        .act("I read the cart.", [read("src/cart.js", CART), search("toFixed", &[("src/receipt.js", 14, "  line.sum.toFixed(2)"), ("src/receipt.js", 22, "  total.toFixed(2)")])])
        .thinking("Where it is rounded", "Each line is rounded, and then their sum again.")
        .say("Each line is rounded before the lines are added up. Three lines of 0.333 print as 0.33, and their sum as 1.00.")
        .resume(60 * 20)
        .ask("Then add up first and round once.")
        .act("", [edit("src/cart.js", CART, ("item.price * item.count, 0)", "item.price * item.count, 0).toFixed(2)"), "round once"), run("npm test", "Run the tests", "# tests 14\n# pass 14\n", 0)])
        .say("The total is rounded once now, and all tests pass.")
}

/// Claude Code 2.1: a sub-agent, a rewind, a fork.
pub(crate) fn refunds() -> Scenario {
    Scenario::titled("Refund part of an order")
        .ask("Add a way to refund some pieces of an order.")
        .act("I have somebody look for what exists.", [agent("general-purpose", "Find code that changes an order after it was paid.", "Nothing changes a paid order. `src/receipt.js` prints it, `src/cart.js` adds it up.",
            Scenario::new().act("", [glob("src/**/*.js", &["src/cart.js", "src/receipt.js"]), search("paid", &[("src/receipt.js", 3, "if (order.paid) {")])]))])
        .act("", [todos(&[("Write refund()", "completed"), ("Test it", "in_progress"), ("Print it on the receipt", "pending")]), write("src/refund.js", "export const refund = (order, sku, pieces) => ({\n  ...order,\n  refunds: [...(order.refunds ?? []), { sku, pieces }],\n});\n")])
        .act("", [run("npm test", "Run the tests", "not ok 15 - refund of more pieces than were bought\n", 1)])
        .say("`refund()` is there, but it lets you refund more pieces than were bought. I would refuse that.")
        .ask("Cap it silently at what was bought.")
        .say("Then a typing error in the shop would go unnoticed.")
        .rewind(1)
        .ask("Yes, refuse it with an error.")
        .act("", [edit("src/refund.js", "export const refund = (order, sku, pieces) => ({\n", ("export const refund = (order, sku, pieces) => ({", "export const refund = (order, sku, pieces) => check(order, sku, pieces) && ({"), "refuse what was not bought"), run("npm test", "Run the tests", "# pass 16\n", 0)])
        .say("More pieces than were bought are refused now.\n\n- `refund()` throws a `RangeError`\n- the receipt is unchanged")
        .fork(50)
        .ask("In this branch, also restock what was refunded.")
        .act("", [read("stock.csv", STOCK), write("src/restock.js", "export const restock = (stock, sku, pieces) => ({ ...stock, [sku]: stock[sku] + pieces });\n")])
        .say("Refunded pieces are added to the stock again.")
}

/// Codex 0.166: reverted once.
pub(crate) fn stock() -> Scenario {
    Scenario::titled("Show what is out of stock")
        .ask("List what is out of stock, as a command.")
        .act("I check the file first.", [read("stock.csv", STOCK)])
        .thinking("Reading the stock", "Only pears are out of stock.")
        .act("", [write("bin/out-of-stock", "#!/bin/sh\nawk -F, '$2 == 0 { print $1 }' stock.csv\n"), run("sh bin/out-of-stock", "Run it", "pear\n", 0)])
        .say("`bin/out-of-stock` prints `pear`.")
        .ask("Rewrite it in Perl.")
        .say("I would not: awk does it in one line.")
        .rewind(1)
        .ask("Mail the list every morning.")
        .act("", [web_search("cron run weekdays at 7", "Use `0 7 * * 1-5`."), run("crontab -l", "Show the crontab", "no crontab for dev\n", 1)])
        .say("Add this line with `crontab -e`:\n\n```\n0 7 * * 1-5 sh bin/out-of-stock | mail -s 'out of stock' shop@example.com\n```")
}

/// Claude Code 2.0: a summary replaced the conversation.
pub(crate) fn numbers() -> Scenario {
    Scenario::titled("Parse numbers with exponents")
        .ask("Does the parser read 1e5?")
        .act("", [read("src/lexer.rs", LEXER), run("cargo test exponent", "Run one test", "test exponent ... FAILED\n", 101)])
        .say("No. `digits` stops at the `e`.")
        .compress("The user wants exponents in numbers. `src/lexer.rs` reads digits only. Next: read `e`, an optional sign, digits.")
        .ask("Go on.")
        .act("I write it.", [edit("src/lexer.rs", LEXER, ("take_while(u8::is_ascii_digit)", "take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'e' | b'E'))"), "read exponents"), agent("general-purpose", "Run all tests and report what fails.", "All 31 tests pass.", Scenario::new().act("", [run("cargo test", "Run all tests", "test result: ok. 31 passed\n", 0)]))])
        .say("`1e5` is read, and all 31 tests pass.")
        .shell("git diff --stat", " src/lexer.rs | 2 +-\n")
        .stopped("Also explain how floats are")
        .refused("Explain how floats are rounded")
}

/// Codex 0.104: rolled back, compacted, forked.
pub(crate) fn errors() -> Scenario {
    Scenario::titled("Error messages with a column")
        .ask("Errors should name line and column.")
        .act(
            "",
            [
                search("struct Error", &[("src/error.rs", 4, "pub struct Error {")]),
                edit(
                    "src/error.rs",
                    "pub struct Error {\n    line: usize,\n}\n",
                    ("    line: usize,", "    line: usize,\n    column: usize,"),
                    "add the column",
                ),
            ],
        )
        .say("`Error` has a column now.")
        .ask("Count columns in bytes.")
        .say("Columns are bytes now.")
        .rewind(1)
        .ask("Count columns in characters.")
        .act("", [run("cargo test columns", "Run the tests", "test columns ... ok\n", 0)])
        .say("Columns are characters.")
        .notice(Level::Warning, "Heads up, you have less than 5% of your weekly limit left.")
        .compress("Errors name line and column; columns are characters.")
        .ask("Print the line under the message.")
        .say("The line is printed, with a caret below the column.")
        .fork(30)
        .ask("Here, print it in color.")
        .act(
            "I ask what terminals can.",
            [agent(
                "explorer",
                "Does the crate depend on anything for colors?",
                "No dependency for colors.",
                Scenario::new().act("", [read("Cargo.toml", "[dependencies]\n")]),
            )],
        )
        .say("The caret is red if the output is a terminal.")
}

/// Codex 0.29, resumed once: two files.
pub(crate) fn release_notes() -> Scenario {
    Scenario::new()
        .ask("Write release notes from the log.")
        .act(
            "",
            [run(
                "git log --oneline v1.2..",
                "Read the log",
                "8fa2c1d fix: escape quotes\n1b2d3c4 feat: dry run\n",
                0,
            )],
        )
        .say("## 1.3\n\n- `--dry-run`\n- quotes are escaped")
        .resume(60 * 3)
        .ask("Shorter.")
        .say("1.3: `--dry-run`; quotes are escaped.")
}

/// Codex, archived.
pub(crate) fn signing() -> Scenario {
    Scenario::titled("Sign tags")
        .ask("Sign the tags that we push.")
        .act(
            "",
            [
                read("tag.sh", TAG),
                edit("tag.sh", TAG, ("git tag \"v$1\"", "git tag -s \"v$1\" -m \"v$1\""), "sign"),
                run("sh -n tag.sh", "Check the syntax", "", 0),
            ],
        )
        .say("Tags are signed. Set `user.signingkey` first.")
}

/// Codex, compressed by the program.
pub(crate) fn columns() -> Scenario {
    Scenario::new()
        .ask("Drop the column with the notes before the import.")
        .act(
            "",
            [write("drop.py", "import csv, sys\n\nfor row in csv.reader(sys.stdin):\n    print(','.join(row[:3]))\n")
                .cancelled()],
        )
        .ask("Leave the files as they are, only skip it when reading.")
        .say("`csv.DictReader` reads it, and nothing uses `row['notes']`: there is nothing to change.")
}

/// The first Codex: a document.
pub(crate) fn first_try() -> Scenario {
    Scenario::new()
        .ask("Which columns do the order files have?")
        .act("I look.", [run("head -1 orders-2025.csv", "Show the columns", "id,date,sum\n", 0)])
        .say("`id`, `date` and `sum`.")
}

/// Claude Code 2.1, an hour ago.
pub(crate) fn receipt_layout() -> Scenario {
    Scenario::new()
        .ask_with(
            "Align the sums in @src/receipt.js",
            &[("src/receipt.js", "lines.map((line) => `${line.name} ${line.sum}`);\n")],
        )
        .act(
            "",
            [edit(
                "src/receipt.js",
                "lines.map((line) => `${line.name} ${line.sum}`);\n",
                ("${line.sum}", "${line.sum.toFixed(2).padStart(9)}"),
                "align",
            )],
        )
        .say("Sums are right-aligned in nine columns. 🎉")
}
