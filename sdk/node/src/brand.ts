// A program may have this package twice, by `import` and by `require`. What one copy makes is the other's too.

type Class = abstract new (...args: never[]) => object;

/** Lets `instanceof` know what another copy of the package has made. Classes that extend this one keep the ordinary meaning. */
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
