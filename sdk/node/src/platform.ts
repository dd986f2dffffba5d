// Types of the platform. Programs without `@types/node` and without the DOM library get a minimal replacement.

/** An `AbortSignal`. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : {
      readonly aborted: boolean;
      readonly reason: unknown;
      addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
      removeEventListener(type: "abort", listener: () => void): void;
    };

/** The `fetch` function. */
export type Fetch = typeof globalThis extends { fetch: infer T extends (...args: never[]) => unknown }
  ? T
  : (url: string, init: object) => Promise<Reply>;

/** The options of `fetch`. */
export type Init = typeof globalThis extends { fetch: (url: string, init?: infer T) => unknown } ? NonNullable<T> : object;

/** A `Response`. */
export type Reply = typeof globalThis extends { Response: { prototype: infer T } }
  ? T
  : { readonly ok: boolean; readonly status: number; text(): Promise<string>; json(): Promise<unknown> };
