import type { ScaledRegistry } from '../deployment/index.js';
import { isHosted, type HostedModel } from '../registry/index.js';
import { Plan, type PlanSources } from './plan.js';
import { numbersOf, takeNumber, type NumberedPlace } from './placements.js';

export interface PlacerSources extends PlanSources {
  readonly registry: ScaledRegistry;
  /** Whether a replica, by its number, has been answering at its place for long enough that all frontends use it. */
  readonly isSettled: (model: HostedModel, replica: number) => boolean;
  readonly nowMs: () => number;
  /** Of the lease; undefined: another frontend places. */
  readonly token: () => number | undefined;
}

/** A replica that does not answer where it is to go is waited for so long. */
const PATIENCE_MS = 30_000;
/** Nodes and places have not changed for so long before a replica moves for balance's sake. */
const QUIET_MS = 5000;
/** A version whose replica did not answer where it was to go stays for so long. */
const STAYS_MS = 600_000;

type Places = readonly (NumberedPlace | null)[];

/** A version and where its replicas are now, in the order of the store. */
interface Version {
  readonly model: HostedModel;
  /** As the store has them. */
  readonly before: Places;
  readonly entryVersion: number;
  /** Of those that may stay. */
  readonly kept: Places;
}

/**
 * Says where every replica runs, while this frontend has the lease to say so. A replica stays where it is as long as its node is
 * there and not cordoned, and its GPU has room; others get the place that the plan finds, one after the other. One that is to leave
 * a node that runs (it is cordoned, or has more than its share) goes once another, beside it, answers: there is one more for as
 * long, one at a time of each version. One that has room nowhere else stays.
 */
export class Placer {
  /** Since when a replica that is to take another's place has been waited for. */
  private readonly waitingMs = new Map<string, number>();
  /** Versions that do not move for balance's sake, and until when. */
  private readonly staysUntilMs = new Map<string, number>();
  private quietSinceMs = -Infinity;
  private quietNodes = '';

  constructor(private readonly sources: PlacerSources) {}

  /** Brings what the store says in line with what the registry wants and with the nodes that there are. */
  reconcile(): void {
    const { registry, token, nowMs } = this.sources;
    const present = token();
    if (present === undefined) {
      // Whoever has the lease next waits for as long before it moves anything.
      this.quietNodes = '';
      return;
    }
    const models = registry.models().filter(isHosted);
    this.forgetAllBut(models, present);
    const plan = new Plan(this.sources);
    const versions = models.flatMap((model) => this.version(model, plan, present));
    let isQuiet = true;
    const settled: Version[] = [];
    for (const version of versions) {
      const places = this.place(version, plan);
      const hasChanged = this.write(version, places, present);
      if (hasChanged || places.some((place) => place?.replaces !== undefined)) isQuiet = false;
      else settled.push({ ...version, kept: places });
    }
    const nodes = plan.nodeNames().join();
    if (!isQuiet || nodes !== this.quietNodes) this.quietSinceMs = nowMs();
    this.quietNodes = nodes;
    if (nowMs() - this.quietSinceMs < QUIET_MS) return;
    this.balance(settled, plan, present);
    this.quietSinceMs = nowMs();
  }

  /** What is counted where it is; undefined where another frontend has said so later. */
  private version(model: HostedModel, plan: Plan, token: number): readonly Version[] {
    const entry = this.sources.placements.of(model);
    if (entry !== undefined && entry.value.token > token) return [];
    const before = entry?.value.places ?? [];
    let left = this.sources.registry.scale(model.name, model.version).replicas;
    const kept = before.map((place) => {
      const isWanted = place?.replaces !== undefined || left-- > 0;
      return isWanted && place !== null && plan.keeps(model, place) ? place : null;
    });
    return [{ model, before, kept, entryVersion: entry?.version ?? 0 }];
  }

  private place({ model, before, kept }: Version, plan: Plan): Places {
    const { registry, placements, isSettled } = this.sources;
    const { replicas } = registry.scale(model.name, model.version);
    const numbers = numbersOf(before);
    const taken = new Set(numbers);
    const own = before.flatMap((place, at) => (place?.replaces === undefined ? [at] : []));
    let coming = kept.filter((place) => place?.replaces !== undefined);
    const places: (NumberedPlace | null)[] = [];
    for (let index = 0; index < replicas; index++) {
      const at = own.at(index);
      const number = at === undefined ? takeNumber(taken) : numbers[at];
      const place = at === undefined ? null : kept[at];
      const heir = coming.find((one) => one?.replaces === number) ?? null;
      coming = coming.filter((one) => one !== heir);
      if (heir === null) {
        const found = place ?? plan.find(model);
        places[index] = found === null ? null : { ...found, number };
        continue;
      }
      const { replaces, ...inherited } = heir;
      const key = keyOf(model, heir.number);
      const isLate = place !== null && !isSettled(model, heir.number) && this.hasWaited(key);
      const isCordoned = place !== null && placements.isCordoned(place.node);
      if (place === null || isSettled(model, heir.number) || (isLate && isCordoned)) {
        this.waitingMs.delete(key);
        places[index] = inherited;
      } else {
        places[index] = place;
        if (isLate) this.staysUntilMs.set(keyOf(model), this.sources.nowMs() + STAYS_MS);
        else places[replicas] = { ...inherited, replaces };
      }
    }
    if (places.length === replicas) {
      const leaving = places.find((place) => place !== null && placements.isCordoned(place.node));
      const found = leaving ? plan.find(model) : null;
      if (leaving && found !== null) {
        places[replicas] = { ...found, number: takeNumber(taken), replaces: leaving.number };
      }
    }
    return places;
  }

  /** Whether there was something to write. */
  private write({ model, before, entryVersion }: Version, places: Places, token: number): boolean {
    if (JSON.stringify(places.map(fieldsOf)) === JSON.stringify(before.map(fieldsOf))) return false;
    this.sources.placements.set(model, { token, places }, entryVersion);
    return true;
  }

  /** One replica moves where there are fewer: first of what is on one node alone. */
  private balance(versions: readonly Version[], plan: Plan, token: number): void {
    const { isSettled, nowMs } = this.sources;
    const movable = versions.filter(({ model }) => (this.staysUntilMs.get(keyOf(model)) ?? 0) <= nowMs());
    for (const isTogether of [true, false]) {
      for (const version of movable) {
        const { model, kept } = version;
        const nodes = new Set(kept.flatMap((place) => place?.node ?? []));
        if (isTogether && (kept.length < 2 || nodes.size !== 1)) continue;
        for (const leaving of mostTogether(kept)) {
          if (!isSettled(model, leaving.number)) continue;
          const found = plan.findLessLoaded(model, leaving, isTogether ? 1 : 2);
          if (found === null) continue;
          const number = takeNumber(new Set(numbersOf(kept)));
          this.write(version, [...kept, { ...found, number, replaces: leaving.number }], token);
          return;
        }
      }
    }
  }

  private hasWaited(key: string): boolean {
    const nowMs = this.sources.nowMs();
    const sinceMs = this.waitingMs.get(key) ?? nowMs;
    const isOver = nowMs - sinceMs >= PATIENCE_MS;
    if (isOver) this.waitingMs.delete(key);
    else this.waitingMs.set(key, sinceMs);
    return isOver;
  }

  private forgetAllBut(models: readonly HostedModel[], token: number): void {
    const { placements } = this.sources;
    const known = new Set(models.map((model) => keyOf(model)));
    for (const version of placements.versions()) {
      if (known.has(keyOf(version))) continue;
      const entry = placements.of(version);
      if (entry !== undefined && entry.value.token <= token)
        placements.set(version, undefined, entry.version);
    }
    for (const key of this.staysUntilMs.keys()) if (!known.has(key)) this.staysUntilMs.delete(key);
    for (const key of this.waitingMs.keys()) {
      const [name, version] = JSON.parse(key) as readonly [string, string];
      if (!known.has(keyOf({ name, version }))) this.waitingMs.delete(key);
    }
  }
}

/** One replica of each node, of nodes with the most of them first. */
function mostTogether(places: Places): readonly NumberedPlace[] {
  const byNode = new Map<string, NumberedPlace[]>();
  for (const place of places) {
    if (place !== null) byNode.set(place.node, [...(byNode.get(place.node) ?? []), place]);
  }
  return [...byNode.values()].sort((a, b) => b.length - a.length).flatMap((of) => of.slice(-1));
}

function fieldsOf(place: NumberedPlace | null) {
  return place === null ? null : [place.node, place.gpu ?? null, place.number, place.replaces ?? null];
}

function keyOf({ name, version }: Pick<HostedModel, 'name' | 'version'>, number?: number): string {
  return JSON.stringify(number === undefined ? [name, version] : [name, version, number]);
}
