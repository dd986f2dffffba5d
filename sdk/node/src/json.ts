// Values as the JSON text that gates see. What that text would not show is refused: gates would pass an output whose content they
// have not seen, and whoever reads the output itself would find it.

import { types } from "node:util";

/** The text of a value; `name` is what an error calls it. What is not there is null. */
export function jsonText(name: string, value: unknown): string {
  if (value === undefined) return "null";
  try {
    const found = unseen(value);
    if (found !== undefined) throw new TypeError(`${name}${found}`);
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(name, value);
    throw error;
  }
}

/** What of a value JSON would not show, as `path: what`; undefined if it shows everything. */
function unseen(value: unknown): string | undefined {
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
      return `: a ${typeof value} is no JSON`;
  }
}

function inArray(list: readonly unknown[]): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(list);
  // Only `Array.prototype` is an array itself, also that of another realm.
  if (prototype !== Array.prototype && !Array.isArray(prototype)) return notPlain(list);
  const length = list.length;
  for (let index = 0; index < length; index += 1) {
    const found = unseen(list[index]);
    if (found !== undefined) return `[${index}]${found}`;
  }
  // Names beside the places, as in what `match` gives, come last.
  const names = Object.keys(list);
  const last = names[names.length - 1];
  const place = Number(last) >>> 0;
  const isPlace = last === undefined || (String(place) === last && place < length);
  const extra = isPlace ? Object.getOwnPropertySymbols(list)[0] : last;
  return extra === undefined ? undefined : `.${String(extra)}: JSON shows only the items of an array`;
}

function inObject(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !isPlain(prototype as object)) {
    return isDate(value, prototype as object) ? undefined : notPlain(value);
  }
  const names = Object.keys(value);
  // Asked apart, since `Reflect.ownKeys` alone takes as long as `JSON.stringify`.
  if (Object.getOwnPropertyNames(value).length !== names.length || Object.getOwnPropertySymbols(value).length > 0) {
    const hidden = Reflect.ownKeys(value).find((name) => typeof name === "symbol" || !names.includes(name));
    return `.${String(hidden)}: JSON shows no symbols and nothing that is not enumerable`;
  }
  for (const name of names) {
    const found = unseen((value as Record<string, unknown>)[name]);
    if (found !== undefined) return `.${name}${found}`;
  }
  return undefined;
}

/** `Object.prototype` of another realm, as that of `node:vm`. */
function isPlain(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

/** A `Date` is the text that it writes of itself. Not so one of a class of its own, or with something of its own. */
function isDate(value: object, prototype: object): boolean {
  return types.isDate(value) && Object.hasOwn(prototype, "getTimezoneOffset") && Reflect.ownKeys(value).length === 0;
}

function notPlain(value: object): string {
  const { constructor } = value;
  const name = typeof constructor === "function" && constructor.name !== "" ? constructor.name : "class";
  return `: ${/^[AEIOU]/.test(name) ? "an" : "a"} ${name} is no JSON, expected plain objects, arrays, texts, numbers, booleans, null or dates`;
}

/** The stack was not enough: the value contains itself, which `JSON.stringify` says better, or is just deep. */
function tooDeep(name: string, value: unknown): TypeError {
  try {
    JSON.stringify(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) {
      return new TypeError(`${name}: no JSON: ${cause instanceof Error ? cause.message.split("\n")[0] : String(cause)}`, { cause });
    }
  }
  return new TypeError(`${name}: too deep`);
}
