import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { GpuNode, type FaultSettings } from '../../../simulator/cluster/index.js';
import { takeOver } from '../../../simulator/executor/index.js';
import type { PolicyMaker } from '../../../simulator/scheduling/index.js';
import { PacedClock, type EventPayload, type EventSink } from '../../../simulator/time/index.js';
import { Timeline } from '../../../simulator/timeline/index.js';
import type { KernelModel } from '../../models/index.js';
import type { ContainerFrame } from '../../protocol/index.js';
import { BusyMeter } from '../busyMeter.js';
import { gpuActivities, watchGpus } from '../gpuActivity.js';
import { gpuSamples } from '../gpuSample.js';
import { NodeContainers } from '../nodeContainers.js';
import type { KernelModelStart } from '../nodeHost.js';
import { schedulingChoice } from '../schedulingChoice.js';
import { AnalysisLine } from './analysisLine.js';
import type { AnalysisReply } from './analystMessages.js';
import { CodeLine } from './codeLine.js';
import { packResult, unpackSent } from './frameCodec.js';
import type { LoadReply, LoadRequest } from './loaderMessages.js';
import { FUEL_PER_BLOCK } from './nodeLimits.js';
import type { FromWorker, NodeTimes, ToWorker } from './threadMessages.js';

/** What `GpuNodeThread` hands over. */
export interface WorkerOptions {
  readonly name: string;
  readonly gpus: readonly string[];
  /** That run the blocks of large launches, this one included. */
  readonly threads: number;
  /** Who runs next on each GPU: a policy's name or its file. */
  readonly scheduling: string;
  readonly faults: FaultSettings;
  /** Where models are loaded. */
  readonly loader: MessagePort;
}

type ModelReply = Exclude<LoadReply, { kind: 'made' }>;
type Start = Extract<ToWorker, { kind: 'start' }>;

/** Waits shorter than this poll the event loop: simulated launches take microseconds, Node's timers a millisecond. */
const POLL_WITHIN_NS = 2_000_000;

const INBOX = 'inbox';
const SAMPLER = 'sampler';
const LOADER = 'loader';
const ANALYST = 'analyst';
const TURN = 'turn';

/** Four samples a second of the host's time. A timer and no event of the clock, which would be awaited by polling. */
const SAMPLE_EVERY_MS = 250;

const hostNowNs = (): number => Number(process.hrtime.bigint());

/**
 * The worker's side of `GpuNodeThread`. A message becomes an event of the node's clock before it is acted on: when the
 * host lags, events of earlier simulated times are still due, and the node must not see time run backwards.
 */
class WorkerServer implements EventSink {
  private readonly clock = new PacedClock({ pollWithinNs: POLL_WITHIN_NS });
  private readonly meter = new BusyMeter(hostNowNs);
  private readonly node: GpuNode;
  private readonly containers: NodeContainers;
  private timeline: Timeline | undefined;
  /** Models that are being loaded, by line. */
  private readonly loading = new Map<number, Start>();
  private loader: MessagePort | undefined;
  /** Whether launches may be killed or struck by faults. */
  private readonly isObserved: boolean;
  private readonly codeLine: CodeLine;
  private readonly analysis = new AnalysisLine(() => this.post({ kind: 'analystWanted' }));

  constructor(
    private readonly port: MessagePort,
    { name, gpus, threads, faults, loader }: WorkerOptions,
    scheduling: string | PolicyMaker,
  ) {
    this.loader = loader;
    this.codeLine = new CodeLine(loader);
    const stopwatch = (): number => hostNowNs() / 1e9;
    this.node = new GpuNode(this.clock, {
      name,
      gpus,
      threads,
      scheduling,
      ...faults,
      fuelPerBlock: FUEL_PER_BLOCK,
      stopwatch,
      maker: this.codeLine,
      analyst: this.analysis,
    });
    this.isObserved =
      this.node.verdictMetrics() !== undefined || Object.values(faults).some((fault) => fault !== undefined);
    const { clock, meter, node } = this;
    this.containers = new NodeContainers({
      clock,
      driver: node,
      gpuCount: gpus.length,
      meter,
      hostTurn: (next) => void setImmediate(() => clock.schedule(TURN, clock.nowNs(), 'turn', next)),
      onFreed: (line) => this.post({ kind: 'freed', line }),
    });
    clock.attach(INBOX, this);
    clock.attach(SAMPLER, { onEvent: () => this.sample() });
    clock.attach(ANALYST, { onEvent: (_kind, payload) => this.onAnalysed(payload as AnalysisReply) });
    clock.attach(TURN, { onEvent: (_kind, next) => (next as () => void)() });
    clock.attach(LOADER, { onEvent: (_kind, payload) => this.onLoaded(payload as ModelReply) });
    setInterval(() => clock.schedule(SAMPLER, clock.nowNs(), 'sample'), SAMPLE_EVERY_MS);
    loader.on('message', (reply: LoadReply) => this.onReply(reply));
    port.on('message', (message: ToWorker) => clock.schedule(INBOX, clock.nowNs(), message.kind, message));
  }

  onEvent(_kind: string, payload: EventPayload): void {
    const message = payload as ToWorker;
    switch (message.kind) {
      case 'start':
        this.load(message);
        return;
      case 'predict':
      case 'cancel':
        this.containers.onFrame(message.line, unpackSent(message));
        return;
      case 'loaderGone':
        this.loadAlone();
        return;
      case 'analyst':
        this.connectAnalyst(message.port);
        return;
      case 'analystGone':
        this.analysis.onGone();
        return;
      case 'stop':
        if (this.loading.delete(message.line)) this.post({ kind: 'freed', line: message.line });
        else this.containers.stop(message.line);
        return;
      case 'drain':
        this.containers.drain(() => this.post({ kind: 'drained' }));
        return;
      case 'watch':
        watchGpus(this.node, message.watched);
        if (message.watched) this.sample();
        return;
      case 'record':
        this.record(message.limit);
        return;
      case 'stopRecording':
        this.timeline?.end();
        this.timeline = undefined;
        this.post({ kind: 'timeline', text: '', isLast: true });
        return;
    }
  }

  private load(start: Start): void {
    if (this.loader === undefined) {
      this.start(start);
      return;
    }
    this.loading.set(start.line, start);
    const { line } = start;
    const { isObserved } = this;
    const request: LoadRequest = { kind: 'load', line, request: requestOf(start), isObserved };
    this.loader.postMessage(request);
  }

  private connectAnalyst(port: MessagePort): void {
    const { clock } = this;
    port.on('message', (reply: AnalysisReply) => clock.schedule(ANALYST, clock.nowNs(), reply.kind, reply));
    this.analysis.connect(port);
  }

  private onAnalysed(reply: AnalysisReply): void {
    const analysis = this.analysis.onReply(reply);
    if (analysis !== undefined) this.node.takeAnalysis(analysis);
  }

  private loadAlone(): void {
    this.loader = undefined;
    this.codeLine.onGone();
    const starts = [...this.loading.values()];
    this.loading.clear();
    for (const start of starts) this.start(start);
  }

  private onReply(reply: LoadReply): void {
    // Code leaves what any other leaves, and takes no simulated time: no event of the node's.
    if (reply.kind === 'made') takeOver([reply.kernel]);
    else this.clock.schedule(LOADER, this.clock.nowNs(), reply.kind, reply);
  }

  private onLoaded(reply: ModelReply): void {
    // Kept also for a line that has been stopped: it is sent once.
    if (reply.kind === 'loaded') this.node.takeOver(reply.preparation);
    const start = this.loading.get(reply.line);
    if (start === undefined) return;
    this.loading.delete(reply.line);
    if (reply.kind === 'loaded') this.start(start, reply.model);
    else {
      this.post({ kind: 'frame', line: start.line, frame: { kind: 'down', reason: reply.reason } });
      this.post({ kind: 'freed', line: start.line });
    }
  }

  private start(start: Start, loaded?: KernelModel): void {
    const { line } = start;
    const outlet = {
      onFrame: (frame: ContainerFrame): void => {
        if (frame.kind === 'result') {
          const result = packResult(line, frame, this.times());
          this.post(result, [result.scores.buffer as ArrayBuffer]);
        } else this.post({ kind: 'frame', line, frame });
      },
    };
    this.containers.start(line, requestOf(start), outlet, loaded);
  }

  private sample(): void {
    const gpus = gpuSamples(this.node, (context) => this.containers.ownerOf(context));
    const sample = { gpus, hostNs: hostNowNs(), hostBusyNs: this.meter.hostBusyNs() };
    const found = this.node.verdictMetrics();
    const verdicts = found === undefined ? {} : { verdicts: { ...found, analysis: this.analysis.report() } };
    this.post({ kind: 'sample', sample, activity: gpuActivities(this.node), ...verdicts });
  }

  private record(limit: number): void {
    this.timeline?.end();
    this.timeline = new Timeline(this.node, (text) => this.post({ kind: 'timeline', text, isLast: false }), {
      limit,
      contextName: (context) => this.containers.nameOf(context),
    });
  }

  private times(): NodeTimes {
    return { ...this.meter.times(), clockLagNs: this.clock.lagNs };
  }

  private post(message: FromWorker, transfer: readonly ArrayBuffer[] = []): void {
    this.port.postMessage(message, transfer);
  }
}

function requestOf({
  path,
  identity,
  inputType,
  inputLength,
  contentHash,
  launchClass,
  gpu,
}: Start): KernelModelStart {
  return {
    ...identity,
    path,
    gpu,
    inputType,
    ...(inputLength === undefined ? {} : { inputLength }),
    ...(contentHash === undefined ? {} : { contentHash }),
    ...(launchClass === undefined ? {} : { launchClass }),
  };
}

if (parentPort === null) throw new Error('gpuNodeWorker runs as a worker thread only');
const options = workerData as WorkerOptions;
new WorkerServer(parentPort, options, await schedulingChoice(options.scheduling));
