// What callers give, checked where it is given: a mistake must not look like a server that is away.

/** A key without the blanks around it. What is wrong is said by its form only: errors end up in logs. */
export function checkedKey(key: unknown): string {
  if (typeof key !== "string") throw new TypeError(`key: ${typeof key}, expected a string`);
  const trimmed = key.trim();
  if (/^[\x21-\x7e]*$/.test(trimmed)) return trimmed;
  throw new TypeError(`key: ${trimmed.length} characters with a blank, a line end or a letter that is not ASCII among them`);
}
