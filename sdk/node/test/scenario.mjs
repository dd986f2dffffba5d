// Builds requests and checks replies of the files in `api-scenarios`. The README there describes the format.

import assert from "node:assert/strict";

const KINDS = {
  any: () => true,
  string: (found) => typeof found === "string",
  number: (found) => typeof found === "number",
  boolean: (found) => typeof found === "boolean",
  null: (found) => found === null,
  array: Array.isArray,
  object: isObject,
  time: (found) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(found),
  uuid: (found) => /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(found),
};

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Replaces each `${name}` in a string with the variable. */
function fill(text, variables) {
  return text.replace(/\$\{([^}]*)\}/g, (_, name) => {
    assert.ok(name in variables, `no variable ${name}`);
    const variable = variables[name];
    return typeof variable === "string" ? variable : JSON.stringify(variable);
  });
}

/** Returns the value with `$text`, `$list` and variables replaced. */
export function make(value, variables) {
  if (typeof value === "string") return fill(value, variables);
  if (Array.isArray(value)) return value.map((item) => make(item, variables));
  if (!isObject(value)) return value;
  if ("$text" in value) return makeText(value.$text, variables);
  if ("$list" in value) {
    const [item, count] = value.$list;
    return Array.from({ length: count }, (_, index) => make(item, { ...variables, index }));
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, make(item, variables)]));
}

/** Builds a string from a string, or from an array of strings and `[string, times]`. */
export function makeText(value, variables) {
  if (typeof value === "string") return fill(value, variables);
  const piece = (part) => (Array.isArray(part) ? fill(part[0], variables).repeat(part[1]) : fill(part, variables));
  return value.map(piece).join("");
}

/** Checks that a value is as expected, and stores the values of `$capture`. A missing value is `undefined`. */
export function check(path, expected, found, variables) {
  if (isObject(expected) && Object.keys(expected).some((name) => name.startsWith("$"))) {
    for (const [name, argument] of Object.entries(expected)) special(path, name, argument, found, variables);
    return;
  }
  const wrong = `${path}: ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`;
  assert.ok(found !== undefined, wrong);
  if (isObject(expected)) {
    assert.ok(isObject(found), wrong);
    for (const [name, inside] of Object.entries(expected)) check(`${path}.${name}`, inside, found[name], variables);
  } else if (Array.isArray(expected)) {
    assert.ok(Array.isArray(found) && found.length === expected.length, wrong);
    expected.forEach((inside, index) => check(`${path}[${index}]`, inside, found[index], variables));
  } else {
    assert.ok(found === (typeof expected === "string" ? fill(expected, variables) : expected), wrong);
  }
}

/** Applies one matcher. */
function special(path, name, argument, found, variables) {
  const wrong = `${path}: ${JSON.stringify(found)}, expected ${name} ${JSON.stringify(argument)}`;
  if (name === "$absent") return assert.ok(found === undefined, wrong);
  assert.ok(found !== undefined, wrong);
  const matchers = {
    $is: () => assert.ok(KINDS[argument](found), wrong),
    $matches: () => assert.match(typeof found === "string" ? found : JSON.stringify(found), new RegExp(fill(argument, variables), "u"), wrong),
    $between: () => assert.ok(typeof found === "number" && argument[0] <= found && found <= argument[1], wrong),
    $length: () => assert.ok(Array.isArray(found) && found.length === argument, wrong),
    $each: () => found.forEach((item, index) => check(`${path}[${index}]`, argument, item, variables)),
    $only: () => {
      assert.ok(isObject(found) && Object.keys(found).every((key) => key in argument), wrong);
      check(path, argument, found, variables);
    },
    $capture: () => (variables[argument] = found),
  };
  assert.ok(name in matchers, `${path}: no matcher ${name}`);
  return matchers[name]();
}
