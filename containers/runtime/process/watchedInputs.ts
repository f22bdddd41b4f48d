/** Inputs of a batch, and which of them the model has looked at last. */
export interface WatchedInputs {
  readonly inputs: readonly unknown[];
  /** Its place; undefined before the first look. */
  readonly last: () => number | undefined;
}

/**
 * A model that goes through its inputs and throws has looked last at the one that it throws for. An array all the same: what a
 * model may do with it (change it, clone it) it may do with this one.
 */
export function watched(inputs: readonly unknown[]): WatchedInputs {
  let last: number | undefined;
  const array: unknown[] = new Array<unknown>(inputs.length);
  for (const [at, input] of inputs.entries()) {
    let value = input;
    Object.defineProperty(array, at, {
      enumerable: true,
      configurable: true,
      get: () => {
        last = at;
        return value;
      },
      set: (next: unknown) => {
        value = next;
      },
    });
  }
  return { inputs: array, last: () => last };
}
