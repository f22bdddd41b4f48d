import { z } from 'zod';
import { storeKey, storeKeyParts, type Store } from '../store/index.js';
import type { ModelRecord } from '../registry/index.js';

/** Where one replica of a version runs. */
export interface ReplicaPlace {
  readonly node: string;
  /** Which of the node's GPUs; absent of what needs none. */
  readonly gpu?: number | undefined;
}

/** The place of a replica, by which all know it: every frontend asks the node for the same one by its number. */
export interface NumberedPlace extends ReplicaPlace {
  readonly number: number;
  /** Number of the replica that goes once this one answers: for as long there is one more than wanted. */
  readonly replaces?: number | undefined;
}

/** Places of a version's replicas; null: one has none. */
export interface VersionPlaces {
  /** Of the frontend that said so: one with a smaller one says nothing any more. */
  readonly token: number;
  readonly places: readonly (NumberedPlace | null)[];
}

type Version = Pick<ModelRecord, 'name' | 'version'>;

const PLACES = z.object({
  token: z.number(),
  places: z.array(
    z
      .object({
        node: z.string(),
        gpu: z.int().optional(),
        number: z.int().min(0),
        replaces: z.int().optional(),
      })
      .nullable(),
  ),
});

/** Token of places that cannot be read: smaller than every other. */
export const UNREADABLE = 0;

const ROOT = 'placement';
const CORDON = 'cordon';

/** What the store says of places, the same for every frontend. */
export class Placements {
  /** @param isLeaving of nodes that say themselves that they are about to stop: as if they were cordoned */
  constructor(
    private readonly store: Store,
    private readonly isLeaving: (node: string) => boolean = () => false,
  ) {}

  of(model: Version): { readonly value: VersionPlaces; readonly version: number } | undefined {
    const entry = this.store.get(keyOf(model));
    if (entry === undefined) return undefined;
    const read = PLACES.safeParse(entry.value);
    // What cannot be read is written anew by whoever places.
    return { value: read.success ? read.data : { token: UNREADABLE, places: [] }, version: entry.version };
  }

  /** Every version that has places. */
  versions(): readonly Version[] {
    return this.store.list(`${ROOT}/`).map(({ key }) => {
      const [, name, version] = storeKeyParts(key);
      return { name, version };
    });
  }

  /** @param expected version of what is there, 0 if nothing is: whoever has written since then goes before */
  set(model: Version, value: VersionPlaces | undefined, expected: number): void {
    this.store.set(
      keyOf(model),
      value === undefined ? undefined : { ...value, places: value.places.map(plain) },
      expected,
    );
  }

  isCordoned(node: string): boolean {
    return this.isLeaving(node) || this.store.get(storeKey(CORDON, node)) !== undefined;
  }

  /** A node that is cordoned gets no replicas, and those that it has go elsewhere. */
  cordon(node: string, isCordoned: boolean, done: (kept: boolean) => void): void {
    this.store.set(storeKey(CORDON, node), isCordoned ? true : undefined, 'any', ({ ok }) => done(ok));
  }

  /** Called after each change of a place, and of what is cordoned. */
  watch(listener: () => void): () => void {
    const unwatch = [`${ROOT}/`, `${CORDON}/`].map((prefix) => this.store.watch(prefix, listener));
    return () => {
      for (const each of unwatch) each();
    };
  }
}

/** Numbers of a version's replicas, in order of their places: those that have no place go by the smallest that are free. */
export function numbersOf(places: readonly (NumberedPlace | null)[]): readonly number[] {
  const taken = new Set(places.flatMap((place) => place?.number ?? []));
  return places.map((place) => place?.number ?? takeNumber(taken));
}

/** The smallest number that is free; it no longer is. */
export function takeNumber(taken: Set<number>): number {
  let number = 0;
  while (taken.has(number)) number += 1;
  taken.add(number);
  return number;
}

function plain(place: NumberedPlace | null) {
  if (place === null) return null;
  const { node, gpu, number, replaces } = place;
  return {
    node,
    ...(gpu === undefined ? {} : { gpu }),
    number,
    ...(replaces === undefined ? {} : { replaces }),
  };
}

function keyOf({ name, version }: Version): string {
  return storeKey(ROOT, name, version);
}
