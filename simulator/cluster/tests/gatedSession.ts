import type { DriverCommand, DriverOp } from '../../driver/index.js';
import { VirtualClock } from '../../time/index.js';
import { GpuNode, type GpuNodeOptions } from '../index.js';
import { Session } from './session.js';

type Step = { readonly [O in DriverOp]: Pick<Extract<DriverCommand, { op: O }>, 'op' | 'args'> }[DriverOp];

/** Longer than any test submits for. */
const GATE_NS = 1e8;

/** A context on a node of its own, and a stream of it, for measuring as the programs beside the reference do. */
export class GatedSession {
  readonly clock = new VirtualClock();
  readonly node: GpuNode;
  readonly session: Session;
  readonly stream: number;

  constructor(options: Partial<GpuNodeOptions> = {}) {
    this.node = new GpuNode(this.clock, { gpus: ['h200'], ...options });
    this.session = new Session(this.node, this.clock).open();
    this.stream = this.session.handle('streamCreate', { priority: 0, nonBlocking: true });
  }

  /** Submits all at once and runs to the end. @returns when each was done. */
  run(steps: readonly Step[], stream = this.stream): number[] {
    const tickets = steps.map(({ op, args }) => this.session.send(op, args as never, stream));
    this.clock.run();
    return tickets.map((ticket) => {
      const done = this.session.find(ticket);
      if (done === undefined || done.failure !== undefined) {
        throw new Error(done?.failure?.message ?? 'never completed');
      }
      return done.timeNs;
    });
  }

  /** Microseconds from one to the next of `count` equal steps that the stream has before it begins on the first. */
  intervalUs(step: Step, count = 5): number {
    const all = Array.from({ length: count }, () => step);
    const times = this.run([{ op: 'hostFunction', args: { hostNs: GATE_NS } }, ...all]);
    return (times[count] - times[1]) / (count - 1) / 1000;
  }

  /** The same of steps that the host submits one by one to an idle stream. */
  submittedUs(step: Step, count = 9): number {
    const times = this.run(Array.from({ length: count }, () => step));
    return (times[count - 1] - times[0]) / (count - 1) / 1000;
  }
}
