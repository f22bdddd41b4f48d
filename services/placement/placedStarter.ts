import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
} from '../../containers/protocol/index.js';
import {
  gpuName,
  laterChannel,
  onGpu,
  type LaterChannel,
  type NodeHost,
  type WantedReplica,
} from '../../containers/runtime/index.js';
import { containerStart, type ContainerStarter } from '../deployment/index.js';
import type { HostedModel } from '../registry/index.js';
import {
  numbersOf,
  UNREADABLE,
  type NumberedPlace,
  type Placements,
  type ReplicaPlace,
} from './placements.js';

export interface PlacedStarterOptions {
  readonly placements: Placements;
  /** A node that is connected. */
  readonly node: (name: string) => NodeHost | undefined;
  readonly wanted: (model: HostedModel) => WantedReplica | undefined;
}

/** From when a replica has answered its warm-up on: other frontends hear of it, and warm it up. */
const SETTLES_IN_MS = 1000;

/** A version that nobody has placed by then is down, until somebody has. */
const PLACED_WITHIN_MS = 10_000;

/** A replica that is started and has no place yet. */
interface Unplaced {
  readonly model: HostedModel;
  readonly number: number;
  readonly later: LaterChannel;
  readonly timer: NodeJS.Timeout;
}

/** Uses replicas where they are placed: every frontend asks the node for the same one, by its number. */
export class PlacedStarter implements ContainerStarter {
  private readonly used = new Map<HostedModel, Map<number, PlacedChannel>>();
  private readonly unplaced = new Set<Unplaced>();
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly options: PlacedStarterOptions) {}

  start(model: HostedModel, number: number): ContainerChannel {
    const found = this.placeOf(model, number);
    if (typeof found !== 'string') return this.startAt(model, found);
    if (this.isPlaced(model)) return downChannel(found);
    // Whoever places does so in a moment: that is no failure.
    const waiting: Unplaced = {
      model,
      number,
      later: laterChannel(() => this.forget(waiting)),
      timer: setTimeout(() => waiting.later.fail(found), PLACED_WITHIN_MS),
    };
    waiting.timer.unref();
    this.unplaced.add(waiting);
    return waiting.later.channel;
  }

  private startAt(model: HostedModel, found: NumberedPlace): ContainerChannel {
    const { number, gpu } = found;
    const host = this.options.node(found.node);
    const request = containerStart(model, number);
    const { container } = model;
    const inner =
      container.kind === 'kernelModel'
        ? host?.start(onGpu(request, container, gpu, this.options.wanted(model)?.needs))
        : host?.startContainer?.(request);
    if (inner === undefined) return downChannel(`GPU node '${found.node}' takes no such container`);
    const channel = new PlacedChannel(inner, found, () => this.release(model, number, channel));
    this.usedOf(model).set(number, channel);
    return channel;
  }

  obstacle(model: HostedModel, number: number): string | undefined {
    if (!this.isPlaced(model)) return undefined;
    const found = this.placeOf(model, number);
    return typeof found === 'string' ? found : undefined;
  }

  /** undefined: they have not been placed yet. */
  numbers(model: HostedModel): readonly number[] | undefined {
    const value = this.options.placements.of(model)?.value;
    return value === undefined || value.token === UNREADABLE ? undefined : numbersOf(value.places);
  }

  onUp(model: HostedModel, number: number): void {
    this.used.get(model)?.get(number)?.settle();
  }

  watchRoom(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Whether a replica has been answering at its place for a while. */
  isSettled(model: HostedModel, replica: number): boolean {
    return this.used.get(model)?.get(replica)?.isSettled === true;
  }

  /** Places have changed, or nodes have come: replicas that are no longer where they were placed end, others may start. */
  refresh(): void {
    for (const [model, channels] of this.used) {
      const places = this.options.placements.of(model)?.value.places ?? [];
      for (const [number, channel] of [...channels]) {
        const place = places.find((one) => one?.number === number) ?? undefined;
        const isThere = place?.node === channel.place.node && place.gpu === channel.place.gpu;
        // One that is no longer wanted is drained by whoever uses it.
        if (place === undefined || isThere) continue;
        channel.cut(`it was placed on ${placeText(place)} in place of ${placeText(channel.place)}`);
      }
    }
    for (const waiting of [...this.unplaced]) {
      const { model, number, later } = waiting;
      if (!this.isPlaced(model)) continue;
      this.forget(waiting);
      const found = this.placeOf(model, number);
      if (typeof found === 'string') later.fail(found);
      else later.connect(this.startAt(model, found));
    }
    for (const listener of this.listeners) listener();
  }

  private forget(waiting: Unplaced): void {
    clearTimeout(waiting.timer);
    this.unplaced.delete(waiting);
  }

  private isPlaced(model: HostedModel): boolean {
    return this.options.placements.of(model) !== undefined;
  }

  /** Or why there is none. */
  private placeOf(model: HostedModel, number: number): NumberedPlace | string {
    const entry = this.options.placements.of(model);
    if (entry === undefined) return 'it has not been placed yet: one frontend at a time does that';
    const found = entry.value.places.find((place) => place?.number === number) ?? undefined;
    if (found === undefined) {
      return 'no node has room for it: see the GPUs of each node with windjammer gpu top, or start another node';
    }
    if (this.options.node(found.node) !== undefined) return found;
    return `GPU node '${found.node}', where it is placed, is not connected`;
  }

  private release(model: HostedModel, number: number, channel: PlacedChannel): void {
    const channels = this.used.get(model);
    if (channels?.get(number) !== channel) return;
    channels.delete(number);
    if (channels.size === 0) this.used.delete(model);
  }

  private usedOf(model: HostedModel): Map<number, PlacedChannel> {
    let channels = this.used.get(model);
    if (channels === undefined) this.used.set(model, (channels = new Map<number, PlacedChannel>()));
    return channels;
  }
}

function placeText({ node, gpu }: ReplicaPlace): string {
  return gpu === undefined ? node : gpuName(node, gpu);
}

/** A channel to a replica at its place, until it ends or the place is another one. */
class PlacedChannel implements ContainerChannel {
  private sink: FrameSink<ContainerFrame> | undefined;
  private isOver = false;
  private settledMs = Infinity;

  constructor(
    private readonly inner: ContainerChannel,
    readonly place: NumberedPlace,
    private readonly onOver: () => void,
  ) {}

  send(frame: FrontendFrame): void {
    if (!this.isOver) this.inner.send(frame);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    this.inner.open({
      onFrame: (frame) => {
        if (this.isOver) return;
        if (frame.kind === 'down') this.end();
        sink.onFrame(frame);
      },
    });
  }

  /** It answers, and soon at other frontends, too. */
  settle(): void {
    this.settledMs = performance.now() + SETTLES_IN_MS;
  }

  get isSettled(): boolean {
    return performance.now() >= this.settledMs;
  }

  isUnheard(): boolean {
    return this.inner.isUnheard?.() === true;
  }

  close(reason?: string): void {
    if (this.isOver) return;
    this.end();
    this.inner.close(reason);
  }

  /** It is over for both sides. */
  cut(reason: string): void {
    if (this.isOver) return;
    this.end();
    this.inner.close(reason);
    this.sink?.onFrame({ kind: 'down', reason, isOutside: true });
  }

  private end(): void {
    this.isOver = true;
    this.onOver();
  }
}

/** One that never was. */
function downChannel(reason: string): ContainerChannel {
  const later = laterChannel();
  later.fail(reason);
  return later.channel;
}
