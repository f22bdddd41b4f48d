/** How a source knows. */
export type SourceKind = 'measured' | 'fitted' | 'document' | 'derived' | 'assumed';

export interface Source {
  readonly kind: SourceKind;
  readonly text: string;
  readonly url?: string;
}

/** A value with the name of its source, and why it is so or what it changes. */
export interface Figure<T> {
  readonly value: T;
  readonly source: string;
  readonly note?: string;
}

type Leaf = number | readonly unknown[];

/** A tree of values with a figure in place of each value. */
export type Sourced<T> = {
  readonly [K in keyof T]: T[K] extends Leaf ? Figure<T[K]> : Sourced<T[K]>;
};

/** The same with any part left out. */
export type PartlySourced<T> = {
  readonly [K in keyof T]?: T[K] extends Leaf ? Figure<T[K]> : PartlySourced<T[K]>;
};

/** Makes figures of one source. */
export function cite(source: string): <T>(value: T, note?: string) => Figure<T> {
  return (value, note) => (note === undefined ? { value, source } : { value, source, note });
}
