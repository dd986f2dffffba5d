// Values as the JSON text that gates see: what `JSON.stringify` makes of them.

/** The text of a value; `name` is what an error calls it. What is not there is null. */
export function jsonText(name: string, value: unknown): string {
  if (value === undefined) return "null";
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    // A BigInt, a value that contains itself, or what its own `toJSON` throws.
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new TypeError(`${name}: no JSON: ${why}`, { cause });
  }
  if (text === undefined) throw new TypeError(`${name}: a ${typeof value} is no JSON`);
  return text;
}
