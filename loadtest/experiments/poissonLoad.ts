import { KeyedDraw } from '../../selection/index.js';
import type { Clock, EventSink } from '../../simulator/time/index.js';

/** Open-loop arrivals with exponential gaps, keyed by seed and number: the server's answers do not change them. */
export class PoissonLoad implements EventSink {
  private readonly draw: KeyedDraw;
  private arrivals = 0;

  /**
   * @param port its name on the clock.
   * @param arrive called at each arrival, with its number.
   */
  constructor(
    private readonly clock: Clock,
    private readonly port: string,
    private readonly perSecond: number,
    fromNs: number,
    private readonly untilNs: number,
    seed: number,
    private readonly arrive: (number: number) => void,
  ) {
    this.draw = new KeyedDraw(seed);
    clock.attach(port, this);
    this.scheduleNext(fromNs);
  }

  onEvent(_kind: string, _payload: unknown, nowNs: number): void {
    this.arrive(this.arrivals - 1);
    this.scheduleNext(nowNs);
  }

  private scheduleNext(nowNs: number): void {
    const gap = -Math.log(1 - this.draw.of(`arrival ${this.arrivals++}`)());
    const atNs = nowNs + (gap * 1e9) / this.perSecond;
    if (atNs < this.untilNs) this.clock.schedule(this.port, atNs, 'arrival');
  }
}
