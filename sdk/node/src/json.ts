// Converts values to the JSON text that gates read. A value that JSON does not show completely is an error. Otherwise
// a gate could pass an output whose hidden content the receiver can read.

import { types } from "node:util";

/** Returns the JSON text of a value. `name` is the name of the value in errors. `undefined` becomes null. */
export function jsonText(name: string, value: unknown): string {
  if (value === undefined) return "null";
  try {
    const problem = findHidden(value);
    if (problem !== undefined) throw new TypeError(`${name}${problem}`);
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(name, value);
    throw error;
  }
}

/** Finds content that JSON would not show. Returns its path and the problem, or undefined if JSON shows everything. */
function findHidden(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
    case "undefined":
      return undefined;
    case "object":
      if (value === null) return undefined;
      return Array.isArray(value) ? inArray(value) : inObject(value);
    default:
      return `: a ${typeof value} is not JSON`;
  }
}

function inArray(list: readonly unknown[]): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(list);
  // Of all prototypes only `Array.prototype` is itself an array, also in another realm.
  if (prototype !== Array.prototype && !Array.isArray(prototype)) return notPlain(list);
  const length = list.length;
  for (let index = 0; index < length; index += 1) {
    const problem = findHidden(list[index]);
    if (problem !== undefined) return `[${index}]${problem}`;
  }
  // Named properties, such as those of the result of `match`, come after the indexes.
  const names = Object.keys(list);
  const last = names[names.length - 1];
  const index = Number(last) >>> 0;
  const isIndex = last === undefined || (String(index) === last && index < length);
  const extra = isIndex ? Object.getOwnPropertySymbols(list)[0] : last;
  return extra === undefined ? undefined : `.${String(extra)}: JSON shows only the items of an array`;
}

function inObject(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !isPlain(prototype as object)) {
    return isDate(value, prototype as object) ? undefined : notPlain(value);
  }
  const names = Object.keys(value);
  // Two cheap checks first, because `Reflect.ownKeys` takes as long as `JSON.stringify`.
  if (Object.getOwnPropertyNames(value).length !== names.length || Object.getOwnPropertySymbols(value).length > 0) {
    const hidden = Reflect.ownKeys(value).find((name) => typeof name === "symbol" || !names.includes(name));
    return `.${String(hidden)}: JSON shows no symbols and no properties that are not enumerable`;
  }
  for (const name of names) {
    const problem = findHidden((value as Record<string, unknown>)[name]);
    if (problem !== undefined) return `.${name}${problem}`;
  }
  return undefined;
}

/** Returns whether a prototype is the `Object.prototype` of another realm, such as one of `node:vm`. */
function isPlain(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

/**
 * Returns whether a value is a plain `Date`, which JSON shows completely as a string. A subclass, or a `Date` with
 * own properties, can have more content.
 */
function isDate(value: object, prototype: object): boolean {
  return types.isDate(value) && Object.hasOwn(prototype, "getTimezoneOffset") && Reflect.ownKeys(value).length === 0;
}

function notPlain(value: object): string {
  const { constructor } = value;
  const name = typeof constructor === "function" && constructor.name !== "" ? constructor.name : "class";
  return `: ${/^[AEIOU]/.test(name) ? "an" : "a"} ${name} is not JSON, expected plain objects, arrays, strings, numbers, booleans, null or dates`;
}

/**
 * Returns the error after a stack overflow. If the value contains itself, the message of `JSON.stringify` is the
 * clearest.
 */
function tooDeep(name: string, value: unknown): TypeError {
  try {
    JSON.stringify(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) {
      return new TypeError(`${name}: not JSON: ${cause instanceof Error ? cause.message.split("\n")[0] : String(cause)}`, { cause });
    }
  }
  return new TypeError(`${name}: nested too deeply`);
}
