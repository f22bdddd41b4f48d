import type {
  ContainerChannel,
  ContainerFrame,
  FrameSink,
  FrontendFrame,
  HelloFrame,
} from '../../../protocol/index.js';
import { PROTOCOL_VERSION } from '../../../protocol/index.js';
import type { ContainerStart } from '../../modelContainer.js';
import type { TimelineSink } from '../../nodeHost.js';
import type { NodeRoom } from '../../placement/index.js';
import type { NodeServerOptions } from '../nodeServer.js';

/** A container that does what a test says. */
export class Puppet implements ContainerChannel {
  readonly heard: FrontendFrame[] = [];
  onHeard: (frame: FrontendFrame) => void = () => undefined;
  closedFor: string | undefined;
  private sink: FrameSink<ContainerFrame> | undefined;

  constructor(readonly request: ContainerStart) {}

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
  }

  send(frame: FrontendFrame): void {
    this.heard.push(frame);
    this.onHeard(frame);
  }

  close(reason = ''): void {
    this.closedFor = reason;
  }

  /** In a task of its own, as every channel delivers. */
  say(frame: ContainerFrame): void {
    queueMicrotask(() => this.sink?.onFrame(frame));
  }

  hello(credits = 2): void {
    this.say(helloOf(this.request, credits));
  }

  /** Batches that it was asked, by what it calls them. */
  batches(): number[] {
    return this.heard.flatMap((frame) => (frame.kind === 'predict' ? [frame.batchId] : []));
  }

  answer(batchId: number): void {
    this.say({ kind: 'result', batchId, results: [], serviceNs: 1 });
  }
}

export function helloOf({ model, version, replica, inputType }: ContainerStart, credits: number): HelloFrame {
  return {
    kind: 'hello',
    protocolVersion: PROTOCOL_VERSION,
    model,
    version,
    replica,
    inputType,
    maxBatchSize: 100,
    credits,
  };
}

const ROOM = { node: 'any', backingBytes: 100, freeBackingBytes: 100, gpus: [], holders: [] };

/** Starts puppets. */
export class PuppetRuntime {
  readonly puppets: Puppet[] = [];
  onStart: (puppet: Puppet) => void = () => undefined;
  watched = false;
  room = (): NodeRoom => ROOM;
  readonly startedOnGpu: number[] = [];
  recording: TimelineSink | undefined;
  private readonly waiting: (() => void)[] = [];

  start(request: ContainerStart): ContainerChannel {
    const puppet = new Puppet(request);
    this.puppets.push(puppet);
    this.onStart(puppet);
    return puppet;
  }

  reports(): ReturnType<NodeServerOptions['runtime']['reports']> {
    return [
      {
        node: 'any',
        replicas: 0,
        busyHostSeconds: 1.5,
        busySimulatedSeconds: 2,
        dilation: undefined,
        hostBusyShare: 0.25,
        clockLagSeconds: 0,
        gpus: this.watched
          ? [
              {
                gpu: 0,
                profile: 'h200',
                asOfNs: 3,
                busyNs: Float64Array.of(1, 2),
                blockNs: Float64Array.of(3, 4),
              },
            ]
          : [],
        room: this.room(),
        spans: [],
      },
    ];
  }

  node(): NonNullable<ReturnType<NodeServerOptions['runtime']['node']>> {
    const record = (_limit: number, sink: TimelineSink): 'begun' | 'recording' => {
      if (this.recording !== undefined) return 'recording';
      this.recording = sink;
      return 'begun';
    };
    return {
      name: 'any',
      start: (request) => {
        this.startedOnGpu.push(request.gpu ?? -1);
        return this.start({ ...request, container: { kind: 'kernelModel', path: request.path } });
      },
      report: () => this.reports()[0],
      room: () => this.room(),
      watchRoom: () => undefined,
      watchGpus: (watched) => this.watchGpus(watched),
      record,
      stopRecording: () => {
        const { recording } = this;
        this.recording = undefined;
        recording?.onEnd();
      },
      drain: (done) => this.drain(done),
      close: (done) => done(),
    };
  }

  watchGpus(watched: boolean): void {
    this.watched = watched;
  }

  drain(done: () => void): void {
    this.waiting.push(done);
  }
}
