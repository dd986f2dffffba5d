// Pictures of every page of the demo: `node screenshots.mjs FOLDER [WIDTH,…] [THEME,…]`.

import { mkdirSync } from "node:fs";
import { allPaths, startBrowser, startDemo } from "./demo.mjs";

const [folder, widths = "1440", themes = "light"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const demo = await startDemo();
const browser = await startBrowser();
try {
  const context = await browser.newContext({ timezoneId: "UTC" });
  const page = await context.newPage();
  await page.goto(demo.link);
  const paths = await allPaths(page, demo);
  for (const colorScheme of themes.split(",")) {
    await page.emulateMedia({ colorScheme });
    for (const width of widths.split(",").map(Number)) {
      await page.setViewportSize({ width, height: 900 });
      for (const [name, path] of Object.entries(paths)) {
        await page.goto(demo.url + path);
        await page.screenshot({ path: `${folder}/${name}-${colorScheme}-${width}.png`, fullPage: true });
      }
    }
  }
} finally {
  await browser.close();
  await demo.end();
}
