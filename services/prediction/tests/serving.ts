import {
  PROTOCOL_VERSION,
  type BatchItem,
  type ContainerChannel,
  type ContainerFrame,
  type FrameSink,
  type FrontendFrame,
  type HelloFrame,
  type InputForm,
  type ItemResult,
  type PredictFrame,
} from '../../../containers/protocol/index.js';
import type { Features, Json } from '../../../selection/index.js';
import { VirtualClock, type Clock, type EventSink } from '../../../simulator/time/index.js';
import {
  hasOwnProcess,
  inputFormOf,
  type ApplicationRecord,
  type BatchingChoice,
  type CanaryRecord,
  type DeclaredForm,
  type ModelRecord,
  type RegistryChange,
  type RegistryView,
} from '../../registry/index.js';
import { MemoryStore } from '../../store/index.js';
import { PredictionEngine, SilentObserver, type PredictionEngineOptions } from '../index.js';
import type { Answer, AnswerSink, FeedbackOutcome, Query, QueryRefusal } from '../types.js';

/** A registry that tests write directly. */
export class TestRegistry implements RegistryView {
  private readonly apps = new Map<string, ApplicationRecord>();
  private readonly versions = new Map<string, ModelRecord>();
  private readonly current = new Map<string, string>();
  private readonly links = new Map<string, string[]>();
  private readonly declared = new Map<string, DeclaredForm>();
  private readonly canaries = new Map<string, CanaryRecord>();
  private readonly listeners = new Set<(change: RegistryChange) => void>();

  addApplication(
    name: string,
    policy = 'static',
    parameters: Json = null,
    latencyObjectiveUs = 20_000,
  ): this {
    this.apps.set(name, {
      name,
      inputType: 'doubles',
      defaultOutput: 'default',
      latencyObjectiveUs,
      policy: { name: policy, parameters },
    });
    return this.tell({ kind: 'application', name });
  }

  putApplication(record: ApplicationRecord): this {
    this.apps.set(record.name, record);
    return this.tell({ kind: 'application', name: record.name });
  }

  removeApplication(name: string): this {
    this.apps.delete(name);
    return this.tell({ kind: 'application', name });
  }

  addModel(
    name: string,
    version = '1',
    batching: BatchingChoice = { strategy: 'aimd' },
    inputLength?: number,
  ): this {
    this.versions.set(`${name}:${version}`, {
      name,
      version,
      inputType: 'doubles',
      labels: [],
      container: { kind: 'external', containerName: 'test', modelDataPath: '' },
      batching,
      ...(inputLength === undefined ? {} : { inputLength }),
    });
    this.current.set(name, version);
    return this.tell({ kind: 'model', name });
  }

  putModel(record: ModelRecord): this {
    this.versions.set(`${record.name}:${record.version}`, record);
    return this.tell({ kind: 'model', name: record.name });
  }

  removeModel(name: string, version: string): this {
    this.versions.delete(`${name}:${version}`);
    return this.tell({ kind: 'model', name });
  }

  setVersion(name: string, version: string): this {
    this.current.set(name, version);
    return this.tell({ kind: 'currentVersion', name });
  }

  putCanary(record: CanaryRecord): this {
    this.canaries.set(record.model, record);
    return this.tell({ kind: 'canary', name: record.model });
  }

  canary(model: string): CanaryRecord | undefined {
    return this.canaries.get(model);
  }

  link(application: string, ...models: string[]): this {
    this.links.set(application, models);
    return this.tell({ kind: 'links', name: application });
  }

  application(name: string): ApplicationRecord | undefined {
    return this.apps.get(name);
  }

  applications(): readonly ApplicationRecord[] {
    return [...this.apps.values()];
  }

  linkedModels(application: string): readonly ModelRecord[] {
    const names = this.links.get(application) ?? [];
    return names.flatMap((name) => this.model(name, this.current.get(name) ?? '') ?? []);
  }

  model(name: string, version: string): ModelRecord | undefined {
    return this.versions.get(`${name}:${version}`);
  }

  /** A replica has said it. */
  declare(name: string, form: DeclaredForm): this {
    this.declared.set(name, form);
    return this.tell({ kind: 'declaration', name });
  }

  inputForm(model: ModelRecord): InputForm {
    return { ...this.declared.get(model.name), ...inputFormOf(model) };
  }

  isFormKnown({ name, container }: ModelRecord): boolean {
    return !hasOwnProcess(container) || this.declared.has(name);
  }

  models(): readonly ModelRecord[] {
    return [...this.versions.values()];
  }

  currentVersion(name: string): string | undefined {
    return this.current.get(name);
  }

  watch(listener: (change: RegistryChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private tell(change: RegistryChange): this {
    for (const listener of this.listeners) listener(change);
    return this;
  }
}

export interface TestContainerOptions {
  readonly model: string;
  readonly version?: string;
  readonly replica?: string;
  readonly credits?: number;
  readonly maxBatchSize?: number;
  /** How long a batch of so many items takes; batches run one after the other. */
  readonly serviceNs?: (items: number) => number;
  /** The first element's text by default. */
  readonly output?: (item: BatchItem) => string;
  /** In place of one result an item. */
  readonly answer?: (frame: PredictFrame) => ItemResult[];
  /** It asks batches that fail again in parts by itself. */
  readonly calls?: (frame: PredictFrame) => number;
  /** Answers nothing by itself. */
  readonly manual?: boolean;
  /** Inputs whose first element dies of: the container goes down in place of an answer. */
  readonly kills?: (element: number) => boolean;
  /** Inputs whose first element it never answers, nor anything after them. */
  readonly hangs?: (element: number) => boolean;
  /** The frontend has closed the channel. */
  readonly onClosed?: () => void;
  readonly hello?: Partial<HelloFrame>;
}

let containers = 0;

/** A container on the virtual clock that records what reaches it. */
export class TestContainer implements ContainerChannel, EventSink {
  readonly frames: PredictFrame[] = [];
  readonly cancelled: number[] = [];
  closed = false;
  private sink: FrameSink<ContainerFrame> | undefined;
  private freeNs = 0;
  private isHung = false;
  private readonly port: string;

  constructor(
    private readonly clock: Clock,
    private readonly options: TestContainerOptions,
  ) {
    this.port = `testContainer${containers++}`;
    clock.attach(this.port, this);
  }

  get sizes(): number[] {
    return this.frames.map((frame) => frame.items.length);
  }

  get items(): number {
    return this.frames.reduce((sum, frame) => sum + frame.items.length, 0);
  }

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    sink.onFrame({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: this.options.model,
      version: this.options.version ?? '1',
      replica: this.options.replica ?? 'r0',
      inputType: 'doubles',
      maxBatchSize: this.options.maxBatchSize ?? 1024,
      credits: this.options.credits ?? 1,
      ...this.options.hello,
    });
  }

  send(frame: FrontendFrame): void {
    if (frame.kind === 'cancel') {
      this.cancelled.push(...frame.itemIds);
      return;
    }
    this.frames.push(frame);
    if (this.options.manual === true) return;
    const nowNs = this.clock.nowNs();
    const startNs = Math.max(nowNs, this.freeNs);
    this.freeNs = startNs + (this.options.serviceNs?.(frame.items.length) ?? 1000);
    this.clock.schedule(this.port, this.freeNs, 'done', { frame, arrivedNs: nowNs });
  }

  close(): void {
    this.closed = true;
    this.options.onClosed?.();
  }

  onEvent(_kind: string, payload: unknown, nowNs: number): void {
    const { frame, arrivedNs } = payload as { frame: PredictFrame; arrivedNs: number };
    if (this.closed || this.isHung) return;
    const elements = frame.items.map(({ bytes }) => elementOf(bytes));
    if (elements.some((element) => this.options.kills?.(element) === true)) this.die();
    else if (elements.some((element) => this.options.hangs?.(element) === true)) this.isHung = true;
    else this.give(frame, this.resultsOf(frame), nowNs - arrivedNs);
  }

  resultsOf(frame: PredictFrame): ItemResult[] {
    const output = this.options.output ?? ((item: BatchItem) => `${elementOf(item.bytes)}`);
    return (
      this.options.answer?.(frame) ??
      frame.items.map((item) => ({ id: item.id, ok: true, output: output(item) }))
    );
  }

  give(frame: PredictFrame, results: readonly ItemResult[], serviceNs = 1000): void {
    const calls = this.options.calls?.(frame);
    const { batchId } = frame;
    this.emit({ kind: 'result', batchId, results, serviceNs, ...(calls === undefined ? {} : { calls }) });
  }

  emit(frame: ContainerFrame): void {
    this.sink?.onFrame(frame);
  }

  die(reason = 'killed'): void {
    this.emit({ kind: 'down', reason });
  }
}

/** The engine on a virtual clock, with everything that it said. */
export class Serving implements AnswerSink {
  readonly clock = new VirtualClock();
  readonly registry = new TestRegistry();
  readonly store: MemoryStore;
  readonly answers: Answer[] = [];
  readonly refusals: { query: Query; refusal: QueryRefusal }[] = [];
  readonly observer: TestObserver;
  private made: PredictionEngine | undefined;
  private queries = 0;

  constructor(private readonly options: Partial<PredictionEngineOptions> & { store?: MemoryStore } = {}) {
    this.store = options.store ?? new MemoryStore();
    this.observer = new TestObserver();
  }

  get engine(): PredictionEngine {
    this.made ??= new PredictionEngine({
      clock: this.clock,
      registry: this.registry,
      seed: 7,
      observer: this.observer,
      ...this.options,
      store: this.store,
    });
    return this.made;
  }

  /** One application 'app' with one linked model 'm'. */
  simple(batching?: BatchingChoice, latencyObjectiveUs?: number): this {
    this.registry
      .addApplication('app', 'static', null, latencyObjectiveUs)
      .addModel('m', '1', batching)
      .link('app', 'm');
    return this;
  }

  container(options: Partial<TestContainerOptions> = {}, isApart = false): TestContainer {
    const container = new TestContainer(this.clock, { model: 'm', ...options });
    this.engine.addReplica(container, isApart);
    return container;
  }

  predict(value: number | Uint8Array, more: Partial<Query> = {}): string {
    const id = more.id ?? `q${this.queries++}`;
    const input = typeof value === 'number' ? inputOf(value) : value;
    this.engine.predict({ application: 'app', context: '', input, ...more, id }, this);
    return id;
  }

  feedback(more: {
    label?: string;
    losses?: Readonly<Record<string, number>>;
    queryId?: string;
    input?: Uint8Array;
    loss?: number;
    context?: string;
    features?: Features;
    idempotencyKey?: string;
  }): {
    outcome?: FeedbackOutcome;
  } {
    const box: { outcome?: FeedbackOutcome } = {};
    this.engine.update({ application: 'app', context: '', ...more }, (outcome) => (box.outcome = outcome));
    return box;
  }

  run(untilMs?: number): this {
    this.clock.run(untilMs === undefined ? undefined : untilMs * 1e6);
    return this;
  }

  answer(id: string): Answer {
    const found = this.answers.filter((answer) => answer.queryId === id);
    if (found.length !== 1) throw new Error(`query ${id} has ${found.length} answers`);
    return found[0];
  }

  onAnswer(_query: Query, answer: Answer): void {
    this.answers.push(answer);
  }

  onRefusal(query: Query, refusal: QueryRefusal): void {
    this.refusals.push({ query, refusal });
  }
}

export class TestObserver extends SilentObserver {
  readonly events: string[] = [];
  late = 0;

  override onLatePrediction(): void {
    this.late += 1;
  }
  override onProtocolError(_model: string, _version: string, replica: string, message: string): void {
    this.events.push(`protocol ${replica}: ${message}`);
  }
  override onReplicaRefused(model: string, version: string, replica: string, reason: string): void {
    this.events.push(`refused ${model}:${version} ${replica}: ${reason}`);
  }
  override onReplicaDown(_model: string, _version: string, replica: string, reason: string): void {
    this.events.push(`down ${replica}: ${reason}`);
  }
  override onSinkFailure(_query: Query, error: unknown): void {
    this.events.push(`sink: ${String(error)}`);
  }
  override onStateWriteFailed(key: string, message: string): void {
    this.events.push(`write ${key}: ${message}`);
  }
}

export function inputOf(...elements: number[]): Uint8Array {
  return new Uint8Array(new Float64Array(elements).buffer);
}

export function elementOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getFloat64(0, true);
}
