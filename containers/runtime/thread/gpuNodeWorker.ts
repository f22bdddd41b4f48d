import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { GpuNode } from '../../../simulator/cluster/index.js';
import { PacedClock, type EventPayload, type EventSink } from '../../../simulator/time/index.js';
import { BusyMeter } from '../busyMeter.js';
import { gpuActivities, watchGpus } from '../gpuActivity.js';
import { NodeContainers } from '../nodeContainers.js';
import { packResult, unpackPredict } from './frameCodec.js';
import type { FromWorker, NodeTimes, ToWorker } from './threadMessages.js';

/** What `GpuNodeThread` hands over. */
export interface WorkerOptions {
  readonly name: string;
  readonly gpus: readonly string[];
}

/** Waits shorter than this poll the event loop: simulated launches take microseconds, Node's timers a millisecond. */
const POLL_WITHIN_NS = 2_000_000;

/** PTX thread-instructions a block. An endless kernel holds the node up for about a second before it is stopped. */
const FUEL_PER_BLOCK = 2 ** 28;

const INBOX = 'inbox';
const SAMPLER = 'sampler';

/** Four samples a second, for whoever looks at them. */
const SAMPLE_EVERY_NS = 250_000_000;

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
  private nextSample: number | undefined;

  constructor(
    private readonly port: MessagePort,
    { name, gpus }: WorkerOptions,
  ) {
    const stopwatch = (): number => hostNowNs() / 1e9;
    this.node = new GpuNode(this.clock, { name, gpus, fuelPerBlock: FUEL_PER_BLOCK, stopwatch });
    const { clock, meter, node } = this;
    this.containers = new NodeContainers({ clock, driver: node, gpuCount: gpus.length, meter });
    clock.attach(INBOX, this);
    clock.attach(SAMPLER, { onEvent: () => this.sample() });
    port.on('message', (message: ToWorker) => clock.schedule(INBOX, clock.nowNs(), message.kind, message));
  }

  onEvent(_kind: string, payload: EventPayload): void {
    const message = payload as ToWorker;
    switch (message.kind) {
      case 'start':
        this.start(message);
        return;
      case 'predict':
        this.containers.onFrame(message.line, unpackPredict(message));
        return;
      case 'cancel': {
        const { batchId, itemIds } = message;
        this.containers.onFrame(message.line, { kind: 'cancel', batchId, itemIds });
        return;
      }
      case 'stop':
        this.containers.stop(message.line);
        return;
      case 'drain':
        this.containers.drain(() => this.post({ kind: 'drained' }));
        return;
      case 'watch':
        watchGpus(this.node, message.watched);
        if (this.nextSample !== undefined) this.clock.cancel(this.nextSample);
        this.nextSample = undefined;
        if (message.watched) this.sample();
        return;
    }
  }

  private start({
    line,
    path,
    identity,
    inputType,
    inputLength,
  }: Extract<ToWorker, { kind: 'start' }>): void {
    const request = { ...identity, path, inputType, ...(inputLength === undefined ? {} : { inputLength }) };
    this.containers.start(line, request, {
      onFrame: (frame) => {
        if (frame.kind === 'result') {
          const result = packResult(line, frame, this.times());
          this.post(result, [result.scores.buffer as ArrayBuffer]);
        } else this.post({ kind: 'frame', line, frame });
      },
    });
  }

  private sample(): void {
    this.post({ kind: 'activity', gpus: gpuActivities(this.node) });
    this.nextSample = this.clock.schedule(SAMPLER, this.clock.nowNs() + SAMPLE_EVERY_NS, 'sample');
  }

  private times(): NodeTimes {
    return { ...this.meter.times(), clockLagNs: this.clock.lagNs };
  }

  private post(message: FromWorker, transfer: readonly ArrayBuffer[] = []): void {
    this.port.postMessage(message, transfer);
  }
}

if (parentPort === null) throw new Error('gpuNodeWorker runs as a worker thread only');
new WorkerServer(parentPort, workerData as WorkerOptions);
