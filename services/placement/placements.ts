import { z } from 'zod';
import { storeKey, storeKeyParts, type Store } from '../store/index.js';
import type { ModelRecord } from '../registry/index.js';

/** Where one replica of a version runs. */
export interface ReplicaPlace {
  readonly node: string;
  /** Which of the node's GPUs; absent of what needs none. */
  readonly gpu?: number | undefined;
}

/** Places of a version's replicas by their numbers; null: there is none. */
export interface VersionPlaces {
  /** Of the frontend that said so: one with a smaller one says nothing any more. */
  readonly token: number;
  readonly places: readonly (ReplicaPlace | null)[];
}

type Version = Pick<ModelRecord, 'name' | 'version'>;

const PLACES = z.object({
  token: z.number(),
  places: z.array(z.object({ node: z.string(), gpu: z.int().optional() }).nullable()),
});

const ROOT = 'placement';
const CORDON = 'cordon';

/** What the store says of places, the same for every frontend. */
export class Placements {
  constructor(private readonly store: Store) {}

  of(model: Version): { readonly value: VersionPlaces; readonly version: number } | undefined {
    const entry = this.store.get(keyOf(model));
    if (entry === undefined) return undefined;
    const read = PLACES.safeParse(entry.value);
    // What cannot be read is written anew by whoever places.
    return { value: read.success ? read.data : { token: 0, places: [] }, version: entry.version };
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
    return this.store.get(storeKey(CORDON, node)) !== undefined;
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

function plain(place: ReplicaPlace | null) {
  if (place === null) return null;
  return place.gpu === undefined ? { node: place.node } : { node: place.node, gpu: place.gpu };
}

function keyOf({ name, version }: Version): string {
  return storeKey(ROOT, name, version);
}
