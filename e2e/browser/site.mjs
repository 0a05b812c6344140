// Checks of the index of a folder.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { faint, misdeeds, open, overflow, shown } from "./watch.mjs";

const ROWS = "tbody tr:not(.group)";
const titles = (page) =>
  page.evaluate((rows) => [...document.querySelectorAll(rows)].filter((row) => !row.hidden).map((row) => row.querySelector("a").textContent), ROWS);

/** Types or chooses, and waits until it has had its effect: by the page's own clock, however busy the machine is. */
async function narrow(page, id, value) {
  const field = page.locator(`#${id}`);
  if (["project", "model"].includes(id)) await field.selectOption(value); else await field.fill(value);
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 200); }));
  return titles(page);
}

export const checks = {
  async "nothing runs, loads or asks"({ browser, files }) {
    const page = await open(browser, files.index);
    await narrow(page, "find", "<script>");
    await page.locator("thead button").first().click();
    assert.deepEqual(await misdeeds(page), []);
    assert.ok((await page.evaluate(() => document.body.textContent)).includes("<script>pwned('title')</script>"));
  },

  async "every page is listed once, and every link leads to one"({ browser, files }) {
    for (const javaScriptEnabled of [true, false]) {
      const page = await open(browser, files.index, { javaScriptEnabled });
      const links = await page.evaluate((rows) => [...document.querySelectorAll(`${rows} a`)].map((link) => link.href), ROWS);
      const listed = links.map((link) => fileURLToPath(link));
      assert.deepEqual([...listed].sort(), [...files.all].sort());
      assert.ok(listed.every((file) => existsSync(file)));
      assert.equal(await shown(page, "tbody a"), files.all.length);
    }
  },

  async "without a script it is a table by project"({ browser, files }) {
    const page = await open(browser, files.index, { javaScriptEnabled: false });
    assert.equal(await shown(page, ".filters"), 0);
    assert.equal(await shown(page, "thead button"), 0);
    const groups = await page.evaluate(() => [...document.querySelectorAll(".group h2 bdi")].map((head) => head.textContent));
    assert.ok(groups.includes("shop") && groups.length === 7 && new Set(groups).size === 7, groups.join());
  },

  async "one finds by title, first prompt, project and id"({ browser, files }) {
    const page = await open(browser, files.index);
    assert.deepEqual(await narrow(page, "find", "QUANTITY discount"), ["Add a quantity discount to the cart"]);
    assert.equal(await page.locator("#found").textContent(), `1 of ${files.all.length}`);
    assert.deepEqual(await narrow(page, "find", "can we sign the tags"), ["Sign release tags"]);
    assert.deepEqual(await narrow(page, "find", "279d2ba9"), ["Add a quantity discount to the cart"]);
    const pages = files.all.filter((name) => name.includes("/release-tools/"));
    assert.ok(pages.length > 1);
    assert.equal((await narrow(page, "find", "release-tools")).length, pages.length);
    assert.deepEqual(await narrow(page, "find", "nobody said this"), []);
    assert.equal(await shown(page, ".none"), 1);
    assert.equal(await shown(page, ".group"), 0);
    await page.locator("#find").press("Escape");
    assert.equal((await titles(page)).length, files.all.length);
  },

  async "one filters by project, model and time"({ browser, files }) {
    const page = await open(browser, files.index);
    const shop = await narrow(page, "project", "shop");
    const pages = files.all.filter((name) => name.includes("/shop/"));
    assert.equal(shop.length, pages.length);
    assert.ok(shop.length > 5 && shop.length < files.all.length);
    assert.equal(await shown(page, ".group"), 1);
    const pro = await narrow(page, "model", "gemini-2.5-pro");
    assert.ok(pro.length > 0 && pro.length < shop.length);
    await narrow(page, "project", "");
    await narrow(page, "model", "");
    const late = await narrow(page, "since", "2026-11-01");
    const early = [await narrow(page, "since", ""), await narrow(page, "until", "2026-10-31")][1];
    assert.ok(late.length > 0 && early.length > 0);
    assert.equal(late.length + early.length, files.all.length, "none lasted from one to the other");
  },

  async "columns sort, up, down and back"({ browser, files }) {
    const page = await open(browser, files.index);
    const before = await titles(page);
    const tokens = () =>
      page.evaluate((rows) => [...document.querySelectorAll(rows)].filter((row) => !row.classList.contains("child"))
        .map((row) => Number(row.querySelector(".tokens").textContent.replaceAll(",", ""))), ROWS);
    const head = page.locator("th[data-sort=tokens]");
    await head.locator("button").click();
    const falling = await tokens();
    assert.deepEqual(falling, [...falling].sort((one, other) => other - one));
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    await head.locator("button").click();
    assert.deepEqual(await tokens(), falling.reverse());
    assert.equal(await shown(page, ".group"), 0);
    await head.locator("button").click();
    assert.deepEqual(await titles(page), before);
  },

  async "sub-agents stay below who ran them"({ browser, files }) {
    const page = await open(browser, files.index);
    const parents = () =>
      page.evaluate(() => [...document.querySelectorAll("tr.child")].map((row) => {
        let above = row.previousElementSibling;
        while (above.classList.contains("child")) above = above.previousElementSibling;
        return above.querySelector("a").textContent;
      }).sort());
    const before = await parents();
    assert.ok(before.length >= 2);
    await page.locator("th[data-sort=title] button").click();
    assert.deepEqual(await parents(), before);
  },

  async "a page and its index lead to each other"({ browser, files }) {
    const page = await open(browser, files.index);
    await page.locator("tbody a").first().click();
    await page.waitForSelector(".back a");
    await page.locator(".back a").click();
    await page.waitForSelector("#sessions");
    assert.equal(fileURLToPath(page.url()), files.index);
    assert.deepEqual(await misdeeds(page), []);
  },

  async "a phone needs no scrolling to the side"({ browser, files }) {
    const page = await open(browser, files.index, { width: 390, height: 844 });
    assert.ok((await overflow(page)) <= 0);
    assert.equal(await shown(page, "tbody a"), files.all.length);
  },

  async "text stands out from its paper, by day and by night"({ browser, files }) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(browser, files.index, { colorScheme });
      assert.deepEqual(await faint(page), [], colorScheme);
    }
  },
};
