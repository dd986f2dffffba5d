// Loads the native addon: one that was built here, or else the prebuilt one of this platform.
"use strict";

const { platform, arch } = process;
// Which C library there is shows when the addon is loaded.
const names = platform === "linux" ? [`linux-${arch}-gnu`, `linux-${arch}-musl`] : [`${platform}-${arch}`];

function load() {
  const problems = [];
  for (const name of ["local", ...names]) {
    try {
      return require(`./prebuilt/renown.${name}.node`);
    } catch (error) {
      problems.push(`${name}: ${error.message.split("\n")[0]}`);
    }
  }
  throw new Error(`renown has no native addon for ${platform} ${arch} (${problems.join("; ")})`);
}

module.exports = load();
