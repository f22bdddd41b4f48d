import type { ContainerChannel, ContainerFrame, FrameSink } from '../../protocol/index.js';
import type { RemoteStart } from './messages.js';
import { SharedReplica, type Hold } from './sharedReplica.js';

/** What has no holder since its frontend broke off is kept for so long: one that comes back finds it warm. */
export const DEFAULT_GRACE_MS = 10_000;

export interface ShelfOptions {
  readonly start: (request: RemoteStart) => ContainerChannel;
  readonly nowMs: () => number;
  readonly graceMs: number;
}

interface Place {
  readonly key: string;
  replica: SharedReplica | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** The replicas of a node: frontends that ask for the same one hold one together. */
export class ReplicaShelf {
  private readonly places = new Map<string, Place>();
  /** Of replicas that somebody still holds, and nobody else gets. */
  private readonly spent = new Set<Place>();

  constructor(private readonly options: ShelfOptions) {}

  get size(): number {
    return this.places.size + this.spent.size;
  }

  /** Frames may come at once. */
  hold(request: RemoteStart, sink: FrameSink<ContainerFrame>): Hold {
    const key = keyOf(request);
    const place = this.places.get(key) ?? this.put(key, request);
    clearTimeout(place.timer);
    const hold = place.replica?.hold(sink);
    if (hold === undefined) throw new Error('a place without a replica');
    return hold;
  }

  /** Ends all of them. */
  close(reason: string): void {
    for (const place of [...this.places.values(), ...this.spent]) this.end(place, reason);
  }

  private put(key: string, request: RemoteStart): Place {
    const { start, nowMs, graceMs } = this.options;
    const place: Place = { key, replica: undefined, timer: undefined };
    this.places.set(key, place);
    place.replica = new SharedReplica(start(request), {
      nowMs,
      onSpent: () => {
        this.remove(place);
        if (place.replica?.isHeld === true) this.spent.add(place);
      },
      onFree: (isLost) => {
        const end = (): void => this.end(place, 'nobody holds it');
        if (!isLost || this.places.get(key) !== place) end();
        else place.timer = setTimeout(end, graceMs);
      },
    });
    return place;
  }

  private end(place: Place, reason: string): void {
    this.remove(place);
    place.replica?.close(reason);
  }

  private remove(place: Place): void {
    clearTimeout(place.timer);
    this.spent.delete(place);
    if (this.places.get(place.key) === place) this.places.delete(place.key);
  }
}

/** Who asks for the same asks for one replica: of one model version, with the same files, numbered alike; wherever it runs. */
function keyOf(request: RemoteStart): string {
  return JSON.stringify({ ...request, gpu: undefined, memory: undefined }, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
