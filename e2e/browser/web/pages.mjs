// Checks of every page: what it shows, where it leads, and what it must never do.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faint, overflow } from "../watch.mjs";
import { context, misdeeds, pause, rests, serve, sleep, soon, started, tab } from "./serve.mjs";

const PAGES = ["/sessions", "/search?q=script", "/live", "/live?replay=2026-11-13", "/projects", "/stats", "/stats?by=model", "/problems", "/history", "/s/gemini/279d2ba9", "/s/gemini/bad0c0de?level=trace&thoughts=1"];
/** What is drawn when a page is there. A page that is still loading says so with the same class. */
const READY = { "/sessions": ".list .row", "/search": ".hits .row, .empty:not([role=status])", "/live": ".board-table", "/projects": ".grid-table tbody tr", "/stats": ".grid-table tbody tr", "/problems": ".finding, .empty:not([role=status])", "/history": ".page-head", "/s": "article.message" };

const isDrawn = (page, path) => page.waitForSelector(READY[path.startsWith("/s/") ? "/s" : path.split("?")[0]]);

async function visit(page, server, path) {
  await page.goto(server.base + path);
  await isDrawn(page, path);
  await started(page);
  await pause(page, 150);
}
const selected = (page) => page.evaluate(() => document.querySelector(".row.selected .title")?.textContent ?? null);
const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); };

export const checks = {
  async "nothing planted runs, nothing is asked elsewhere, nothing is complained about"({ browser, server }) {
    const all = await context(browser);
    const page = await tab(all, server);
    for (const path of PAGES) {
      await visit(page, server, path);
      assert.deepEqual(await misdeeds(page), [], path);
    }
    const text = await page.evaluate(() => document.querySelector(".transcript").textContent);
    for (const place of ["prompt", "text", "code"]) assert.ok(text.includes(`<script>pwned('${place}')</script>`), `${place} is there as text`);
    await page.waitForFunction(() => document.title.includes("<script>pwned('title')</script>"));
    await all.close();
  },

  async "--open passes a ticket that opens the page once"({ browser, folder, demo }) {
    const [opener, opened] = [join(folder, "browser.sh"), join(folder, "opened")];
    writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > ${opened}.part\nmv ${opened}.part ${opened}\n`, { mode: 0o755 });
    const server = await serve(folder, [demo], ["--open"], { BROWSER: opener });
    for (let tries = 0; !existsSync(opened) && tries < 1200; tries += 1) await sleep(50);
    const url = readFileSync(opened, "utf8");
    assert.ok(url.startsWith(`${server.base}/#o=`) && !url.includes(server.token), url);
    const all = await context(browser);
    const page = await tab(all, { ...server, url });
    assert.equal(new URL(page.url()).hash, "");
    await page.reload();
    await page.waitForSelector(".list .row");
    assert.deepEqual(await misdeeds(page), []);
    const other = await context(browser);
    const late = await other.newPage();
    await late.goto(url);
    await late.waitForSelector(".locked");
    await Promise.all([all.close(), other.close(), server.stop()]);
  },

  async "a link to a message shows it, also by the start of an id"({ browser, server }) {
    const all = await context(browser);
    const page = await tab(all, server, "/s/gemini/279d2ba9");
    await page.waitForSelector("article.message");
    const link = await page.locator("article.prompt .time").last().getAttribute("href");
    await page.goto("about:blank");
    await page.goto(server.base + link);
    const target = page.locator("article.message.target");
    await target.waitFor();
    assert.match(await target.textContent(), /Keep the ten percent/);
    const top = await rests(page, "article.message.target");
    assert.ok(top > 40 && top < 800, `in view: ${top}`);
    assert.deepEqual(await misdeeds(page), []);
    await page.goto(`${server.base}/s/gemini/zzzzzzzz`);
    await page.getByRole("alert").waitFor();
    await all.close();
  },

  async "back restores the row and the place; forward the message"({ browser, server }) {
    const all = await context(browser, { height: 420 });
    const page = await tab(all, server);
    await press(page, ...Array(14).fill("j"));
    const [row, scroll] = [await selected(page), await page.evaluate(() => document.querySelector(".list").scrollTop)];
    assert.ok(scroll > 0);
    await press(page, "Enter");
    await page.waitForSelector("article.message");
    await page.goBack();
    await rests(page, ".row.selected");
    assert.equal(await selected(page), row);
    assert.equal(await page.evaluate(() => document.querySelector(".list").scrollTop), scroll);
    await page.goForward();
    await page.waitForSelector("article.message");
    await all.close();
  },

  async "filters are in the address, and the address is the filter"({ browser, server }) {
    const all = await context(browser);
    const page = await tab(all, server);
    const before = await page.locator(".count").first().textContent();
    await page.getByRole("button", { name: "+ filter" }).click();
    await page.locator(".choice", { hasText: "tinyparse" }).click();
    await page.waitForURL(/project=tinyparse/);
    const after = await page.locator(".count").first().textContent();
    assert.notEqual(after, before);
    await page.reload();
    await page.waitForSelector(".list .row");
    await started(page);
    assert.equal(await page.locator(".count").first().textContent(), after);
    for (const name of await page.locator(".row .project").allTextContents()) assert.equal(name, "tinyparse");
    await page.locator(".chip", { hasText: "tinyparse" }).click();
    await page.waitForURL((url) => !url.search.includes("project"));
    assert.equal(await page.locator(".count").first().textContent(), before);
    await page.goto(`${server.base}/sessions?sort=cost`);
    await page.waitForSelector(".list .row");
    await started(page);
    const costs = (await page.locator(".row .cost").allTextContents()).map((text) => Number(text.replace(/[≥$]/g, "")));
    assert.deepEqual(costs, [...costs].sort((one, other) => other - one));
    await all.close();
  },

  async "everything can be done by keyboard"({ browser, server }) {
    const all = await context(browser);
    const page = await tab(all, server);
    const first = await selected(page);
    await press(page, "j", "j", "k");
    assert.notEqual(await selected(page), first);
    await press(page, "/");
    await page.keyboard.type("quantity");
    await press(page, "Enter");
    await page.waitForFunction(() => document.querySelector(".row.selected .title")?.textContent.includes("quantity"));
    await press(page, "Enter");
    await page.waitForURL(/\/s\/gemini\/279d2ba9/);
    await page.waitForSelector("article.message");
    await press(page, "J");
    await page.waitForSelector("article.prompt.target");
    await press(page, "]", "e");
    await page.waitForFunction(() => document.querySelector("article.target .call.error"));
    await press(page, "=");
    await page.waitForURL(/level=full/);
    await press(page, "u");
    await page.waitForURL(/view=strict/);
    await page.waitForFunction(() => document.querySelectorAll("article.undone").length === 0);
    await press(page, "/");
    await page.keyboard.type("README");
    await page.waitForFunction(() => /of \d+ message/.test(document.querySelector(".find .count")?.textContent));
    await press(page, "Escape", "2");
    await page.waitForURL(/\/search/);
    await page.waitForSelector(".big-field:focus");
    await press(page, "Escape");
    for (const [key, path] of [["3", "live"], ["4", "projects"], ["5", "stats"], ["6", "problems"], ["7", "history"], ["1", "sessions"]]) {
      await press(page, key);
      await page.waitForURL(new RegExp(`/${path}`));
      await page.waitForFunction((name) => document.querySelector("nav [aria-current]")?.textContent.toLowerCase().startsWith(name), path);
      // A page that is not drawn yet takes no keys.
      await isDrawn(page, `/${path}`);
    }
    await press(page, "?");
    await page.waitForSelector("dialog[open] kbd");
    await press(page, "Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    await press(page, ":");
    await page.keyboard.type("go to stats");
    await press(page, "Enter");
    await page.waitForURL(/\/stats/);
    assert.deepEqual(await misdeeds(page), []);
    await all.close();
  },

  async "search finds, marks and leads to the message"({ browser, server }) {
    const all = await context(browser);
    const page = await tab(all, server, "/search");
    await page.waitForSelector(".big-field:focus");
    // At once: the page searches after each letter, and marks the start of a word, too.
    await page.keyboard.insertText("discount");
    await page.waitForSelector(".hits .row mark");
    assert.equal((await page.locator(".hits .row mark").first().textContent()).toLowerCase(), "discount");
    await page.locator(".big-field").fill("");
    await page.waitForSelector(".tips");
    assert.equal(await page.locator(".hits").count(), 0);
    await page.locator(".big-field").fill("discount");
    await page.waitForSelector(".hits .row mark");
    await press(page, "Enter");
    await page.waitForSelector("article.message.target");
    assert.match(await page.locator("article.message.target").textContent(), /discount/i);
    await all.close();
  },

  async "levels, undone turns and thoughts show what they say"({ browser, server }) {
    const all = await context(browser);
    const page = await tab(all, server, "/s/gemini/279d2ba9");
    await page.waitForSelector("article.undone");
    assert.match(await page.locator(".branch").first().textContent(), /undone/);
    await page.getByRole("button", { name: "talk" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".reader .call").length === 0);
    await page.getByRole("button", { name: "full", exact: true }).click();
    await page.waitForSelector(".reader .call");
    await page.getByLabel("thoughts").check();
    await page.waitForSelector(".thought");
    await page.locator(".call", { hasText: "ReadFile" }).first().locator("button").first().click();
    await page.waitForSelector(".call .output");
    await all.close();
  },

  async "a reader without --changes gets command lines"({ browser, server }) {
    const all = await context(browser);
    const page = await tab(all, server);
    await press(page, "d");
    await page.waitForSelector("dialog .command");
    assert.match(await page.locator("dialog .command").textContent(), /^recount .*delete [0-9a-f-]+/);
    await page.getByRole("button", { name: "Copy" }).click();
    await soon(async () => assert.match(await page.evaluate(() => navigator.clipboard.readText()), /delete/));
    await all.close();
  },

  async "narrow windows need no scrolling to the side"({ browser, server }) {
    for (const width of [320, 390, 719]) {
      const all = await context(browser, { width });
      const page = await tab(all, server);
      for (const path of PAGES) {
        await visit(page, server, path);
        assert.ok((await overflow(page)) <= 0, `${path} at ${width}`);
      }
      await all.close();
    }
  },

  async "text stands out, by day and by night"({ browser, server }) {
    for (const colorScheme of ["light", "dark"]) {
      const all = await context(browser, { colorScheme });
      const page = await tab(all, server);
      for (const path of PAGES) {
        await visit(page, server, path);
        assert.deepEqual(await faint(page), [], `${path}, ${colorScheme}`);
      }
      await all.close();
    }
  },

  async "landmarks, forced colors, and a sentence without scripts"({ browser, server }) {
    const all = await context(browser, { forcedColors: "active" });
    const page = await tab(all, server);
    for (const role of ["banner", "navigation", "main", "listbox"]) assert.equal(await page.getByRole(role).count(), 1, role);
    assert.equal(await page.locator('.list [role="option"][aria-selected="true"]').count(), 1);
    await all.close();
    const bare = await browser.newContext({ javaScriptEnabled: false });
    const silent = await bare.newPage();
    await silent.goto(`${server.base}/sessions`);
    assert.match(await silent.locator("noscript, .noscript").first().textContent(), /needs JavaScript/);
    await bare.close();
  },

  async "without the token nothing is shown"({ browser, server }) {
    const all = await context(browser);
    const page = await all.newPage();
    await page.goto(`${server.base}/sessions`);
    await page.getByText("This page is locked").waitFor();
    assert.equal(await page.locator(".row").count(), 0);
    await page.goto(`${server.base}/#k=${"0".repeat(64)}`);
    await page.getByText("This page is locked").waitFor();
    await page.goto(server.url);
    await page.waitForSelector(".list .row");
    assert.ok(!page.url().includes("#k="), "the token does not stay in the address");
    await all.close();
  },
};
