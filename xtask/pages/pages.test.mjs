// The pages in a real browser: they log in, render, filter, update by themselves, and can be used by everybody.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { allPaths, startBrowser, startDemo } from "./demo.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PAGE_BYTES_MAX = 100_000;
/** The API reference has every operation, and grows with them. */
const REFERENCE_BYTES_MAX = 150_000;

let demo, browser, cookies, paths;

before(async () => {
  demo = await startDemo();
  browser = await startBrowser();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(demo.link);
  assert.equal(new URL(page.url()).pathname, "/", "the link of the start logs in");
  cookies = await context.storageState();
  paths = await allPaths(page, demo);
  await context.close();
});

after(async () => {
  await browser?.close();
  await demo?.end();
});

/** A page of somebody who is logged in, unless other cookies are named. What goes wrong in it is gathered. */
async function open(options = {}) {
  const context = await browser.newContext({ storageState: cookies, timezoneId: "Europe/Rome", ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  return { context, page, problems };
}

test("every page renders in both themes and at every width, and axe finds nothing serious", async () => {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [390, 1440]) {
      const { context, page, problems } = await open({ colorScheme, viewport: { width, height: 900 } });
      for (const [name, path] of Object.entries(paths)) {
        const where = `${name} ${path} ${colorScheme} ${width}`;
        const reply = await page.goto(demo.url + path);
        assert.equal(reply.status(), 200, where);
        const most = path === "/docs" ? REFERENCE_BYTES_MAX : PAGE_BYTES_MAX;
        assert.ok((await reply.body()).length < most, `${where}: ${(await reply.body()).length} bytes`);
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
        const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
        assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [], where);
      }
      assert.deepEqual(problems, [], `${colorScheme} ${width}`);
      await context.close();
    }
  }
});

test("no page scrolls sideways at any width", async () => {
  const { context, page } = await open();
  for (const [name, path] of Object.entries(paths)) {
    for (const width of [320, 390, 768, 1024, 1180, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(demo.url + path);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${name} at ${width}: ${wide} pixels wide`);
    }
  }
  await context.close();
});

test("without the script pages are complete and times are in UTC", async () => {
  const { context, page } = await open({ javaScriptEnabled: false });
  for (const path of Object.values(paths)) assert.equal((await page.goto(demo.url + path)).status(), 200, path);
  await page.goto(demo.url);
  assert.equal(await page.locator(".agents tbody tr").count(), 12);
  assert.equal(await page.locator("[data-zone]").textContent(), "UTC");
  await context.close();
});

test("times are in the reader's zone, which is named", async () => {
  const { context, page } = await open();
  await page.goto(demo.url);
  assert.equal(await page.locator("[data-zone]").textContent(), "Europe/Rome");
  const { at, shown } = await page.locator("time[data-f=hm]").first().evaluate((time) => ({ at: time.dateTime, shown: time.textContent }));
  assert.equal(shown, new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "Europe/Rome" }).format(new Date(at)));
  await context.close();
});

test("every page says that it is a demo", async () => {
  const { context, page } = await open();
  for (const path of Object.values(paths)) {
    await page.goto(demo.url + path);
    assert.equal(await page.locator("header .demo").textContent(), "demo", path);
  }
  await context.close();
});

test("the overview names what needs attention, and a calibrating agent has no number", async () => {
  const { context, page } = await open();
  await page.goto(demo.url);
  assert.match(await page.locator("h1").textContent(), /attention/);
  assert.ok((await page.locator(".attention article").count()) >= 2);
  const row = page.locator("tr", { hasText: "onboarding-mail" });
  assert.match(await row.locator(".life").textContent(), /^calibrating \d+\/50$/);
  assert.equal(await row.locator(".num").textContent(), "–");
  await page.goto(demo.url + paths.calibrating);
  assert.match(await page.locator(".ring.big .of").textContent(), /of 50/);
  assert.equal(await page.getByText("points come from").count(), 0);
  await context.close();
});

test("search, filters and sorting work, and their addresses can be shared", async () => {
  const { context, page } = await open();
  await page.goto(demo.url);
  await page.getByLabel("Search").fill("TRIAGE");
  await page.getByLabel("Search").press("Enter");
  await page.waitForURL(/q=TRIAGE/);
  assert.deepEqual(await page.locator(".agents .who a").allTextContents(), ["support-triage"]);
  assert.equal(new URL(page.url()).hash, "#agents", "the browser shows the list, not what needs attention");
  await page.goto(demo.url);
  await page.getByLabel("Lifecycle").selectOption("calibrating");
  await page.waitForURL(/lifecycle=calibrating/);
  assert.deepEqual(await page.locator(".agents .who a").allTextContents(), ["onboarding-mail"]);
  await page.goto(demo.url);
  await page.getByRole("link", { name: "Agent", exact: true }).click();
  await page.waitForURL(/sort=name/);
  const names = await page.locator(".agents .who a").evaluateAll((links) => links.map((link) => link.title));
  assert.deepEqual(names, [...names].sort());
  await page.goto(demo.url + "/?q=no-agent-has-this-name");
  assert.match(await page.locator("main").textContent(), /No agent matches/);
  await page.goto(demo.url + "/evaluations?agent=refund-agent&verdict=failed");
  const verdicts = await page.locator("main tbody tr").allTextContents();
  assert.ok(verdicts.length > 0 && verdicts.every((row) => row.includes("refund-agent") && row.includes("pii")), verdicts[0]);
  await context.close();
});

test("a new evaluation appears without a reload, and an open page does not grow", async () => {
  const { context, page } = await open();
  await page.goto(demo.url + "/?q=live-agent");
  await demo.call("POST", "/v1/agents", { agent_id: "live-agent" });
  await page.goto(demo.url + "/?q=live-agent");
  await page.evaluate(() => { window.mark = "the same document"; });
  const nodes = () => page.evaluate(() => document.querySelectorAll("*").length);
  await page.waitForFunction(() => document.querySelector("[data-stream]:not(.off)"));
  const life = page.locator("tr", { hasText: "live-agent" }).locator(".life");
  assert.equal(await life.textContent(), "new");
  const sizes = [];
  for (let count = 1; count <= 3; count++) {
    await demo.call("POST", "/v1/ingest", { events: [{ agent_id: "live-agent", passed: true, total_latency_ms: 1 }] });
    await page.waitForFunction((text) => document.querySelector(".life").textContent === text, `calibrating ${count}/50`, { timeout: 60_000 });
    sizes.push(await nodes());
  }
  assert.equal(await page.evaluate(() => window.mark), "the same document");
  assert.ok(Math.max(...sizes) - Math.min(...sizes) < 40, `${sizes} elements`);
  await page.goto(demo.url + "/evaluations?agent=live-agent");
  assert.equal(await page.locator("main tbody tr").count(), 3);
  await demo.call("POST", "/v1/ingest", { events: [{ agent_id: "live-agent", passed: false, total_latency_ms: 1 }] });
  await page.waitForFunction(() => document.querySelectorAll("main tbody tr").length === 4, undefined, { timeout: 60_000 });
  await context.close();
});

test("ids and tools of any kind are shown as text", async () => {
  const odd = ["<script>window.pwned=1</script>", `"'><img src=x onerror=window.pwned=1>`, "😀 émoji", "مساعد التصحيح", "x".repeat(200), "a/b/../c?d#e%2F"];
  const events = odd.map((agent_id) => ({
    agent_id,
    passed: false,
    total_latency_ms: 1,
    tool: agent_id.slice(0, 200),
    gates: [{ name: "<b>gate|", passed: false, latency_ms: 1, reason: "<i>why | not</i>" }],
  }));
  await demo.call("POST", "/v1/ingest", { events });
  const { context, page, problems } = await open({ viewport: { width: 390, height: 900 } });
  for (const agent of odd) {
    for (const path of ["/agents/" + encodeURIComponent(agent), "/evaluations?agent=" + encodeURIComponent(agent), "/?q=" + encodeURIComponent(agent)]) {
      const reply = await page.goto(demo.url + path);
      assert.equal(reply.status(), 200, path);
      const said = await page.locator("main").evaluate((main) => [main, ...main.querySelectorAll("[title]")].map((part) => part.title + part.textContent).join("\n"));
      assert.ok(said.includes(agent.split("/").at(-1)), path);
      assert.equal(await page.evaluate(() => window.pwned), undefined, path);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 390, `${path}: ${wide} pixels wide`);
    }
  }
  assert.deepEqual(problems, []);
  await context.close();
});

test("a key logs in, and is out when it is revoked", async () => {
  const { id, key } = await demo.call("POST", "/v1/keys", { kind: "publishable", label: "browser" });
  const { context, page } = await open({ storageState: undefined });
  await page.goto(demo.url + "/sessions");
  assert.equal(new URL(page.url()).pathname, "/login");
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(/\/sessions$/);
  assert.equal(await page.getByRole("link", { name: "Keys" }).count(), 0, "a publishable key does not administer");
  await demo.call("DELETE", `/v1/keys/${id}`);
  await page.goto(demo.url);
  assert.equal(new URL(page.url()).pathname, "/login");
  await context.close();
});

test("without a login nothing is shown", async () => {
  const { context, page } = await open({ storageState: undefined });
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(demo.url + path);
    const at = new URL(page.url()).pathname;
    assert.equal(at, name === "reference" ? "/docs" : "/login", path);
    assert.ok(!(await page.content()).includes("refund-agent"), path);
  }
  assert.equal((await page.request.get(demo.url + "/live")).status(), 401);
  await page.goto(demo.link);
  assert.match(await page.locator("[role=alert]").textContent(), /was used already/);
  await context.close();
});

test("a key is made on the page, shown once, and revoked after a question", async () => {
  const { context, page, problems } = await open();
  await page.goto(demo.url + "/keys");
  await page.getByLabel("Label").fill("from the page");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("[role=status] code").first().textContent();
  assert.match(key, /^rn_pub_[0-9A-Za-z]{32}$/);
  await demo.call("GET", "/v1/overview", undefined, key);
  await page.goto(demo.url + "/keys");
  assert.ok(!(await page.content()).includes(key));
  const row = page.locator("tr", { hasText: "from the page" });
  await row.getByRole("button", { name: "Revoke" }).click();
  assert.match(problems.pop(), /^dialog: Revoke this key\?/);
  assert.equal(await row.getByRole("button", { name: "Revoke" }).count(), 1, "the question was answered with no");
  page.removeAllListeners("dialog");
  page.on("dialog", (dialog) => dialog.accept());
  await row.getByRole("button", { name: "Revoke" }).click();
  await row.getByText("revoked").waitFor();
  await assert.rejects(demo.call("GET", "/v1/overview", undefined, key), /401/);
  assert.deepEqual(problems, []);
  await context.close();
});

test("the keyboard reaches everything, and charts tell their values", async () => {
  const { context, page } = await open();
  await page.goto(demo.url + paths.agent);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
  const reached = new Set();
  for (let count = 0; count < 60; count++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.tagName + (document.activeElement.className.baseVal ?? "")));
  }
  for (const wanted of ["A", "BUTTON", "INPUT", "svgchart", "SUMMARY"]) assert.ok(reached.has(wanted), `${wanted}: ${[...reached]}`);
  await page.locator("svg.chart").first().focus();
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.locator(".tip").textContent(), /^\d+ \w+: \d+, from \d+ to \d+; \d+ evaluations?, \d+ failed$/);
  await page.keyboard.press("Escape");
  assert.ok(await page.locator(".tip").isHidden());
  await page.locator(".strip svg").hover();
  assert.match(await page.locator(".tip").textContent(), / ms/);
  await context.close();
});

test("an owner shows an agent to everybody, and hides it again", async () => {
  const { context, page } = await open();
  const stranger = await open({ storageState: undefined });
  await page.goto(demo.url + "/agents/docs-writer");
  await page.getByLabel("Public page").check();
  await page.getByRole("link", { name: "/public/docs-writer" }).waitFor();
  assert.equal((await stranger.page.goto(demo.url + "/public/docs-writer")).status(), 200);
  assert.match(await stranger.page.locator("h1").textContent(), /docs-writer/);
  assert.equal((await stranger.page.request.get(demo.url + "/badge/docs-writer.svg")).status(), 200);
  assert.deepEqual(stranger.problems, []);
  await page.getByLabel("Public page").uncheck();
  await page.getByRole("link", { name: "/public/docs-writer" }).waitFor({ state: "detached" });
  assert.equal((await stranger.page.goto(demo.url + "/public/docs-writer")).status(), 404);
  await stranger.context.close();
  await context.close();
});

test("logging out ends the visit", async () => {
  const { key } = await demo.call("POST", "/v1/keys", { kind: "secret" });
  const { context, page } = await open({ storageState: undefined });
  await page.goto(demo.url + "/login");
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("button", { name: "Log out" }).click();
  assert.equal(new URL(page.url()).pathname, "/login");
  await page.goto(demo.url);
  assert.equal(new URL(page.url()).pathname, "/login");
  await context.close();
});
