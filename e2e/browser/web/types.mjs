// Checks the scripts of the page with the TypeScript compiler: names that do not exist, arguments that do not fit.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

export const checks = {
  async "the scripts fit together"() {
    const given = process.env.RECOUNT_E2E_MODULES;
    const folders = given ? [given, join(given, "node_modules")] : [join(here, "../../node_modules")];
    const compiler = folders.map((folder) => join(folder, "typescript/bin/tsc")).find((file) => existsSync(file));
    assert.ok(compiler, `no typescript in ${folders.join(" or ")}; run: npm ci --prefix e2e`);
    const { stdout, stderr } = spawnSync(process.execPath, [compiler, "-p", here, "--pretty", "false"], { encoding: "utf8" });
    // The vendored file is minified: the compiler guesses wrong about it.
    const wrong = `${stdout}${stderr}`.split("\n").filter((line) => line && !line.includes("/vendor/") && !line.startsWith(" "));
    assert.deepEqual(wrong, []);
  },
};
