// Checks of a session page. `files` has the pages; each check gets a fresh one.

import assert from "node:assert/strict";
import { faint, misdeeds, open, overflow, shown } from "./watch.mjs";

const openAll = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
const level = (page, name) => page.locator(`label:has(#${name})`).click();
const turn = (page) => page.evaluate(() => document.activeElement.closest(".turn")?.id ?? null);
const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

/** How many hits there are, once all turns were searched: meanwhile the page says how many it has, and goes on with the next turn a moment later. */
const hitsOf = async (page) => {
  await page.waitForFunction(() => /^\d+ hits?$/.test(document.getElementById("found").textContent));
  return page.evaluate(async () => {
    for (let left = document.querySelectorAll(".turn").length; left >= 0; left -= 1) await new Promise((resolve) => { setTimeout(resolve, 20); });
    return CSS.highlights.get("hit").size;
  });
};

/** What can be seen at each level. */
const LEVELS = {
  talk: { ".call": false, "details.full": false, "article.trace": false },
  actions: { ".call": true, "details.full": false, "article.trace": false },
  full: { ".call": true, "details.full": true, "article.trace": false },
  trace: { ".call": true, "details.full": true, "article.trace": true },
};

export const checks = {
  async "nothing runs, loads or asks, whatever is opened"({ browser, files }) {
    for (const file of files.all) {
      const page = await open(browser, file);
      await level(page, "trace");
      await page.keyboard.press("t");
      await openAll(page);
      for (const link of await page.locator("main .target").all()) await link.hover();
      await page.evaluate(async () => {
        for (let y = 0; y < document.body.scrollHeight; y += 800) {
          scrollTo(0, y);
          await new Promise(requestAnimationFrame);
        }
      });
      assert.deepEqual(await misdeeds(page), [], file);
      await page.context().close();
    }
  },

  async "what was planted is there, as text"({ browser, files }) {
    const page = await open(browser, files.planted);
    const text = await page.evaluate(() => document.querySelector("main").textContent);
    for (const place of ["prompt", "heading", "text", "cell", "code", "argument", "output", "old", "new", "notice", "thought"]) {
      assert.ok(text.includes(`<script>pwned('${place}')</script>`), place);
    }
    assert.ok((await page.title()).includes("<script>pwned('title')</script>"));
    const schemes = await page.evaluate(() => [...document.links].map((link) => link.protocol));
    assert.deepEqual([...new Set(schemes)].sort(), ["file:", "https:"]);
  },

  async "images are drawn from the page itself"({ browser, files }) {
    const page = await open(browser, files.image);
    const image = page.locator("main img");
    await image.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.images[0].naturalWidth === 8);
    assert.equal(await image.getAttribute("alt"), "image/png, 73 B");
    assert.deepEqual(await misdeeds(page), []);
  },

  async "levels show what they say, with and without a script"({ browser, files }) {
    for (const javaScriptEnabled of [true, false]) {
      const page = await open(browser, files.story, { javaScriptEnabled });
      for (const [name, expected] of Object.entries(LEVELS)) {
        await level(page, name);
        for (const [selector, isShown] of Object.entries(expected)) {
          assert.equal((await shown(page, selector)) > 0, isShown, `${selector} at ${name}`);
        }
        assert.ok((await shown(page, ".prompt .said")) > 0 && (await shown(page, ".answer .marked")) > 0, name);
      }
    }
  },

  async "thoughts and what was undone can be left out"({ browser, files }) {
    for (const javaScriptEnabled of [true, false]) {
      const page = await open(browser, files.story, { javaScriptEnabled });
      assert.equal(await shown(page, ".thought"), 0);
      await page.locator("#thoughts").check();
      assert.ok((await shown(page, ".thought")) > 0);
      for (const selector of ["main .undone", "nav .undone"]) {
        await page.locator("#undone").check();
        assert.ok((await shown(page, selector)) > 0, selector);
        await page.locator("#undone").uncheck();
        assert.equal(await shown(page, selector), 0, selector);
      }
    }
  },

  async "j and k go from prompt to prompt"({ browser, files }) {
    const page = await open(browser, files.story);
    const visited = [];
    for (const key of ["j", "j", "j", "k", "k", "k"]) {
      await page.keyboard.press(key);
      visited.push(await turn(page));
    }
    assert.deepEqual(visited, ["p1", "p2", "p3", "p2", "p1", "p1"]);
    await page.locator("#undone").uncheck();
    await page.locator("#p1 .prompt").focus();
    await page.keyboard.press("j");
    assert.equal(await turn(page), "p4", "what is not shown is passed by");
    const top = await page.evaluate(() => document.activeElement.getBoundingClientRect().top);
    assert.ok(top >= 0 && top < 900, `the prompt is in sight: ${top}`);
  },

  async "keys choose the level, and not while one types"({ browser, files }) {
    const page = await open(browser, files.story);
    await page.keyboard.press("4");
    assert.ok(await page.locator("#trace").isChecked());
    await page.keyboard.press("1");
    assert.ok(await page.locator("#talk").isChecked());
    await page.locator("#find").fill("");
    await page.locator("#find").press("4");
    assert.ok(await page.locator("#talk").isChecked());
    assert.equal(await page.locator("#find").inputValue(), "4");
  },

  async "finding marks hits, filters the list and goes through them"({ browser, files }) {
    const page = await open(browser, files.story);
    await page.keyboard.press("/");
    // At once: the page searches after each letter, and hits of a part of the word would be counted.
    await page.keyboard.insertText("DISCOUNT");
    const hits = await hitsOf(page);
    assert.ok(hits > 2);
    assert.equal(await page.locator("#found").textContent(), `${hits} hits`);
    const listed = await shown(page, "#prompts li");
    assert.ok(listed > 0 && listed < (await page.locator("#prompts li").count()), `${listed} turns have hits`);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#found").textContent(), `2/${hits}`);
    const [range] = await page.evaluate(() => [...CSS.highlights.get("here")].map((hit) => hit.getBoundingClientRect().toJSON()));
    assert.ok(range.top > 0 && range.bottom < 900, JSON.stringify(range));
    await page.keyboard.press("Shift+Enter");
    assert.equal(await page.locator("#found").textContent(), `1/${hits}`);
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => CSS.highlights.get("hit").size), 0);
    assert.equal(await page.locator("#prompts li.without").count(), 0);
  },

  async "finding looks into folds, not into what is left out"({ browser, files }) {
    const page = await open(browser, files.story);
    const count = async () => {
      await page.locator("#find").fill("");
      await page.waitForFunction(() => document.getElementById("found").textContent === "");
      await page.locator("#find").fill("Found 2 matches");
      return hitsOf(page);
    };
    assert.equal(await count(), 0);
    await level(page, "full");
    assert.equal(await count(), 1);
    await page.locator("#find").press("Enter");
    assert.equal(await page.evaluate(() => [...CSS.highlights.get("here")][0].startContainer.parentElement.closest("details").open), true);
  },

  async "? opens the keys, Escape closes them"({ browser, files }) {
    const page = await open(browser, files.story);
    assert.equal(await shown(page, "#help"), 0);
    await page.keyboard.press("?");
    assert.equal(await shown(page, "#help"), 1);
    await page.keyboard.press("Escape");
    assert.equal(await shown(page, "#help"), 0);
  },

  async "light and dark follow the system or the reader, and are remembered"({ browser, files }) {
    const light = await open(browser, files.story, { colorScheme: "light" });
    const dark = await open(browser, files.story, { colorScheme: "dark" });
    const [day, night] = [await paper(light), await paper(dark)];
    assert.notEqual(day, night);
    await level(light, "theme-dark");
    assert.equal(await paper(light), night);
    await light.reload();
    assert.equal(await paper(light), night, "after a reload");
    await level(light, "theme-auto");
    assert.equal(await paper(light), day);
  },

  async "text stands out from its paper, by day and by night"({ browser, files }) {
    for (const colorScheme of ["light", "dark"]) {
      for (const file of [files.story, files.planted]) {
        const page = await open(browser, file, { colorScheme });
        await level(page, "trace");
        await page.keyboard.press("t");
        await openAll(page);
        assert.deepEqual(await faint(page), [], `${colorScheme} ${file}`);
      }
    }
  },

  async "changes stand side by side where there is room, else below each other"({ browser, files }) {
    const boxes = async (width) => {
      const page = await open(browser, files.story, { width });
      const box = (selector) => page.locator(`.diff.split ${selector}`).first().boundingBox();
      return [await box(".old"), await box(".new")];
    };
    const [old, young] = await boxes(1280);
    assert.ok(young.x >= old.x + old.width && Math.abs(young.y - old.y) < 1, "side by side");
    const [above, below] = await boxes(390);
    assert.ok(below.x === above.x && below.y >= above.y + above.height, "below each other");
  },

  async "code is coloured when it is seen"({ browser, files }) {
    const page = await open(browser, files.story);
    await page.locator(".diff").first().scrollIntoViewIfNeeded();
    await page.waitForFunction(() => CSS.highlights.get("keyword").size > 0 && CSS.highlights.get("string").size + CSS.highlights.get("number").size > 0);
  },

  async "a phone needs no scrolling to the side, and has the list at hand"({ browser, files }) {
    for (const file of files.all) {
      const page = await open(browser, file, { width: 390, height: 844, hasTouch: true });
      await level(page, "trace");
      await openAll(page);
      assert.ok((await overflow(page)) <= 0, `${file} is ${await overflow(page)} px too wide`);
      await page.context().close();
    }
    const page = await open(browser, files.story, { width: 390, height: 844 });
    assert.equal(await shown(page, "#prompts"), 0);
    await page.locator(".to-prompts").click();
    assert.equal(await shown(page, "#prompts"), 1);
    await page.locator("#prompts a").nth(1).click();
    assert.equal(await shown(page, "#prompts"), 0);
    assert.equal(new URL(page.url()).hash, "#p2");
  },

  async "without a script it is read all the same"({ browser, files }) {
    const page = await open(browser, files.story, { javaScriptEnabled: false });
    assert.ok((await shown(page, ".prompt .said")) >= 4);
    assert.equal(await shown(page, ".find, .help-key"), 0, "what needs a script is not offered");
    assert.ok((await shown(page, "#prompts a")) >= 4);
    await level(page, "full");
    const fold = page.locator("details.full").first();
    await fold.locator("summary").click();
    assert.ok(await fold.locator("pre").isVisible());
    await level(page, "theme-dark");
    assert.notEqual(await paper(page), await paper(await open(browser, files.story)));
  },

  async "the list, the charts and the parts of the page are named"({ browser, files }) {
    const page = await open(browser, files.story);
    const found = await page.evaluate(() => ({
      prompts: document.querySelectorAll(".prompt").length,
      listed: document.querySelectorAll("#prompts li").length,
      charts: [...document.querySelectorAll("svg[role=img]")].filter((svg) => svg.querySelector("title") && svg.querySelector("desc")).length,
      bars: document.querySelectorAll("svg a").length,
      unnamed: [...document.querySelectorAll("input, button, select")].filter((one) => !one.labels?.length && !one.textContent.trim() && !one.ariaLabel).length,
      landmarks: ["header", "main", "nav", "footer"].filter((name) => document.querySelector(name)).length,
      lang: document.documentElement.lang,
      ids: document.querySelectorAll("[id]").length - new Set([...document.querySelectorAll("[id]")].map((one) => one.id)).size,
    }));
    assert.deepEqual(found, { prompts: 4, listed: 4, charts: 2, bars: 4, unnamed: 0, landmarks: 4, lang: "en", ids: 0 });
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.hash), "#session", "the first stop is the way past the head");
  },

  async "on paper there are no buttons"({ browser, files }) {
    const page = await open(browser, files.story);
    await page.emulateMedia({ media: "print" });
    assert.equal(await shown(page, ".tools, #prompts, .to-prompts"), 0);
    assert.ok((await shown(page, ".prompt")) >= 4);
  },

  async "a silence is told"({ browser, files }) {
    const page = await open(browser, files.planted);
    assert.equal(await page.locator(".gap").textContent(), "2 h later");
  },
};
