// The picture of the page in the book, of a stored record. `make screenshots` runs it.
//
// Usage: node tests/browser/screenshots.mjs --whyfaster FILE [--to DIRECTORY]

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { browser as open, option } from "./browser.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const to = option("to") || join(here, "../../docs/src/images");
const work = mkdtempSync(join(tmpdir(), "whyfaster-pictures-"));
const file = join(work, "report.html");
execFileSync(option("whyfaster"), ["report", join(here, "../records/0.1.0-flip.json"), "-o", file], { stdio: ["ignore", "ignore", "inherit"] });
mkdirSync(to, { recursive: true });

const chromium = await open();
for (const [name, colorScheme, height] of [["report", "light", 860]]) {
  const page = await chromium.newPage({ viewport: { width: 1080, height }, colorScheme });
  await page.goto(pathToFileURL(file).href);
  await page.evaluate(() => page.ready);
  const path = join(to, `${name}.png`);
  await page.screenshot({ path });
  console.log(`${path}: ${statSync(path).size} bytes`);
  await page.close();
}
await chromium.close();
rmSync(work, { recursive: true, force: true });
