// Debian's chromium by playwright-core, and what is said where one of them is missing.

import { appendFileSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

// The value of an option of the command line.
export function option(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

// Ends the run as skipped, or as failed where everything is required.
function missing(what) {
  const line = `skipped: browser: ${what}`;
  console.log(line);
  if (process.env.WHYFASTER_REQUIRE === "full") process.exit(1);
  if (process.env.WHYFASTER_SKIPPED) appendFileSync(process.env.WHYFASTER_SKIPPED, line + "\n");
  process.exit(0);
}

// A browser that is offline.
export async function browser() {
  const executable = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
  if (!executable) missing("there is no chromium; scripts/setup.sh test installs Debian's");
  if (Number(process.versions.node.split(".")[0]) < 18) missing(`playwright-core needs node 18, this is ${process.version}`);
  const place = join(process.env.PLAYWRIGHT || ".", "node_modules/playwright-core/package.json");
  if (!existsSync(place)) missing("there is no playwright-core; scripts/setup.sh test installs it");
  const { chromium } = createRequire(place)("playwright-core");
  // Root has no sandbox in chromium. Nothing is reached but files that this test made.
  const args = ["--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
  return chromium.launch({ executablePath: executable, args });
}
