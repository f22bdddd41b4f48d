import type { ContainerChannel, FrontendFrame, LaunchClass } from '../../containers/protocol/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import { depart } from './batchDeparture.js';
import type { Evaluation } from './evaluation.js';
import type { HangWatchdog } from './hangWatchdog.js';
import type { Batch, InFlight } from './inFlight.js';
import type { ReplicaReports } from './replicaReports.js';
import type { Lane } from './suspectLanes.js';

/** The way to one container: batches go out for the credits that it gave, and are in flight until they are answered. */
export class BatchSender {
  isClosed = false;
  private nextBatchId = 1;

  /**
   * @param credits batches that the container takes beside those in flight.
   * @param launchClass what its launches have where a batch says nothing.
   * @param watchdog looks for answers that do not come; undefined: nobody does.
   * @param onFailed the channel has thrown: it is as good as lost.
   */
  constructor(
    private readonly channel: ContainerChannel,
    public credits: number,
    private readonly launchClass: LaunchClass,
    readonly inFlight: InFlight,
    private readonly reports: ReplicaReports,
    private readonly watchdog: HangWatchdog | undefined,
    private readonly onFailed: (reason: string) => void,
  ) {}

  /**
   * Sends a batch of one class.
   * @param limit how large it might have been.
   * @param lane of its evaluations, where they are suspects.
   */
  send(evaluations: Evaluation[], limit: number, nowNs: number, lane?: Lane): void {
    const isAlone = lane !== undefined && evaluations[0].isDangerous;
    const isLimited = lane === 'limited';
    const id = this.nextBatchId++;
    const departure = depart(id, evaluations, nowNs);
    const { items, longestQueueNs, totalQueueNs } = departure;
    const trace = this.reports.onSent(evaluations);
    const traceparent = trace === undefined ? departure.traceparent : trace.traceparent;
    if (trace !== undefined) for (const evaluation of evaluations) evaluation.batchTrace = trace;
    this.credits -= 1;
    // Evaluations join others while they wait: only now the class stands.
    const [{ launchClass }] = evaluations;
    this.inFlight.add({
      id,
      items: evaluations,
      launchClass,
      limit,
      sentNs: nowNs,
      longestQueueNs,
      totalQueueNs,
      isAlone,
      isLimited,
      trace,
      traceparent,
    });
    this.watchdog?.onSent(nowNs);
    if (traceparent === undefined && launchClass === this.launchClass && lane === undefined) {
      // As nearly all are: the other form would be made of four objects.
      this.post({ kind: 'predict', batchId: id, items });
      return;
    }
    this.post({
      kind: 'predict',
      batchId: id,
      items,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(launchClass === this.launchClass ? {} : { launchClass }),
      ...(lane === undefined ? {} : { isSuspect: true }),
    });
  }

  /** Nobody waits for one that was sent any more: the container may skip it. */
  cancel({ batchId, itemId }: Evaluation): void {
    if (!this.isClosed) this.post({ kind: 'cancel', batchId, itemIds: [itemId] });
  }

  /** A batch was answered. @param isTypical whether it took what batches of its size take */
  onAnswered(batch: Batch, nowNs: number, isTypical: boolean): void {
    this.inFlight.remove(batch, nowNs, isTypical);
    this.credits += 1;
  }

  close(reason: string): void {
    this.isClosed = true;
    this.watchdog?.close();
    this.channel.close(reason);
  }

  private post(frame: FrontendFrame): void {
    try {
      this.channel.send(frame);
    } catch (error) {
      this.onFailed(`sending failed: ${reasonOf(error)}`);
    }
  }
}
