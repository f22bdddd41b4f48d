import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { Worker, type Transferable } from 'node:worker_threads';
import { findCard } from '../../../simulator/gpu/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { reasonOf } from '../../../simulator/text/index.js';
import type { ContainerChannel, FrontendFrame } from '../../protocol/index.js';
import type { GpuActivity } from '../gpuActivity.js';
import { GpuHistory } from '../gpuHistory.js';
import { Reservations, type NodeRoom } from '../placement/index.js';
import type { KernelModelStart, NodeHost, NodeReport, TimelineSink } from '../nodeHost.js';
import type { VerdictReport } from '../verdictReport.js';
import { packPredict, unpackResult } from './frameCodec.js';
import { connectToAnalyst } from './kernelAnalyst.js';
import { connectToLoader } from './modelLoader.js';
import { SolverNotices } from './solverNotices.js';
import { LineChannel, type LineHub } from '../lineChannel.js';
import type { FromWorker, NodeTimes, ToWorker } from './threadMessages.js';
import type { FaultSettings } from '../../../simulator/cluster/index.js';
import type { WorkerOptions } from './gpuNodeWorker.js';

export interface GpuNodeThreadOptions {
  /** Default 'node0'. */
  readonly name?: string;
  /** Device profile of each GPU. Default: one H200. */
  readonly gpus?: readonly string[];
  /** Threads that run the blocks of large launches, the node's own included. Default 1. */
  readonly threads?: number;
  /** Who runs next on each GPU: a policy's name, or the file of one. Default 'fifo'. */
  readonly scheduling?: string;
  /** Faults that strike launches, and what is done about them. Default: none. */
  readonly faults?: FaultSettings;
  /** Where analyses of kernels are kept for the next start. Default: nowhere. */
  readonly analysisDirectory?: string;
  /** Package of z3, which is asked what analysis of kernels leaves open. Default: `z3-solver`, where it is installed. */
  readonly solverPackage?: string;
  /** Told what whoever runs the node should know, each thing once. */
  readonly onNotice?: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

/** The worker is compiled JavaScript even when this side runs as TypeScript: Node itself loads it. */
const WORKER_FILE = 'dist/containers/runtime/thread/gpuNodeWorker.js';

/** What is said of GPUs is said of so long a time of theirs. */
const GPU_SPAN_NS = 1e9;

const NO_TIMES: NodeTimes = { busyHostNs: 0, busySimulatedNs: 0, clockLagNs: 0 };

/**
 * A GPU node with its kernel models in a worker thread, its time paced by the wall. All its channels share the worker's
 * port. When the thread dies, each of them gets one `down` frame, and the next start gets a new thread.
 */
export class GpuNodeThread implements NodeHost, LineHub {
  readonly name: string;
  private readonly gpus: readonly string[];
  private readonly threads: number;
  private readonly scheduling: string;
  private readonly faults: FaultSettings;
  private readonly analysisDirectory: string | undefined;
  private readonly solverPackage: string | undefined;
  private readonly notices: SolverNotices;
  private worker: Worker;
  private readonly channels = new Map<number, LineChannel>();
  private readonly drains: (() => void)[] = [];
  private readonly closes: (() => void)[] = [];
  private readonly reservations: Reservations;
  private nextLine = 0;
  private times: NodeTimes = NO_TIMES;
  /** Of the threads that died. */
  private earlier: NodeTimes = NO_TIMES;
  /** `dead`: the thread is gone. `closed`: it is gone or going, and no other follows. */
  private state: 'running' | 'dead' | 'closed' = 'running';
  private exited = false;
  private watched = false;
  private activities: readonly GpuActivity[] = [];
  private verdicts: VerdictReport | undefined;
  private releaseAnalyst: () => void = () => undefined;
  private readonly history = new GpuHistory(GPU_SPAN_NS);
  private recording: TimelineSink | undefined;
  private deathReason = '';

  constructor(options: GpuNodeThreadOptions = {}) {
    const { name = 'node0', gpus = ['h200'], threads = 1, scheduling = 'fifo' } = options;
    this.name = name;
    this.gpus = gpus;
    this.reservations = new Reservations(
      name,
      gpus.map((gpu) => findCard(gpu, '.').profile),
    );
    this.threads = threads;
    this.scheduling = scheduling;
    this.faults = options.faults ?? {};
    this.analysisDirectory = options.analysisDirectory;
    this.solverPackage = options.solverPackage;
    this.notices = new SolverNotices(name, options.onNotice);
    this.worker = this.spawn();
  }

  start(request: KernelModelStart): ContainerChannel {
    const line = this.nextLine++;
    const channel = new LineChannel(line, this);
    if (this.state === 'closed') {
      channel.deliver({ kind: 'down', reason: this.downReason() });
      return channel;
    }
    if (this.state === 'dead') {
      this.state = 'running';
      this.deathReason = '';
      this.worker = this.spawn();
      if (this.watched) this.post({ kind: 'watch', watched: true });
    }
    this.channels.set(line, channel);
    const { path, model, version, replica, inputType, inputLength, contentHash, launchClass } = request;
    const { gpu = 0, memory } = request;
    if (memory !== undefined) this.reservations.reserve(line, gpu, request, memory);
    this.post({
      kind: 'start',
      line,
      path,
      identity: { model, version, replica },
      gpu,
      inputType,
      ...(inputLength === undefined ? {} : { inputLength }),
      ...(contentHash === undefined ? {} : { contentHash }),
      ...(launchClass === undefined ? {} : { launchClass }),
    });
    return channel;
  }

  send(line: number, frame: FrontendFrame): void {
    if (frame.kind === 'predict') {
      this.reservations.onSent(line);
      const message = packPredict(line, frame);
      this.post(message, [message.bytes.buffer as ArrayBuffer]);
    } else this.post({ kind: 'cancel', line, frame });
  }

  stop(line: number): void {
    this.channels.delete(line);
    this.post({ kind: 'stop', line });
  }

  report(): NodeReport {
    const { busyHostNs, busySimulatedNs, clockLagNs } = sum(this.earlier, this.times);
    return {
      node: this.name,
      room: this.room(),
      replicas: this.channels.size,
      busyHostSeconds: busyHostNs / 1e9,
      busySimulatedSeconds: busySimulatedNs / 1e9,
      dilation: busySimulatedNs === 0 ? undefined : busyHostNs / busySimulatedNs,
      hostBusyShare: this.history.hostBusyShare(),
      clockLagSeconds: clockLagNs / 1e9,
      gpus: this.activities,
      spans: this.history.spans(),
      ...(this.verdicts === undefined ? {} : { verdicts: this.verdicts }),
    };
  }

  room(): NodeRoom {
    return this.reservations.room();
  }

  watchRoom(listener: () => void): void {
    this.reservations.watch(listener);
  }

  watchGpus(watched: boolean): void {
    this.watched = watched;
    this.activities = [];
    this.post({ kind: 'watch', watched });
  }

  record(limit: number, sink: TimelineSink): ReturnType<NodeHost['record']> {
    if (this.state !== 'running') return 'down';
    if (this.recording !== undefined) return 'recording';
    this.recording = sink;
    this.post({ kind: 'record', limit });
    return 'begun';
  }

  stopRecording(): void {
    if (this.recording !== undefined) this.post({ kind: 'stopRecording' });
  }

  drain(done: () => void): void {
    if (this.exited) {
      done();
      return;
    }
    this.drains.push(done);
    this.post({ kind: 'drain' });
  }

  close(done: () => void): void {
    const { exited } = this;
    this.state = 'closed';
    if (exited) {
      done();
      return;
    }
    this.closes.push(done);
    void this.worker.terminate();
  }

  private spawn(): Worker {
    const file = join(packageRoot(), WORKER_FILE);
    if (!existsSync(file)) throw new Error(`${file} is missing: run 'npm run build' first`);
    this.exited = false;
    const loader = connectToLoader(this.gpus, () => {
      if (this.worker === worker) this.post({ kind: 'loaderGone' });
    });
    const workerData: WorkerOptions = {
      name: this.name,
      gpus: this.gpus,
      threads: this.threads,
      scheduling: this.scheduling,
      faults: this.faults,
      loader: loader.port,
    };
    const worker = new Worker(file, { workerData, transferList: [loader.port], name: this.name });
    worker.on('message', (message: FromWorker) => this.onMessage(message));
    worker.on('error', (error) => {
      this.deathReason = reasonOf(error);
    });
    worker.on('exit', (code) => {
      loader.release();
      this.releaseAnalyst();
      this.onExit(code);
    });
    return worker;
  }

  /** A port to the analyst for the present worker. */
  private connectAnalyst(): void {
    const { worker } = this;
    const onGone = (): void => {
      if (this.worker === worker) this.post({ kind: 'analystGone' });
    };
    const line = connectToAnalyst(this.analysisDirectory, onGone, this.solverPackage);
    this.releaseAnalyst = () => line.release();
    this.post({ kind: 'analyst', port: line.port }, [line.port]);
  }

  private post(message: ToWorker, transfer: readonly Transferable[] = []): void {
    if (this.state === 'running') this.worker.postMessage(message, transfer);
  }

  private onMessage(message: FromWorker): void {
    switch (message.kind) {
      case 'frame':
        this.channelOf(message.line, message.frame.kind === 'down')?.deliver(message.frame);
        return;
      case 'result':
        this.times = message.times;
        this.reservations.onAnswered(message.line, message.rest.serviceNs);
        this.channels.get(message.line)?.deliver(unpackResult(message));
        return;
      case 'freed':
        this.reservations.release(message.line);
        return;
      case 'drained':
        for (const done of this.drains.splice(0)) done();
        return;
      case 'sample':
        this.history.add(message.sample);
        // One that was on its way when the watching ended is dropped.
        if (this.watched) this.activities = message.activity;
        this.verdicts = message.verdicts;
        this.notices.look(message.verdicts?.analysis);
        return;
      case 'analystWanted':
        this.connectAnalyst();
        return;
      case 'timeline':
        if (message.text !== '') this.recording?.onText(message.text);
        if (message.isLast) this.endRecording();
        return;
    }
  }

  private channelOf(line: number, isLast: boolean): LineChannel | undefined {
    const channel = this.channels.get(line);
    if (isLast) this.channels.delete(line);
    return channel;
  }

  private onExit(code: number): void {
    this.exited = true;
    this.earlier = sum(this.earlier, this.times);
    this.times = NO_TIMES;
    this.activities = [];
    this.history.clear();
    this.verdicts = undefined;
    if (this.state === 'running') {
      this.state = 'dead';
      this.deathReason ||= `exit code ${code}`;
    }
    const reason = this.downReason();
    this.endRecording(reason);
    const channels = [...this.channels.values()];
    this.channels.clear();
    this.reservations.releaseAll();
    for (const channel of channels) channel.deliver({ kind: 'down', reason });
    for (const done of [...this.drains.splice(0), ...this.closes.splice(0)]) done();
  }

  private endRecording(failure?: string): void {
    const { recording } = this;
    this.recording = undefined;
    recording?.onEnd(failure);
  }

  private downReason(): string {
    return this.deathReason === ''
      ? `GPU node '${this.name}' is closed`
      : `GPU node '${this.name}' died: ${this.deathReason}`;
  }
}

function sum(a: NodeTimes, b: NodeTimes): NodeTimes {
  return {
    busyHostNs: a.busyHostNs + b.busyHostNs,
    busySimulatedNs: a.busySimulatedNs + b.busySimulatedNs,
    clockLagNs: Math.max(a.clockLagNs, b.clockLagNs),
  };
}
