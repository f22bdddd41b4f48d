import type { InputType } from '../../containers/protocol/index.js';
import type { Clock } from '../../simulator/time/index.js';
import type { LoggedFeedback } from '../../selection/index.js';
import { ServiceError } from '../errors/index.js';
import type { Query } from '../prediction/index.js';
import { ArrivalLines } from './arrivalLines.js';

export interface RecordingRequest {
  readonly seconds: number;
  /** Inputs as they are; otherwise a hash of each. */
  readonly withInputs: boolean;
  /** Judged queries with propensities and losses in place of arrivals. */
  readonly ofFeedback?: boolean | undefined;
  /** undefined: all of them. */
  readonly application?: string | undefined;
  /** Whoever asked waits no longer. */
  readonly gone: AbortSignal;
}

export interface ArrivalRecorderOptions {
  readonly clock: Clock;
  /** Says who is told of every query from now on; undefined: nobody. */
  readonly watch: (onQuery: ((query: Query) => void) | undefined) => void;
  /** The same of every judged query. */
  readonly watchFeedback: (onJudged: ((judged: LoggedFeedback) => void) | undefined) => void;
  /** What an application's inputs are; undefined: it has gone. */
  readonly inputType: (application: string) => InputType | undefined;
}

/** Held until they are written: what a reader that is slow may cost. */
const MOST_HELD = 8192;
const MOST_HELD_BYTES = 8 * 1024 * 1024;
/** Lines are made so often, and for so long at most: queries go on in between. */
const TURN_MS = 20;
const LONGEST_TURN_MS = 2;
/** A line without anything in it shows a reader that the server is there. */
export const SIGN_OF_LIFE_MS = 5000;

/** Of a feature with its name, at most. */
const FEATURE_BYTES = 128;

interface Held {
  readonly atNs: number;
  readonly what: Query | LoggedFeedback;
}

/** Writes down when queries come, or what feedback says of them, for whoever reads along. A query costs a place in a list; without room there it is only counted. */
export class ArrivalRecorder {
  /** The recording under way. */
  private current: RecordingRequest | undefined;

  constructor(private readonly options: ArrivalRecorderOptions) {}

  /** Arrivals as JSON lines, as they come; the last line counts them. @throws ServiceError when another recording is under way */
  record(request: RecordingRequest): AsyncGenerator<string, void> {
    if (this.current !== undefined) {
      throw new ServiceError('recording', 'arrivals are being recorded already: wait until that is over');
    }
    this.current = request;
    // One that leaves before it reads never begins to.
    request.gone.addEventListener('abort', () => this.release(request), { once: true });
    return this.lines(request);
  }

  private release(request: RecordingRequest): void {
    if (this.current !== request) return;
    this.current = undefined;
    this.unwatch();
  }

  private watch(ofFeedback: boolean, onCome: (what: Query | LoggedFeedback) => void): void {
    if (ofFeedback) this.options.watchFeedback(onCome);
    else this.options.watch(onCome);
  }

  private unwatch(): void {
    this.options.watch(undefined);
    this.options.watchFeedback(undefined);
  }

  private async *lines(request: RecordingRequest): AsyncGenerator<string, void> {
    const { seconds, withInputs, application, gone } = request;
    const { clock, inputType } = this.options;
    const ofFeedback = request.ofFeedback === true;
    const startNs = clock.nowNs();
    const lines = new ArrivalLines(startNs, withInputs, inputType);
    let held: Held[] = [];
    let heldBytes = 0;
    let arrivals = 0;
    let dropped = 0;
    if (gone.aborted) return;
    this.watch(ofFeedback, (what) => {
      if (application !== undefined && what.application !== application) return;
      const bytes = 'input' in what ? what.input.length : featureBytes(what);
      if (held.length >= MOST_HELD || heldBytes + bytes > MOST_HELD_BYTES) {
        dropped += 1;
        return;
      }
      arrivals += 1;
      heldBytes += bytes;
      held.push({ atNs: clock.nowNs(), what });
    });
    try {
      const untilNs = startNs + seconds * 1e9;
      let lastMs = performance.now();
      for (let isLast = false; !isLast || held.length > 0;) {
        isLast ||= clock.nowNs() >= untilNs || gone.aborted;
        if (gone.aborted) return;
        if (isLast) this.unwatch();
        const turn = held;
        held = [];
        heldBytes = 0;
        const text = await linesOf(lines, turn);
        if (text !== '' || performance.now() - lastMs > SIGN_OF_LIFE_MS) {
          lastMs = performance.now();
          yield text === '' ? '\n' : text;
        }
        if (!isLast) await pause(TURN_MS);
      }
      yield `${JSON.stringify({ end: { arrivals, dropped } })}\n`;
    } finally {
      this.release(request);
    }
  }
}

/** With pauses in between, as long as there are many. */
async function linesOf(lines: ArrivalLines, turn: readonly Held[]): Promise<string> {
  const parts: string[] = [];
  let fromMs = performance.now();
  for (const { atNs, what } of turn) {
    parts.push('input' in what ? lines.of(atNs, what) : lines.ofFeedback(atNs, what));
    if (performance.now() - fromMs < LONGEST_TURN_MS) continue;
    await pause(TURN_MS);
    fromMs = performance.now();
  }
  return parts.join('');
}

function featureBytes({ features = {} }: LoggedFeedback): number {
  return Object.keys(features).length * FEATURE_BYTES;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
