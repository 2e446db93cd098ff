// The pages in a real browser: each kind from stored records, with its buttons, zooms and figures; names that want to do harm; a trace of a
// million events. No request leaves the page, and the console stays silent.
//
// Usage: node tests/browser/run.mjs --whyfaster FILE --events FILE   (make browser does it)

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { browser as open, option } from "./browser.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const records = join(here, "../records");
const whyfaster = option("whyfaster");
const events = option("events");
const work = mkdtempSync(join(tmpdir(), "whyfaster-pages-"));
// Times are those of a machine that others use too: what is promised, and this many times as much before it fails.
const SLACK = 5;
let failed = 0;

function check(holds, what) {
  if (holds) return;
  failed += 1;
  console.error(`FAIL ${what}`);
}

function made(name, ...words) {
  const file = join(work, name);
  execFileSync(whyfaster, ["report", ...words, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
  return file;
}

const record = (kind) => join(records, `0.1.0-${kind}.json`);
const HOSTILE = "=1</script></title></style><img src=x onerror=alert(1)>\"'`&lt;]]>--><!--\u2028\u202e<svg/onload=alert(2)>";

// The same record with other names of its commands.
function hostile(kind) {
  let text = readFileSync(record(kind), "utf8");
  const value = JSON.parse(readFileSync(record(kind), "utf8"));
  // With them, the report would be made anew of the names in the stream.
  delete value.schedule;
  const rename = (it, from) => {
    if (typeof it === "string") return from.includes(it) ? HOSTILE : it;
    if (Array.isArray(it)) return it.map((inner) => rename(inner, from));
    if (it && typeof it === "object") return Object.fromEntries(Object.entries(it).map(([key, inner]) => [key, ["kind", "cause"].includes(key) ? inner : rename(inner, from)]));
    return it;
  };
  const words = kind === "trace" ? value.commands.map((row) => row.command) : kind === "prices" ? [value.prices[0].variant]
    : value.plan.alternatives.map((it) => it.name);
  const renamed = rename(value, words.filter(Boolean));
  if (renamed.plan && renamed.plan.alternatives) renamed.plan.alternatives.forEach((it, at) => { it.name = at + HOSTILE; it.given_name = it.name; });
  const file = join(work, `hostile-${kind}.json`);
  writeFileSync(file, JSON.stringify(renamed));
  return file;
}

const chromium = await open();

// A page that may do nothing but show itself.
async function visit(file, options = {}) {
  const context = await chromium.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const heard = [];
  page.on("console", (message) => heard.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { heard.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    const address = request.url();
    if (address !== pathToFileURL(file).href && !address.startsWith("blob:")) heard.push(`request: ${address}`);
  });
  const began = Date.now();
  await page.goto(pathToFileURL(file).href);
  if (options.javaScriptEnabled !== false) await page.evaluate(() => page.ready);
  const name = file.slice(work.length + 1);
  return { page, name, took: Date.now() - began, done: async () => {
    check(heard.length === 0, `${name}: ${heard.join("; ")}`);
    await context.close();
  } };
}

// What every page has.
async function usual({ page, name }) {
  const sections = await page.$$eval("main > section", (all) => all.map((it) => it.id));
  check(sections.length > 2, `${name}: sections ${sections}`);
  for (const id of await page.$$eval("nav a", (all) => all.map((it) => it.getAttribute("href").slice(1)))) check(sections.includes(id), `${name}: the contents name ${id}`);
  const mute = await page.$$eval("svg.picture", (all) => all.filter((it) => !it.querySelector("title") || !it.querySelector("desc")).length);
  check(mute === 0, `${name}: ${mute} pictures without a text`);
  const canvases = await page.$$eval("canvas[tabindex]", (all) => all.filter((it) => !it.getAttribute("aria-label")).length);
  check(canvases === 0, `${name}: ${canvases} canvases without a text`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(wide <= 0, `${name}: ${wide} pixels wider than the screen`);
  const dark = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await dark();
  await page.click("#theme");
  check((await dark()) !== before, `${name}: the button does not change light to dark`);
}

// What the buttons save.
async function saved({ page, name }, file) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(`button.download:text-is("${file}")`)]);
  const path = join(work, `${name}-${file}`);
  await download.saveAs(path);
  check(download.suggestedFilename() === file, `${name}: saved as ${download.suggestedFilename()}`);
  return readFileSync(path, "utf8");
}

const digits = (text) => text.replace(/[^0-9.]/g, "");

async function comparisons() {
  for (const kind of ["batch", "closed", "why"]) {
    const visited = await visit(made(`${kind}.html`, record(kind)));
    const { page, name } = visited;
    await usual(visited);
    const given = JSON.parse(readFileSync(record(kind), "utf8"));
    const shown = JSON.parse(execFileSync(whyfaster, ["show", "--json", record(kind)], { maxBuffer: 1 << 28 }));
    const answer = execFileSync(whyfaster, ["show", "-q", record(kind)], { env: { ...process.env, COLUMNS: "10000", LC_ALL: "C.UTF-8" } }).toString().trim();
    check((await page.textContent("h1")).trim() === answer, `${name}: the answer is not that of the terminal: ${answer}`);
    // Figures: the curves are the record's own numbers.
    const plots = await page.evaluate(() => plots.all.map(({ data, plot }) => ({ data, drawn: plot.data.length })));
    const first = plots.find(({ data }) => data.kind === "rounds");
    const load = shown.levels[0].load;
    const units = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };
    for (const [at, series] of first.data.series.entries()) {
      const batches = given.batches.filter((it) => it.load === load && it.arm.alternative === at).sort((a, b) => a.round - b.round);
      const wanted = batches.map((it) => given.plan.mode.kind === "closed" ? it.makespan_s / it.copies.wall_s.length : it.makespan_s);
      const found = series.values.map((value) => value * units[first.data.unit]);
      check(wanted.length === found.length && wanted.every((value, round) => Math.abs(value / found[round] - 1) < 1e-9), `${name}: the rounds of ${series.name}`);
    }
    // The median in the table is the record's.
    const cell = await page.textContent("#times tbody tr:first-child td");
    const medians = shown.levels[0].results.flatMap((it) => [it.makespan_s.median, it.latency_s.p50]);
    check(medians.some((value) => [1, 1e3, 1e6].some((unit) => Number(digits(cell)) === Number((value * unit).toPrecision(3)))), `${name}: ${cell} is no median`);
    // A zoom, and back.
    const range = () => page.evaluate(() => [plots.all[0].plot.scales.x.min, plots.all[0].plot.scales.x.max]);
    const whole = await range();
    await page.locator(".u-over").first().scrollIntoViewIfNeeded();
    const box = await page.locator(".u-over").first().boundingBox();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 5 });
    await page.mouse.up();
    const zoomed = await range();
    check(zoomed[1] - zoomed[0] < (whole[1] - whole[0]) * 0.8, `${name}: dragging does not zoom: ${whole} ${zoomed}`);
    await page.click("text=whole range >> nth=0");
    check(String(await range()) === String(whole), `${name}: no way back from a zoom`);
    const csv = await saved(visited, "runs.csv");
    const copies = given.batches.reduce((sum, it) => sum + it.copies.wall_s.length, 0);
    check(csv.trim().split("\n").length === copies + 1, `${name}: rows of runs.csv`);
    const json = JSON.parse(await saved(visited, "record.json"));
    check(json.batches.length === given.batches.length, `${name}: batches of record.json`);
    await visited.done();
  }
}

async function explained() {
  const visited = await visit(made("causes.html", record("why")));
  const { page, name } = visited;
  const shown = JSON.parse(execFileSync(whyfaster, ["show", "--json", record("why")], { maxBuffer: 1 << 28 }));
  const bars = await page.$$eval("#causes rect.step", (all) => all.length);
  check(bars >= shown.findings.length, `${name}: ${bars} steps for ${shown.findings.length} findings`);
  for (const finding of shown.findings) check((await page.textContent("#causes")).includes(finding.sentence.slice(0, 20)), `${name}: ${finding.sentence}`);
  check((await page.$$("#experiments svg")).length === shown.experiments.filter((it) => it.changed_s.length).length, `${name}: experiments`);
  await visited.done();
}

async function traces() {
  const visited = await visit(made("trace.html", record("trace")));
  const { page, name } = visited;
  await usual(visited);
  const given = JSON.parse(readFileSync(record("trace"), "utf8"));
  const state = () => page.evaluate(() => ({ lanes: page.timelines[0].lanes.length, stats: page.timelines[0].stats, view: { ...Timeline.view }, events: page.timelines[0].events }));
  const before = await state();
  check(before.lanes > 0 && before.events === given.schedule.events, `${name}: lanes ${JSON.stringify(before)}`);
  await page.locator(".timeline canvas").scrollIntoViewIfNeeded();
  await page.click("text=zoom in >> nth=0");
  await page.click("text=zoom in >> nth=0");
  await page.waitForTimeout(100);
  const zoomed = await state();
  check(zoomed.view.to - zoomed.view.from < (before.view.to - before.view.from) / 3, `${name}: zoom ${JSON.stringify(zoomed.view)}`);
  await page.focus(".timeline canvas");
  await page.keyboard.press("ArrowRight");
  check((await state()).view.from > zoomed.view.from, `${name}: the arrow key does not move it`);
  await page.keyboard.press("0");
  check((await state()).view.from === 0, `${name}: 0 does not show all`);
  // The line of the critical path, without and with.
  check(before.stats.path > 0, `${name}: no critical path is drawn`);
  await page.click('.toolbar button:text-is("critical path")');
  await page.waitForTimeout(100);
  check((await state()).stats.path === 0, `${name}: the button does not take the critical path away`);
  await page.click("text=by CPU");
  await page.waitForTimeout(100);
  const names = await page.evaluate(() => page.timelines[0].lanes.map((lane) => lane.name));
  check(names.length > 0 && names.every((it) => it.startsWith("CPU ")), `${name}: lanes of CPUs: ${names}`);
  await page.click("text=by task");
  const command = given.commands[0].command.split(" ")[0];
  await page.fill(".timeline input", command);
  check(/^[1-9]/.test(await page.textContent(".timeline .told")), `${name}: nothing is found for ${command}`);
  const calls = await saved(visited, "calls.csv");
  check(calls.trim().split("\n").length === given.syscalls.length + 1, `${name}: rows of calls.csv`);
  await visited.done();
}

// A comparison that keeps one observed run of each alternative: both timelines move together.
async function aligned() {
  const { observed, ...stored } = JSON.parse(readFileSync(record("why"), "utf8"));
  // What was observed is packed in a file; a record that has it as it is is read too.
  const value = { ...stored, ...JSON.parse(gunzipSync(Buffer.from(observed, "base64"))) };
  const stream = JSON.parse(readFileSync(record("trace"), "utf8")).schedule;
  value.schedules = [0, 1].map((alternative) => ({ alternative, round: 0, left_out: 0, ...stream }));
  const file = join(work, "aligned.json");
  writeFileSync(file, JSON.stringify(value));
  const visited = await visit(made("aligned.html", file));
  const { page, name } = visited;
  await usual(visited);
  const state = () => page.evaluate(() => page.timelines.map((it) => ({ events: it.events, path: it.stats.path, frames: it.stats.frames })));
  const before = await state();
  check(before.length === 2 && before.every((it) => it.events === stream.events && it.path > 0), `${name}: ${JSON.stringify(before)}`);
  await page.click("text=zoom in >> nth=1");
  await page.waitForTimeout(100);
  const after = await state();
  check(after.every((it, at) => it.frames > before[at].frames), `${name}: one timeline stays behind`);
  check((await page.$$("#paths svg.picture rect.part")).length > 2, `${name}: the paths along the time`);
  await visited.done();
}

async function prices() {
  const visited = await visit(made("prices.html", record("prices")));
  const { page, name } = visited;
  await usual(visited);
  const list = JSON.parse(execFileSync(whyfaster, ["show", "--json", record("prices")], { maxBuffer: 1 << 28 }));
  const priced = list.prices.filter((it) => it.median_ns !== null).length;
  check((await page.$$("#prices rect.price")).length === priced, `${name}: a bar for each of ${priced} prices`);
  await visited.done();
  const lists = await visit(made("lists.html", "macosx-10.7", "debian-2.6.32", "openindiana-151a2"));
  await usual(lists);
  check((await lists.page.$$("#history .uplot")).length > 0, `${lists.name}: curves of the history`);
  await lists.done();
}

// A fleet: price lists as machines write them, the second kind of CPU dearer, one machine whose wake-ups of another CPU are dear, noise that
// is the same at every run.
function fleetOf(directory, machines, name, more = () => 0) {
  let state = 12345;
  const uniform = () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 2 ** 32; };
  const normal = () => Array.from({ length: 12 }, uniform).reduce((sum, it) => sum + it, -6);
  const kinds = [["kernel", "raw"], ["process", "reaped"], ["thread", "asleep,other_cpu"], ["pipe", "asleep,same_cpu"]];
  mkdirSync(join(work, directory), { recursive: true });
  for (let at = 0; at < machines; at++) {
    const prices = Array.from({ length: 60 }, (_, row) => {
      const [group, variant] = kinds[row % 4];
      const ns = 200 * 1.12 ** row * Math.exp(0.3 * (at % 2) + 0.03 * normal() + more(at, group, variant));
      return { group, name: `row${row}`, variant, unit: "one", median_ns: ns, floor_ns: ns, p99_ns: ns, low_ns: ns, high_ns: ns, mean_ns: ns, not_measured: null };
    });
    const fingerprint = { cpu_model: ["Xeon A", "EPYC B"][at % 2] + (name === HOSTILE ? HOSTILE : ""), kernel: "6.1", cpus_online: 2, missing: [] };
    const list = { schema: "whyfaster-prices/1", tool_version: "0.1.0", name: `${name}${at}`, started: "2026-11-23T00:00:00Z", took_s: 1, status: "complete",
      confidence: 0.95, clock: null, warnings: [], not_measured: [], fingerprint, prices };
    writeFileSync(join(work, directory, `n${at}.json`), JSON.stringify(list));
  }
  return join(work, directory);
}

function fleetPage(name, ...words) {
  const file = join(work, name);
  execFileSync(whyfaster, ["fleet", ...words, "-q", "--html", file], { stdio: ["ignore", "ignore", "pipe"] });
  return file;
}

async function fleets() {
  const broken = (at, group, variant) => (at === 17 && variant.includes("other_cpu") ? 0.7 : 0);
  const before = fleetOf("before", 24, "node", broken);
  const after = fleetOf("after", 24, "node", (at, group, variant) => broken(at, group, variant) + (group === "process" ? 0.3 : 0));
  // Comparisons that flip by CPU.
  const given = JSON.parse(readFileSync(record("batch"), "utf8"));
  const batches = [0, 1, 2, 3].flatMap((again) => given.batches.map((it) => ({ ...it, round: it.round + again * 3 })));
  for (let at = 0; at < 12; at++) {
    const times = at % 2 ? 5 : 0.05;
    const slow = (it) => it.arm.alternative !== 1 ? it : { ...it, makespan_s: it.makespan_s * times, copies: { ...it.copies, wall_s: it.copies.wall_s.map((wall) => wall * times) } };
    const host = { ...given.host, before: { ...given.host.before, cpu_model: ["Xeon A", "EPYC B"][at % 2] } };
    mkdirSync(join(work, `both/node${at}`), { recursive: true });
    writeFileSync(join(work, `both/node${at}/run.json`), JSON.stringify({ ...given, host, batches: batches.map(slow) }));
  }
  const visited = await visit(fleetPage("fleet.html", "report", before, join(work, "both")));
  const { page, name } = visited;
  await usual(visited);
  const report = JSON.parse(execFileSync(whyfaster, ["fleet", "report", before, join(work, "both"), "--json"], { maxBuffer: 1 << 28 }));
  check((await page.textContent("#outliers")).includes("node17 charges"), `${name}: node17 is not named`);
  const rows = report.prices.outliers.reduce((sum, it) => sum + it.rows.length, 0);
  check((await page.$$("#prices circle.stray")).length === rows && rows > 5, `${name}: a ring for each of ${rows} rows`);
  check((await page.$$("#prices svg.picture text.name")).length === 60, `${name}: a line for each of 60 rows`);
  check((await page.$$("#comparisons rect.middle")).length === 12 * report.comparisons.filter((it) => it.machines.length > 1).length, `${name}: a square for each machine`);
  check((await page.$$("#comparisons polygon.together")).length >= 3, `${name}: a diamond for each group and for all`);
  check(JSON.parse(await saved(visited, "fleet.json")).prices.machines.length === 24, `${name}: fleet.json`);
  await visited.done();
  const changed = await visit(fleetPage("diff.html", "diff", before, after));
  await usual(changed);
  const dearer = (await changed.page.$$("#rows > figure .on.bad")).length;
  check(dearer === 15, `${changed.name}: ${dearer} of 15 rows are dearer`);
  await changed.done();
  const harmful = await visit(fleetPage("hostile-fleet.html", "report", fleetOf("hostile", 24, HOSTILE, broken)));
  check((await harmful.page.$$("img, iframe, object, embed, link")).length === 0, `${harmful.name}: an element was made of a name`);
  check((await harmful.page.$$eval("script", (all) => all.filter((it) => !it.type).length)) === 1, `${harmful.name}: scripts run`);
  await harmful.done();
  const small = await visit(join(work, "fleet.html"), { viewport: { width: 400, height: 800 } });
  const wide = await small.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(wide <= 0, `${small.name}: ${wide} pixels wider than a telephone`);
  await small.done();
  const large = fleetPage("large-fleet.html", "report", fleetOf("large", 10000, "node", broken));
  const bytes = statSync(large).size;
  check(bytes < 4e6, `${large}: ${bytes} bytes for 10,000 machines`);
  const many = await visit(large);
  check((await many.page.$$("#prices path.area")).length === 120, `${many.name}: an area for each group and row`);
  console.log(`a fleet of 10,000 machines: ${(bytes / 1e6).toFixed(1)} MB, open in ${many.took} ms`);
  await many.done();
}

async function harm() {
  for (const kind of ["batch", "closed", "why", "trace", "prices"]) {
    const visited = await visit(made(`hostile-${kind}.html`, hostile(kind)));
    const { page, name } = visited;
    check((await page.$$("img, iframe, object, embed, link")).length === 0, `${name}: an element was made of a name`);
    const run = await page.$$eval("script", (all) => all.filter((it) => !it.type).length);
    check(run === 1, `${name}: ${run} scripts run`);
    for (const button of await page.$$eval("button.download", (all) => all.map((it) => it.textContent))) {
      const text = await saved(visited, button);
      if (button.endsWith(".csv")) check(!/(^|[\n,])"?=1/.test(text), `${name}: a formula in ${button}`);
    }
    await visited.done();
  }
}

async function withoutScripts() {
  for (const kind of ["why", "trace", "prices"]) {
    const visited = await visit(join(work, `${kind}.html`), { javaScriptEnabled: false });
    const hidden = await visited.page.locator("svg.picture").evaluateAll((all) => all.filter((it) => !it.closest("details") && it.getBoundingClientRect().height < 20).length).catch(() => 0);
    check(hidden === 0, `${visited.name}: ${hidden} pictures cannot be seen without scripts`);
    await visited.done();
  }
  const small = await visit(join(work, "why.html"), { viewport: { width: 400, height: 800 } });
  const wide = await small.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(wide <= 0, `${small.name}: ${wide} pixels wider than a telephone`);
  await small.page.emulateMedia({ media: "print" });
  const curves = await small.page.$$eval(".uplot", (all) => all.filter((it) => it.getBoundingClientRect().height > 0).length);
  const pictures = await small.page.$$eval("svg.picture", (all) => all.filter((it) => it.getBoundingClientRect().height > 20).length);
  check(curves === 0 && pictures > 3, `${small.name}: printed with ${curves} curves and ${pictures} pictures`);
  await small.done();
}

async function million() {
  if (!events) return;
  const file = made("million.html", events);
  const visited = await visit(file);
  const { page, name, took } = visited;
  const found = await page.evaluate(() => ({ events: page.timelines[0].events, lanes: page.timelines[0].lanes.length }));
  check(found.events >= 1_000_000, `${name}: ${JSON.stringify(found)}`);
  check(took < 2000 * SLACK, `${name}: opened in ${took} ms, which was to be 2000`);
  // Panning through all of it, near and far: the work of a frame is bounded by what is seen, whatever the trace holds.
  const frames = await page.evaluate(async () => {
    const it = page.timelines[0];
    const seen = [];
    for (const part of [1, 0.1, 0.01, 0.001]) {
      for (let step = 0; step < 10; step++) {
        const { most } = Timeline.view;
        it.show(most * (1 - part) * step / 10, most * (1 - part) * step / 10 + most * part);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        seen.push({ ...it.stats, width: it.size.width });
      }
    }
    return seen;
  });
  check(frames.filter((frame) => frame.bars > 0).length > frames.length / 2, `${name}: empty frames`);
  for (const frame of frames) {
    check(frame.bars <= frame.lanes * (frame.width + 2), `${name}: ${frame.bars} bars in a frame of ${frame.lanes} lanes`);
    check(frame.lanes <= 25 && frame.arrows <= 300, `${name}: ${frame.lanes} lanes, ${frame.arrows} arrows`);
  }
  const times = frames.map((frame) => frame.ms).sort((a, b) => a - b);
  check(times[times.length - 1] < 100 * SLACK, `${name}: a frame took ${times[times.length - 1]} ms, which was to be 100`);
  console.log(`a trace of ${found.events} events: ${(statSync(file).size / 1e6).toFixed(1)} MB, open in ${took} ms; frames: median ${times[times.length >> 1].toFixed(1)} ms, longest ${times[times.length - 1].toFixed(1)} ms`);
  await visited.done();
}

try {
  await comparisons();
  await explained();
  await traces();
  await aligned();
  await prices();
  await fleets();
  await harm();
  await withoutScripts();
  await million();
} finally {
  await chromium.close();
  if (!process.env.KEEP_PAGES) rmSync(work, { recursive: true, force: true });
}
if (failed) {
  console.error(`${failed} checks failed`);
  process.exit(1);
}
console.log("pages: all checks hold");
