// Loads the native addon: the one that was built here, or else the prebuilt one for this platform.
"use strict";

const { platform, arch } = process;
// Try both C libraries: loading fails for the wrong one.
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
