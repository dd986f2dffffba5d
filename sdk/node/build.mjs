// Builds the package in place: the addon with cargo, and the TypeScript sources as ES modules and as CommonJS.
//
//     node build.mjs                 builds everything, as `npm install` of this folder does; needs a Rust toolchain
//     node build.mjs --addon FILE    uses an addon that is already built

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({ options: { addon: { type: "string" } } });

function run(program, args, stdout = "inherit") {
  // On Windows npm is a shell script.
  const shell = process.platform === "win32" && program === "npm";
  return execFileSync(program, args, { cwd: here, shell, stdio: ["ignore", stdout, "inherit"], maxBuffer: 1 << 28 });
}

/** Builds the addon. Returns its path. */
function buildAddon() {
  const messages = run("cargo", ["build", "--release", "--locked", "--package", "renown-node", "--message-format=json-render-diagnostics"], "pipe");
  for (const line of String(messages).split("\n")) {
    const message = line === "" ? {} : JSON.parse(line);
    if (message.reason === "compiler-artifact" && message.target.name === "renown_node") return message.filenames[0];
  }
  throw new Error("cargo did not build the addon");
}

const addon = values.addon ?? buildAddon();
const target = join(here, "prebuilt", "renown.local.node");
mkdirSync(dirname(target), { recursive: true });
// Remove before copying: a running process may have the old file mapped.
rmSync(target, { force: true });
copyFileSync(addon, target);

const compiler = join(here, "node_modules", "typescript", "bin", "tsc");
if (!existsSync(compiler)) run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
for (const [folder, config] of [["esm", "tsconfig.json"], ["cjs", "tsconfig.cjs.json"]]) {
  rmSync(join(here, folder), { recursive: true, force: true });
  run(process.execPath, [compiler, "--project", config]);
}
// The package contains ES modules, except in this folder.
writeFileSync(join(here, "cjs", "package.json"), '{ "type": "commonjs" }\n');

// The package must contain the licenses. In the repository they are at the root.
for (const license of ["LICENSE-APACHE", "LICENSE-MIT"]) {
  const from = join(here, "..", "..", license);
  if (existsSync(from)) copyFileSync(from, join(here, license));
}
