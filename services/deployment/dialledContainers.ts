import type { ContainerChannel } from '../../containers/protocol/index.js';
import { Complaints, type DialledContainer } from '../../containers/runtime/index.js';
import type { Complaint } from '../errors/index.js';
import { isExternal, type ExternalModel, type RegistryView } from '../registry/index.js';
import type { DialledStarter } from './deployer.js';

/** Where containers dial in. */
export interface DialIn {
  containers(): readonly DialledContainer[];
  watch(listener: () => void): () => void;
}

export interface DialledContainersOptions {
  readonly dialIn: DialIn;
  readonly registry: Pick<RegistryView, 'model' | 'watch'>;
  /** Containers that serve at once; more of them wait. */
  readonly most: number;
  readonly complain: Complaint;
  /** Milliseconds of a clock that only goes forward. */
  readonly nowMs: () => number;
}

interface Place {
  readonly model: ExternalModel;
  readonly number: number;
  isOpened: boolean;
}

/** Containers of one version that come and go all the time are taken in no faster: so many at once, and so many a second then. */
const MOST_AT_ONCE = 64;
const PER_SECOND = 20;

/**
 * Which containers that have dialled in are replicas of which external models: those whose name, version and input type a
 * registration has. The others stay connected, and serve as soon as one has.
 */
export class DialledContainers implements DialledStarter {
  private readonly places = new Map<DialledContainer, Place>();
  /** Told why they do not serve. */
  private readonly told = new WeakSet<DialledContainer>();
  /** By name and version. */
  private readonly paces = new Map<string, { left: number; sinceMs: number }>();
  private readonly complaints: Complaints;
  /** Nothing has changed since it was last looked who is where. */
  private isFresh = false;
  private readonly unwatch: readonly (() => void)[];
  private onRoom: () => void = () => undefined;
  private retrying: NodeJS.Timeout | undefined;
  private looking: NodeJS.Immediate | undefined;

  constructor(private readonly options: DialledContainersOptions) {
    const { dialIn, registry, complain, nowMs } = options;
    this.complaints = new Complaints(complain, nowMs);
    this.unwatch = [
      dialIn.watch(() => this.onChange()),
      // Whoever runs replicas hears of it, too, and asks for their numbers then.
      registry.watch(({ kind, name }) => {
        if (kind !== 'model') return;
        this.isFresh = false;
        this.forgetPaces(name);
      }),
    ];
  }

  watchRoom(listener: () => void): void {
    this.onRoom = listener;
  }

  /** Of a registered version. */
  numbers(model: ExternalModel): readonly number[] {
    this.refresh();
    const numbers: number[] = [];
    for (const place of this.places.values()) if (place.model === model) numbers.push(place.number);
    return numbers;
  }

  obstacle(model: ExternalModel, replica: number): string | undefined {
    return this.find(model, replica) === undefined ? 'its container is gone' : undefined;
  }

  start(model: ExternalModel, replica: number): ContainerChannel {
    const found = this.find(model, replica);
    // Whoever starts has asked for obstacles in this very turn.
    if (found === undefined) throw new Error(`no container of ${model.name} is replica ${replica}`);
    const [container, place] = found;
    place.isOpened = true;
    return container.open(String(replica));
  }

  close(): void {
    clearTimeout(this.retrying);
    clearImmediate(this.looking);
    for (const unwatch of this.unwatch) unwatch();
  }

  /** One that is to be opened: each is, once. */
  private find(model: ExternalModel, replica: number): [DialledContainer, Place] | undefined {
    this.refresh();
    for (const [container, place] of this.places) {
      if (place.model === model && place.number === replica && !place.isOpened) return [container, place];
    }
    return undefined;
  }

  private onChange(): void {
    this.isFresh = false;
    this.onRoom();
    // Where no external model is registered, nobody else looks.
    this.looking ??= setImmediate(() => {
      this.looking = undefined;
      this.refresh();
    });
  }

  private refresh(): void {
    if (this.isFresh) return;
    this.isFresh = true;
    const { dialIn, registry, most } = this.options;
    const present = new Set(dialIn.containers());
    for (const [container, { model, isOpened }] of this.places) {
      const isRegistered = registry.model(model.name, model.version) === model;
      // What is in use goes once it has answered: its connection ends then.
      if (!present.has(container) || (!isRegistered && !isOpened)) this.places.delete(container);
    }
    for (const container of present) {
      if (this.places.has(container)) continue;
      const model = this.modelOf(container);
      if (model === undefined) continue;
      if (this.places.size >= most) {
        this.refuse(container, `${most} serve already, which are the most: see --clipper-max-containers`);
      } else if (this.mayEnter(container)) {
        this.places.set(container, { model, number: this.freeNumber(model), isOpened: false });
      }
    }
  }

  private modelOf(container: DialledContainer): ExternalModel | undefined {
    const { model: name, version, inputType } = container;
    const model = this.options.registry.model(name, version);
    if (model === undefined) {
      this.refuse(container, 'no such version of a model is registered: it serves once it is');
      return undefined;
    }
    if (!isExternal(model)) {
      this.refuse(
        container,
        `that version is registered as one that this server runs: ${model.container.kind}`,
      );
      return undefined;
    }
    if (model.inputType === inputType) return model;
    this.refuse(container, `it takes ${inputType}, and is registered with ${model.inputType}`);
    return undefined;
  }

  private refuse(container: DialledContainer, reason: string): void {
    if (this.told.has(container)) return;
    this.told.add(container);
    const { model, version, peer } = container;
    // There are few reasons, and no more with what a container says.
    const message = 'a container has dialled in and does not serve';
    this.complaints.complain(message, { model, version, peer, reason }, reason);
  }

  private freeNumber(model: ExternalModel): number {
    const taken = new Set<number>();
    for (const place of this.places.values()) {
      if (place.model.name === model.name && place.model.version === model.version) taken.add(place.number);
    }
    let number = 0;
    while (taken.has(number)) number += 1;
    return number;
  }

  private mayEnter({ model, version }: DialledContainer): boolean {
    const key = paceKey(model, version);
    const nowMs = this.options.nowMs();
    const pace = this.paces.get(key) ?? { left: MOST_AT_ONCE, sinceMs: nowMs };
    pace.left = Math.min(MOST_AT_ONCE, pace.left + ((nowMs - pace.sinceMs) * PER_SECOND) / 1000);
    pace.sinceMs = nowMs;
    this.paces.set(key, pace);
    if (pace.left < 1) {
      this.retrying ??= setTimeout(() => {
        this.retrying = undefined;
        this.onChange();
      }, 1000 / PER_SECOND).unref();
      return false;
    }
    pace.left -= 1;
    return true;
  }

  private forgetPaces(name: string): void {
    for (const key of this.paces.keys()) {
      const [model, version] = JSON.parse(key) as [string, string];
      if (model === name && this.options.registry.model(model, version) === undefined) this.paces.delete(key);
    }
  }
}

function paceKey(model: string, version: string): string {
  return JSON.stringify([model, version]);
}
