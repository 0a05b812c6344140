//! Orders imported from spreadsheets: duplicates, and dates nobody agrees on.

use crate::{
    call::{edit, read, run, server, write},
    scenario::{Level, Scenario},
};

pub(crate) const FILES: &[&str] =
    &["import.py", "README.md", "orders-2025.csv", "schema.sql", "tests/test_dates.py"];

const IMPORT: &str = "import csv\nimport sqlite3\n\ndef load(path, db):\n    with open(path) as file:\n        for row in csv.DictReader(file):\n            db.execute('insert into orders values (?, ?, ?)',\n                       (row['id'], row['date'], row['sum']))\n";

pub(crate) fn duplicates() -> Scenario {
    Scenario::new()
        .ask("The import has loaded some orders twice. How many, and why?")
        .act("I ask the database.", [run("sqlite3 orders.db 'select count(*), count(distinct id) from orders'", "Count the orders", "18230|18011\n", 0), read("import.py", IMPORT)])
        .thinking("Counting", "If the two numbers differ, some ids are there more than once.")
        .act("", [run("sqlite3 orders.db 'select id, count(*) n from orders group by id having n > 1 limit 3'", "Look at some of them", "A-10233|2\nA-10234|2\nA-10235|2\n", 0)])
        .say("**219 orders** are there twice. They are consecutive (`A-10233`, `A-10234`, …), so this is one run that was repeated, not bad data.\n\n`load` inserts without looking. With a key on `id` a second run would do nothing:\n\n```sql\ncreate unique index orders_id on orders(id);\n```")
        .ask("Remove the doubles and add the index.")
        .act("", [run("sqlite3 orders.db 'delete from orders where rowid not in (select min(rowid) from orders group by id); create unique index orders_id on orders(id);'", "Remove doubles, add the key", "", 0)])
        .act("", [edit("import.py", IMPORT, ("'insert into orders", "'insert or ignore into orders"), "A second run must not add anything.")])
        .say("Done: 18,011 orders are left, and a second import changes nothing.")
        .compress("Removed 219 duplicate orders; added a unique index; import.py ignores known ids.")
        .ask("How long does the import take now?")
        .act("", [run("time python3 import.py orders-2025.csv", "Measure", "real\t0m1.904s\nuser\t0m1.511s\nsys\t0m0.210s\n", 0)])
        .say("1.9 seconds, as before.")
}

pub(crate) fn dates() -> Scenario {
    Scenario::titled("Read dates of three kinds in the order import")
        .ask("Some dates are 03/04/2025, some 2025-04-03, some 4. März 2025. Can we read them all?")
        .act("Let me see how many of each there are.", [
            server("orders", "run_query", "select kind, count(*) from dates group by kind", "iso|15201\nslash|2788\ngerman|22"),
            run("head -3 orders-2025.csv", "Look at the file", "id,date,sum\nA-10001,2025-04-03,12.50\nA-10002,03/04/2025,7.00\n", 0),
        ])
        .thinking("Three notations", "The slash dates are the dangerous ones: day and month cannot be told apart below 13.")
        .say("Yes, but **2,788 slash dates are ambiguous** in principle. In this file 1,103 have a day above 12, and all of those are day first. So day first it is, with a warning.\n\n| kind | rows | reading |\n|---|---:|---|\n| ISO | 15,201 | as is |\n| slashes | 2,788 | day/month/year |\n| German | 22 | month by name |")
        .save("before dates/überblick")
        .ask("Write it, with tests.")
        .act("", [write("dates.py", "import re\n\nMONTHS = {'Januar': 1, 'Februar': 2, 'März': 3, 'April': 4}\n\ndef read(text):\n    if match := re.fullmatch(r'(\\d+)/(\\d+)/(\\d{4})', text):\n        day, month, year = match.groups()\n        return f'{year}-{int(month):02}-{int(day):02}'\n    if match := re.fullmatch(r'(\\d+)\\. (\\w+) (\\d{4})', text):\n        day, month, year = match.groups()\n        return f'{year}-{MONTHS[month]:02}-{int(day):02}'\n    return text\n"), run("python3 -m pytest -q", "Run the tests", ".....                                                    [100%]\n5 passed in 0.03s\n", 0)])
        .notice(Level::Info, "Conversation shared to /home/dev/code/order-import/chat.md")
        .say("`dates.read` takes all three kinds; five tests pass. May and later months of the German kind still raise a `KeyError`, since the file has none.")
}
