import type { ContainerChannel, HelloFrame, PrintedFrame } from '../../containers/protocol/index.js';
import type { ReplicaHandle } from '../prediction/index.js';
import {
  hasOwnProcess,
  isExternal,
  isHosted,
  type ExternalModel,
  type ModelRecord,
  type ModelScale,
  type RegistryView,
} from '../registry/index.js';
import {
  DEFAULT_REPLICA_LIMITS,
  type ContainerStarter,
  type ReplicaContext,
  type ReplicaLimits,
  type ReplicaStatus,
} from './replica.js';
import { DEFAULT_BACK_OFF, type BackOff } from './restartPace.js';
import { ReplicaSet } from './replicaSet.js';
import { warmUpInputs, type WarmUp } from './warmUp/index.js';

/** A registry that knows how many replicas are to run. */
export interface ScaledRegistry extends RegistryView {
  scale(name: string, version: string): ModelScale;
}

export interface DeployerOptions {
  readonly registry: ScaledRegistry;
  readonly starter: ContainerStarter;
  /** Containers that dial in: says which replicas of external models there are. Without it those have none. */
  readonly dialledIn?: DialledStarter | undefined;
  /** Takes the channel of a replica into use: the engine's. */
  readonly addReplica: (channel: ContainerChannel, isApart: boolean) => ReplicaHandle;
  /** A replica has said what it takes. @throws Error with why it cannot serve so: it is down, and tried again */
  readonly onHello?: (model: ModelRecord, hello: HelloFrame) => void;
  /** What a new replica is asked before it serves; `warmUpInputs` unless given. */
  readonly warmUpFor?: (model: ModelRecord, hello: HelloFrame) => WarmUp | undefined;
  readonly backOff?: BackOff;
  readonly limits?: ReplicaLimits;
  /** A model version can serve, perhaps as before. */
  readonly onReady?: (model: ModelRecord) => void;
  /** A replica was lost or could not start; it will be started again. */
  readonly onLost?: (status: ReplicaStatus) => void;
  /** One that tries what may take replicas down was lost with it; told every few seconds at most. */
  readonly onApartLost?: (status: ReplicaStatus) => void;
  /** A replica has printed something; a container passes on little of much. */
  readonly onPrinted?: (status: ReplicaStatus, frame: PrintedFrame) => void;
}

export type DialledStarter = ContainerStarter<ExternalModel> &
  Required<Pick<ContainerStarter<ExternalModel>, 'numbers' | 'watchRoom'>>;

type AnySet = ReplicaSet | ReplicaSet<ExternalModel>;

const APART_TOLD_EVERY_MS = 10_000;
/** While replicas wait for others that take their place. */
const LINGER_LOOK_MS = 1000;

interface SettledWaiter {
  readonly isAwaited: (model: string) => boolean;
  readonly resolve: () => void;
}

/**
 * Runs what the registry names: as many replicas of every registered model version as its scale says (or those that its
 * starter names, where others say which run), older versions too, so that a rollback finds its model up. What is one too many, and what is deleted, is drained.
 * Of external models each container that has dialled in is a replica.
 */
export class Deployer {
  private readonly sets = new Map<ModelRecord, AnySet>();
  /** Of versions that were deleted, with replicas that are being drained. */
  private readonly leaving = new Set<AnySet>();
  private readonly context: ReplicaContext;
  private readonly dialledIn: ReplicaContext<ExternalModel> | undefined;
  private unwatch: () => void = () => undefined;
  private waiting: SettledWaiter[] = [];
  private apartToldMs = -Infinity;
  private retrying: NodeJS.Immediate | undefined;
  private lingering: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly options: DeployerOptions) {
    this.context = {
      starter: options.starter,
      addReplica: options.addReplica,
      onHello: (model, hello) => options.onHello?.(model, hello),
      warmUpFor: options.warmUpFor ?? warmUpInputs,
      limits: options.limits ?? DEFAULT_REPLICA_LIMITS,
      onStateChange: (status, isApart) => {
        if (isApart) this.onApartChange(status);
        else this.onStateChange(status);
      },
      onPrinted: (status, frame) => options.onPrinted?.(status, frame),
    };
    const { dialledIn } = options;
    this.dialledIn = dialledIn && { ...this.context, starter: dialledIn };
  }

  start(): void {
    this.unwatch = this.options.registry.watch(({ kind }) => {
      if (kind === 'model' || kind === 'scale') this.reconcile();
    });
    this.options.starter.watchRoom?.(() => this.onRoom());
    this.options.dialledIn?.watchRoom(() => this.onRoom());
    this.reconcile();
  }

  /** Stops every replica at once. */
  stop(): void {
    this.isStopped = true;
    clearImmediate(this.retrying);
    clearTimeout(this.lingering);
    this.unwatch();
    for (const set of this.everySet()) set.stop();
    this.sets.clear();
    this.leaving.clear();
  }

  /**
   * Resolves once no replica is on its way up: each is up, or was lost and waits for another start.
   * @param isAwaited whether a model's replicas are meant
   */
  settled(isAwaited: (model: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ isAwaited, resolve });
      this.checkSettled();
    });
  }

  statuses(): readonly ReplicaStatus[] {
    return this.everySet().flatMap((set) => set.statuses());
  }

  /** Whether a version can serve in place of another: `ReplicaSet.isReady`. */
  isReady(name: string, version: string): boolean {
    const model = this.options.registry.model(name, version);
    const set = model === undefined ? undefined : this.sets.get(model);
    return set?.isReady() ?? false;
  }

  /**
   * Whether a version has a replica more, apart from the others: for inputs that may take down whoever is asked them.
   * @returns false where it cannot have one. What runs in a GPU node shares its thread with other models: a replica more keeps nothing from them.
   */
  setApart(name: string, version: string, isWanted: boolean): boolean {
    const model = this.options.registry.model(name, version);
    const set = model === undefined ? undefined : this.sets.get(model);
    if (set === undefined || !hasOwnProcess(set.model.container)) return false;
    set.setApart(isWanted);
    return true;
  }

  private everySet(): AnySet[] {
    return [...this.sets.values(), ...this.leaving];
  }

  /** Later: whoever gives back may be in the middle of something. */
  private onRoom(): void {
    if (this.isStopped) return;
    this.retrying ??= setImmediate(() => {
      this.retrying = undefined;
      if (this.hasNumbers) this.reconcile();
      for (const set of this.sets.values()) set.retry();
    });
  }

  /** A number may be free, or a replica go, that others have waited for. */
  private onGone(): void {
    this.checkSettled();
    this.onRoom();
  }

  private onStateChange(status: ReplicaStatus): void {
    if (status.state === 'down') this.options.onLost?.(status);
    if (status.state === 'up' || status.state === 'down') this.checkReady(status.model, status.version);
    if ([...this.sets.values()].some((set) => set.lingers)) this.onRoom();
    this.checkSettled();
  }

  /** Told as often as somebody may read it: it is there to be lost. */
  private onApartChange(status: ReplicaStatus): void {
    if (status.state !== 'down') return;
    const nowMs = performance.now();
    if (nowMs - this.apartToldMs < APART_TOLD_EVERY_MS) return;
    this.apartToldMs = nowMs;
    this.options.onApartLost?.(status);
  }

  private checkReady(name: string, version: string): void {
    const model = this.options.registry.model(name, version);
    if (model !== undefined && this.isReady(name, version)) this.options.onReady?.(model);
  }

  private checkSettled(): void {
    if (this.waiting.length === 0) return;
    const coming = this.statuses().filter(({ state }) => state === 'starting' || state === 'warming');
    const isComing = ({ isAwaited }: SettledWaiter): boolean => coming.some(({ model }) => isAwaited(model));
    const settled = this.waiting.filter((waiter) => !isComing(waiter));
    this.waiting = this.waiting.filter(isComing);
    for (const { resolve } of settled) resolve();
  }

  private reconcile(): void {
    const { registry, backOff = DEFAULT_BACK_OFF } = this.options;
    // A version that is deleted and registered anew is another record, and other containers.
    const models = registry.models();
    const hosted = models.filter(isHosted);
    const external = this.dialledIn === undefined ? [] : models.filter(isExternal);
    const wanted = new Set<ModelRecord>([...hosted, ...external]);
    for (const [model, set] of this.sets) {
      if (wanted.has(model)) continue;
      this.sets.delete(model);
      this.leaving.add(set);
      set.setApart(false);
      set.scale(0, () => this.forgetEmpty(set));
      this.forgetEmpty(set);
    }
    for (const model of hosted) {
      const set = this.setOf(
        model,
        (isTaken): AnySet => new ReplicaSet(model, this.context, backOff, isTaken),
      );
      const numbers = this.options.starter.numbers?.(model);
      if (numbers !== undefined) set.run(numbers, () => this.onGone());
      else set.scale(registry.scale(model.name, model.version).replicas, () => this.checkSettled());
    }
    for (const model of external) this.runDialled(model, backOff);
    this.watchLingering();
    this.checkSettled();
  }

  private runDialled(model: ExternalModel, backOff: BackOff): void {
    const { dialledIn } = this;
    const numbers = this.options.dialledIn?.numbers(model);
    if (dialledIn === undefined || numbers === undefined) return;
    this.setOf(model, (isTaken) => new ReplicaSet(model, dialledIn, backOff, isTaken)).run(numbers, () =>
      this.onGone(),
    );
  }

  /** The replicas of a version that is registered; none yet, where it is new. */
  private setOf(model: ModelRecord, make: (isTaken: (number: number) => boolean) => AnySet): AnySet {
    const present = this.sets.get(model);
    if (present !== undefined) return present;
    const set = make((number) => this.isDraining(model, number));
    this.sets.set(model, set);
    return set;
  }

  /** Somebody else says which replicas run, of some models at least. */
  private get hasNumbers(): boolean {
    return this.options.starter.numbers !== undefined || this.dialledIn !== undefined;
  }

  private forgetEmpty(set: AnySet): void {
    if (!set.isEmpty) return;
    this.leaving.delete(set);
    if (this.hasNumbers) this.onRoom();
  }

  private watchLingering(): void {
    clearTimeout(this.lingering);
    if (![...this.sets.values()].some((set) => set.lingers)) return;
    this.lingering = setTimeout(() => this.onRoom(), LINGER_LOOK_MS);
    this.lingering.unref();
  }

  /** A replica of an earlier registration still has this number. */
  private isDraining({ name, version }: ModelRecord, number: number): boolean {
    return [...this.leaving].some(
      (set) => set.model.name === name && set.model.version === version && set.has(number),
    );
  }
}
