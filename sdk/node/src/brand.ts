// A program can load this package twice: by `import` and by `require`. Objects of one copy must work with the other
// copy.

type Class = abstract new (...args: never[]) => object;

/**
 * Makes `instanceof` recognize objects that another copy of the package created. Subclasses keep the usual
 * `instanceof`.
 */
export function brand(type: Class, name: string): void {
  const mark = Symbol.for(`renown.${name}`);
  const prototype = type.prototype as object;
  Object.defineProperty(prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value);
      return typeof value === "object" && value !== null && mark in value;
    },
  });
}
