import type {
  ContainerChannel,
  FrontendFrame,
  ItemResult,
  LaunchClass,
  PredictFrame,
} from '../../../containers/protocol/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import type { Prediction, PredictionFailure } from '../../cache/index.js';
import type { BatchRecord, BatchingObserver } from '../batchRecord.js';
import { BatchAnswers, type AnswerHost } from '../batchAnswers.js';
import { BatchHold } from '../batchHold.js';
import { BatchSender } from '../batchSender.js';
import { FixedController } from '../batchSize.js';
import { Departures } from '../departures.js';
import { Evaluation } from '../evaluation.js';
import { InFlight } from '../inFlight.js';
import { ReplicaReports } from '../replicaReports.js';
import { Served } from '../served.js';
import { SuspectInputs } from '../suspectInputs.js';
import { SuspectLanes } from '../suspectLanes.js';
import { WaitForecast } from '../waitForecast.js';
import { WaitingEvaluations } from '../waitingEvaluations.js';

export const MS = 1e6;

export class TestEvaluation extends Evaluation {
  readonly outcomes: string[] = [];

  constructor(expiresNs: number, launchClass: LaunchClass = 'standard', source?: object) {
    super(new Uint8Array(8), 0, 0, expiresNs, expiresNs, 3, launchClass, undefined, source);
    this.state = 'queued';
  }

  override collectTraces(): void {}

  override onPrediction({ output }: Prediction): void {
    this.outcomes.push(output);
  }

  override onFailure({ reason, message }: PredictionFailure): void {
    this.outcomes.push(`${reason}: ${message}`);
  }
}

/** The parts of one replica's queue, with no queue around them. */
export class ReplicaParts implements ContainerChannel, BatchingObserver, AnswerHost {
  readonly clock = new VirtualClock();
  readonly frames: FrontendFrame[] = [];
  readonly told: string[] = [];
  readonly records: BatchRecord[] = [];
  readonly again: Evaluation[] = [];
  /** What the channel throws. */
  broken: Error | undefined;
  readonly inFlight = new InFlight();
  readonly served = new Served();
  readonly suspects = new SuspectInputs();
  readonly waiting: WaitingEvaluations;
  readonly forecast: WaitForecast;
  readonly sender: BatchSender;
  readonly departures: Departures;
  readonly answers: BatchAnswers;

  constructor({ credits = 2, limit = 4, most = 100, delayNs = 0 } = {}) {
    const { clock, inFlight, served, suspects } = this;
    const hello = {
      kind: 'hello',
      protocolVersion: 1,
      model: 'm',
      version: '1',
      replica: 'r0',
      inputType: 'doubles',
      maxBatchSize: limit,
      credits,
    } as const;
    const controller = new FixedController(limit);
    const reports = new ReplicaReports(this, hello);
    const lanes = new SuspectLanes(suspects, limit, () => false);
    const waiting = (this.waiting = new WaitingEvaluations(clock, 'replica', lanes, most));
    const forecast = (this.forecast = new WaitForecast(waiting, inFlight, served, controller));
    const holding = new BatchHold(clock, 'replica', waiting.others, inFlight, forecast, delayNs);
    const sender = new BatchSender(this, credits, 'standard', inFlight, reports, undefined, (reason) => {
      this.lose(reason);
    });
    this.sender = sender;
    const departures = new Departures(clock, 'replica', controller, waiting, holding, sender, 'standard');
    this.departures = departures;
    const parts = { clock, replica: 'r0', sender, controller, served, suspects, lanes, reports };
    this.answers = new BatchAnswers(parts, this);
    clock.attach('replica', {
      onEvent: (kind, _payload, nowNs) => {
        this.told.push(kind);
        if (kind === 'expire') waiting.onExpire(nowNs);
        else departures.onDue(kind as 'dispatch' | 'held', nowNs);
      },
    });
  }

  /** Takes one in as a queue does. */
  take(expiresNs: number, launchClass?: LaunchClass): TestEvaluation {
    const evaluation = new TestEvaluation(expiresNs, launchClass);
    this.waiting.push(evaluation);
    this.departures.onQueued(evaluation, this.clock.nowNs());
    return evaluation;
  }

  /** What each batch that was sent has of items and class; undefined: the container's own. */
  get batches(): [number, LaunchClass | undefined][] {
    return this.predictions.map(({ items, launchClass }) => [items.length, launchClass]);
  }

  get predictions(): PredictFrame[] {
    return this.frames.filter((frame): frame is PredictFrame => frame.kind === 'predict');
  }

  answer(batchId: number, results: readonly ItemResult[], calls?: number): void {
    const frame = {
      kind: 'result',
      batchId,
      results,
      serviceNs: MS,
      ...(calls === undefined ? {} : { calls }),
    };
    this.answers.onResult(frame as Parameters<BatchAnswers['onResult']>[0], this.clock.nowNs());
  }

  send(frame: FrontendFrame): void {
    this.frames.push(frame);
    if (this.broken !== undefined) throw this.broken;
  }

  open(): void {}

  close(reason?: string): void {
    this.told.push(`closed: ${reason}`);
  }

  onBatchSent(): undefined {
    return undefined;
  }

  onBatch(record: BatchRecord): void {
    this.told.push('record');
    this.records.push(record);
  }

  onProtocolError(_model: string, _version: string, _replica: string, message: string): void {
    this.told.push(`complaint: ${message}`);
  }

  onRequeued(): void {}
  onReplicaUp(): void {}
  onReplicaDown(): void {}

  dispatchMore(nowNs: number): boolean {
    this.told.push('more');
    this.departures.dispatch(nowNs);
    return !this.sender.isClosed;
  }

  askAgain(evaluation: Evaluation): void {
    this.again.push(evaluation);
  }

  lose(reason: string): void {
    this.told.push(`lost: ${reason}`);
    this.sender.close(reason);
  }
}
