import type { Features } from '../../selection/index.js';

/** One query to come. */
export interface Arrival {
  /** Since the trace's start, in simulated nanoseconds; never before the arrival that came before. */
  readonly atNs: number;
  /** undefined: the replay's only application. */
  readonly application?: string;
  /** Selection context; undefined: the application's own. */
  readonly context?: string;
  /** A JSON value of the application's input type. */
  readonly input?: unknown;
  /** What tells its input from others, in place of it: arrivals with the same one get the same input. */
  readonly inputHash?: string;
  /** Or the number of a sample of the application's inputs; undefined as well: a drawn one. */
  readonly sample?: number;
  /** The true output, when the trace knows it. */
  readonly label?: string;
  /** What the application's policy may choose by. */
  readonly features?: Features;
  /** Of a trace whose functions are dealt to groups (`TraceRequest.deal`): which of them. */
  readonly group?: number;
  /** What an error calls this arrival. */
  readonly where: string;
}

/** Arrivals one after the other: however long it is, no more than one is held. */
export interface Trace {
  /** As it was asked for. */
  readonly name: string;
  /** What is worth a look before it is run, a line each. */
  readonly summary: readonly string[];
  /** Arrivals a second on average, scaled; undefined: nobody knows. */
  readonly meanPerSecond: number | undefined;
  /** undefined: the trace has ended. @throws LoadError naming the line, the column and the fix. */
  next(): Arrival | undefined;
  /** Share of the trace that was read, 0 to 1; undefined when it has no end of its own. */
  progress(): number | undefined;
  close(): void;
}
