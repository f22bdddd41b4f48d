import { TimeoutError } from './clientErrors.js';
import type { FeedbackResult, Prediction } from './clientTypes.js';

export type CallResult = Prediction | FeedbackResult;

/** A call between its making and its end: answer, refusal, time limit or abort. */
export class PendingCall {
  /** Once it is sent. */
  id: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private unwatch: () => void = () => undefined;

  constructor(
    readonly message: (id: number) => string | Buffer,
    private readonly onResult: (result: CallResult) => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Calls back when the time is over or the signal says so. */
  watch(signal: AbortSignal | undefined, timeoutMs: number, onEnd: (reason: unknown) => void): void {
    this.timer = setTimeout(() => onEnd(new TimeoutError(`no answer within ${timeoutMs} ms`)), timeoutMs);
    if (signal === undefined) return;
    const onAbort = (): void => onEnd(signal.reason);
    signal.addEventListener('abort', onAbort);
    this.unwatch = () => signal.removeEventListener('abort', onAbort);
  }

  resolve(result: CallResult): void {
    this.end();
    this.onResult(result);
  }

  reject(error: unknown): void {
    this.end();
    this.onError(error);
  }

  private end(): void {
    clearTimeout(this.timer);
    this.unwatch();
  }
}
