// The demo as a newcomer starts it, and a browser in front of it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import readline from "node:readline";
import { chromium } from "playwright-core";

/** Starts `renown serve --demo` on a free port; what it prints, and how to end it. */
export async function startDemo() {
  const args = ["serve", "--demo", "--listen", "127.0.0.1:0", "--otlp-grpc", "off", "--otlp-http", "off"];
  const server = spawn(process.env.RENOWN_PROGRAM, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, RENOWN_LOG: "warn" } });
  const ended = once(server, "exit");
  const found = {};
  const wanted = {
    url: /^renown \S+ on (http:\S+)/,
    link: /(http:\S+\/login\?token=\S+)/,
    publishable: /(rn_pub_[0-9A-Za-z]{32})/,
    secret: /(rn_sec_[0-9A-Za-z]{32})/,
  };
  for await (const line of readline.createInterface({ input: server.stdout })) {
    for (const [name, pattern] of Object.entries(wanted)) found[name] ??= pattern.exec(line)?.[1];
    if (Object.keys(wanted).every((name) => found[name])) break;
  }
  server.stdout.resume();
  return {
    ...found,
    async call(method, path, body, key = found.secret) {
      const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
      const reply = await fetch(found.url + path, { method, headers, body: body && JSON.stringify(body) });
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
      return reply.status === 204 ? undefined : reply.json();
    },
    async end() {
      server.kill("SIGTERM");
      await ended;
    },
  };
}

/** A browser that reaches nothing but the demo. */
export const startBrowser = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
  });

/** The pages of the demo: those of the bar on top, and the first thing that each list leads to. */
export async function allPaths(page, demo) {
  const first = async (path, selector) => {
    await page.goto(demo.url + path);
    return page.locator(selector).first().getAttribute("href");
  };
  return {
    overview: "/",
    agent: "/agents/support-triage",
    calibrating: "/agents/onboarding-mail",
    sessions: "/sessions",
    session: await first("/sessions", "main tbody a[href^='/sessions/']"),
    runs: "/runs",
    run: await first("/runs", "main tbody a[href^='/runs/']"),
    competitions: "/specs",
    competition: await first("/specs", "main a[href^='/specs/']"),
    evaluations: "/evaluations",
    failed: "/evaluations?verdict=failed",
    keys: "/keys",
    settings: "/settings",
    reference: "/docs",
  };
}
