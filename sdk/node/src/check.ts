// Checks of the caller's arguments. They run before any request, so that a mistake does not look like an unreachable
// server.

/** Returns the key without surrounding whitespace. Errors do not show the key, because errors end up in logs. */
export function checkedKey(key: unknown): string {
  if (typeof key !== "string") throw new TypeError(`key: ${typeof key}, expected a string`);
  const trimmed = key.trim();
  if (/^[\x21-\x7e]*$/.test(trimmed)) return trimmed;
  throw new TypeError(`key: ${trimmed.length} characters, expected only visible ASCII characters`);
}

/** Returns the base URL of a server without trailing slashes. */
export function checkedServer(url: unknown): string {
  const expected = 'expected a URL such as "http://127.0.0.1:7070"';
  if (typeof url !== "string") throw new TypeError(`baseUrl: ${typeof url}, ${expected}`);
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new TypeError(`baseUrl: ${withoutUser(url)} is not a URL, ${expected}`);
  }
  if (!["http:", "https:"].includes(parsed.protocol)) throw new TypeError(`baseUrl: ${withoutUser(url)}, ${expected}`);
  if (parsed.username !== "" || parsed.password !== "") throw new TypeError(`baseUrl: contains a user name or a password, ${expected}`);
  if (/[?#]/.test(url)) throw new TypeError(`baseUrl: ${withoutUser(url)} contains a query or a fragment, ${expected}`);
  return url.trim().replace(/\/+$/, "");
}

/** Returns the URL for an error text. The part before an `@` is hidden, because it can contain a password. */
function withoutUser(url: string): string {
  return JSON.stringify(url.replace(/^.*@/s, "…@").slice(0, 200));
}

// The longest delay of a timer. A timer with a longer delay fires immediately.
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Returns milliseconds for a timer. `Infinity` becomes the longest delay of a timer. */
export function checkedMs(name: string, value: unknown, zero: "allowed" | "rejected" = "allowed"): number {
  if (typeof value === "number" && (value > 0 || (value === 0 && zero === "allowed"))) return Math.min(value, TIMER_MS_MAX);
  throw new RangeError(
    `${name}: ${described(value)}, expected milliseconds, ${zero === "allowed" ? "0 or more" : "more than 0"}`,
  );
}

/** Returns a count: a whole number, or `Infinity`. */
export function checkedCount(name: string, value: unknown): number {
  if ((Number.isInteger(value) || value === Infinity) && (value as number) >= 0) return value as number;
  throw new RangeError(`${name}: ${described(value)}, expected a whole number, 0 or more`);
}

/** Returns the key if it is a valid header value that the server accepts. */
export function checkedIdempotencyKey(key: unknown): string {
  if (typeof key === "string" && /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/.test(key)) return key;
  throw new TypeError(`idempotencyKey: ${described(key)}, expected 1 to 200 ASCII characters without spaces at the ends`);
}

/** Throws for unknown option names. Otherwise a misspelled option would silently have its default. */
export function onlyKnown(options: unknown, known: readonly string[], toError: (message: string) => Error = typeError): void {
  if (typeof options !== "object" || options === null) throw toError(`options: ${described(options)}, expected an object`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw toError(`${unknown}: no such option, expected one of ${known.join(", ")}`);
}

function typeError(message: string): Error {
  return new TypeError(message);
}

/** Describes a value for an error text. */
function described(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  return typeof value === "number" || value === null || value === undefined ? String(value) : typeof value;
}
