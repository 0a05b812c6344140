//! A web shop: taxes, receipts, page numbers, a discount that was rewound.

use crate::{
    call::{agent, edit, glob, list, read, remember, run, search, todos, write},
    scenario::Scenario,
};

pub(crate) const FILES: &[&str] = &[
    "package.json",
    "prices.csv",
    "README.md",
    "docs/guide.md",
    "docs/notes.md",
    "src/cart.js",
    "src/discount.js",
    "src/pages.js",
    "src/receipt.js",
    "src/tax.js",
    "test/cart.test.js",
];

const PRICES: &str = "name,price\napple,3\npear,4\nplum,2\nfig,7\n";
const TAX: &str = "export const RATE = 0.2;\nexport const tax = (sum) => sum * RATE;\n";
const CART: &str = "import { tax } from './tax.js';\n\nexport const sum = (items) =>\n  items.reduce((total, item) => total + item.price * item.count, 0);\n\nexport const total = (items) => {\n  const net = sum(items);\n  return net + tax(net);\n};\n";
const DISCOUNT: &str = "/** Ten percent off from the tenth piece of one kind. */\nexport const discount = (item) => (item.count >= 10 ? item.price * item.count * 0.1 : 0);\n";
const PAGES: &str = "export const page = (rows, number, size = 20) =>\n  rows.slice(number * size, (number + 1) * size);\n";

pub(crate) fn tax_question() -> Scenario {
    Scenario::new()
        .ask("What do three apples and a pear cost with tax?")
        .act("I look up the prices first.", [read("prices.csv", PRICES), read("src/tax.js", TAX)])
        .thinking("Looking at prices", "I need the price list and the rate before I can add anything up.")
        .say("Fifteen coins and sixty cents:\n\n| item | pieces | price | sum |\n|---|---:|---:|---:|\n| apple | 3 | 3 | 9 |\n| pear | 1 | 4 | 4 |\n| **net** | | | **13** |\n| tax, 20 % | | | 2.60 |\n| **total** | | | **15.60** |")
        .thinking("Adding up", "Nine plus four is thirteen; a fifth of that is 2.60.")
        .ask("Remember that our prices are without tax.")
        .act("", [remember("The prices in prices.csv are net prices, without tax.")])
        .say("Noted: the prices in `prices.csv` are **net** prices.")
}

pub(crate) fn receipts() -> Scenario {
    let receipt = "import { sum } from './cart.js';\nimport { tax } from './tax.js';\n\nexport const receipt = (items) => {\n  const lines = items.map((item) => `${item.count} × ${item.name}`);\n  const net = sum(items);\n  return [...lines, '', `net ${net}`, `tax ${tax(net)}`].join('\\n');\n};\n";
    Scenario::new()
        .ask("Write a function that prints a receipt for a cart.")
        .act("I'll see what the cart looks like.", [list(".", &["docs/", "src/", "test/", "package.json", "prices.csv", "README.md"]), read("src/cart.js", CART)])
        .act("", [write("src/receipt.js", receipt)])
        .act("", [run("npm test --silent", "Run the tests", "# tests 6\n# pass 6\n# fail 0\n", 0)])
        .say("`src/receipt.js` prints one line per item, then net and tax. All six tests pass.\n\n```js\nreceipt([{ name: 'apple', price: 3, count: 2 }]);\n// 2 × apple\n//\n// net 6\n// tax 1.2000000000000002\n```\n\nThe tax is not rounded yet.")
        .save("receipt-v1")
        .resume(19 * 60 + 12)
        .ask("Good. Now round the tax to two places, please 🙂")
        .act("", [edit("src/receipt.js", receipt, ("`tax ${tax(net)}`", "`tax ${tax(net).toFixed(2)}`"), "Round the tax on the receipt to two decimal places.")])
        .say("Done. The receipt now says `tax 1.20`. 🧾")
}

pub(crate) fn pagination() -> Scenario {
    let fixed = "rows.slice((number - 1) * size, number * size);";
    Scenario::titled("Fix page numbers of the product list")
        .ask_with("The product list in @src/pages.js starts with the second page. Why?", &[("src/pages.js", PAGES)])
        .say("`page` counts from **0**, but a visitor's first page is **1**:\n\n- `?page=1` asks for `rows.slice(20, 40)`,\n- so the first 20 products are never shown.\n\nEither subtract one in the router, or let `page` count from 1. I would do the latter, since it is the only caller.")
        .thinking("Counting pages", "slice(number * size) with number = 1 skips the first twenty rows. So it is an off-by-one between the URL and the function.")
        .ask("Yes, do that, and add a test.")
        .act("", [
            edit("src/pages.js", PAGES, ("rows.slice(number * size, (number + 1) * size);", fixed), "Let pages count from 1."),
            write("test/pages.test.js", "import test from 'node:test';\nimport assert from 'node:assert';\nimport { page } from '../src/pages.js';\n\ntest('the first page has the first rows', () => {\n  assert.deepEqual(page(['a', 'b', 'c'], 1, 2), ['a', 'b']);\n});\n"),
        ])
        .act("", [run("node --test test/", "Run all tests", "✔ the first page has the first rows (0.9ms)\n✔ a cart adds up (0.4ms)\nℹ tests 7\nℹ pass 7\nℹ fail 0\n", 0)])
        .say("Pages count from 1 now, and a test holds it. All 7 tests pass.")
        .ask("Was this ever released?")
        .act("", [run("git log --oneline -3 -- src/pages.js && git tag --contains HEAD~2", "See which release has it", "8c1f0aa Show twenty products a page\n51be2d0 Split the list\nv1.4.0\n", 0)])
        .say("Yes: the bug came with `8c1f0aa` and is in **v1.4.0**.")
}

pub(crate) fn discount() -> Scenario {
    Scenario::titled("Add a quantity discount to the cart")
        .ask("Add a discount: 10 % off from ten pieces of one kind.")
        .act("I'll look around first.", [
            glob("src/**/*.js", &["src/cart.js", "src/pages.js", "src/receipt.js", "src/tax.js"]),
            search("total", &[("src/cart.js", 6, "export const total = (items) => {"), ("test/cart.test.js", 3, "import { total } from '../src/cart.js';")]),
            read("src/cart.js", CART),
        ])
        .thinking("Surveying", "The sum is computed in one place, so the discount belongs beside it.")
        .act("", [todos(&[("Write the discount", "in_progress"), ("Use it in the cart", "pending"), ("Test it", "pending")])])
        .act("", [write("src/discount.js", DISCOUNT)])
        .act("", [edit("src/cart.js", CART, ("const net = items.sum();", "const net = sum(items) - discounts(items);"), "Subtract the discounts from the net sum.")
            .fails("Failed to edit, 0 occurrences found for old_string in /home/dev/code/shop/src/cart.js. Ensure you're not escaping content incorrectly and check whitespace, indentation, and context. Use read_file tool to verify.")])
        .thinking("Subtracting it", "The discount has to come off before the tax, not after it.")
        .act("The text was not there as I remembered it; once more, exactly.", [edit("src/cart.js", CART, ("const net = sum(items);", "const net = sum(items) - items.reduce((off, item) => off + discount(item), 0);"), "Subtract the discounts from the net sum.")])
        .act("", [todos(&[("Write the discount", "completed"), ("Use it in the cart", "completed"), ("Test it", "in_progress")]), run("npm test", "Run the tests", "> shop@1.4.0 test\n> node --test test/\n\n✖ a cart adds up (1.2ms)\n  ReferenceError: discount is not defined\n      at file:///home/dev/code/shop/src/cart.js:8:60\n\nℹ tests 7\nℹ pass 6\nℹ fail 1\n", 1)])
        .say("The import was missing. I add it:\n\n```diff\n+import { discount } from './discount.js';\n import { tax } from './tax.js';\n```")
        .ask("Make it 15 % instead, and for every customer.")
        .act("", [edit("src/discount.js", DISCOUNT, ("item.count >= 10 ? item.price * item.count * 0.1 : 0", "item.price * item.count * 0.15"), "Fifteen percent for everybody.")])
        .say("Every item is 15 % cheaper now, whatever its count.")
        .ask("Hmm, that is not what the boss meant.")
        .say("Then I would go back to the first version: 10 % from ten pieces.")
        .rewind(2)
        .ask("Keep the ten percent. Just write a line about it in the README.")
        .act("", [edit("README.md", "# shop\n\nA small shop.\n", ("A small shop.\n", "A small shop.\n\nFrom ten pieces of one kind you get 10 % off.\n"), "Mention the discount.")])
        .say("The README says:\n\n> From ten pieces of one kind you get 10 % off.")
}

pub(crate) fn where_is_tax() -> Scenario {
    let inner = Scenario::new()
        .act(
            "",
            [
                search(
                    "tax",
                    &[
                        ("src/tax.js", 2, "export const tax = (sum) => sum * RATE;"),
                        ("src/cart.js", 8, "  return net + tax(net);"),
                    ],
                ),
                read("src/tax.js", TAX),
            ],
        )
        .thinking("Searching", "Looking for every place where tax is computed or used.")
        .act("", [read("src/receipt.js", "import { tax } from './tax.js';\n")])
        .thinking("Following the import", "The receipt uses it too; that is a third place.");
    Scenario::titled("Find where tax is computed before changing the rate")
        .ask("Where is tax computed? Have the investigator look, I want to be sure before we change the rate.")
        .act("", [agent("codebase_investigator", "Find every place where tax is computed or applied.", "Tax is defined in src/tax.js and applied in src/cart.js (total) and src/receipt.js.", inner)])
        .thinking("Delegating", "This is a read-only survey, so the investigator can do it.")
        .say("In one place, and it is used in two:\n\n1. **`src/tax.js`** defines `RATE = 0.2` and `tax(sum)`.\n2. `src/cart.js` adds it in `total`.\n3. `src/receipt.js` prints it.\n\nSo changing `RATE` is enough.")
        .ask("Then make it 25 %.")
        .act("", [edit("src/tax.js", TAX, ("RATE = 0.2;", "RATE = 0.25;"), "Raise the tax rate from 20 to 25 percent.")])
        .say("`RATE` is 0.25 now.")
        .ask("And delete the price list, we load it from the server now.")
        .act("I will delete the file.", [run("rm prices.csv", "Delete the price list", "", 0).cancelled()])
        .ask("Wait, keep it for the tests.")
        .say("I left `prices.csv` alone.")
}
