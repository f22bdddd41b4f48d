import type { BlockEngine } from './dispatch/index.js';
import type { PowerMeter } from './power/index.js';

/** How fast a device goes, and what it draws by it: its clocks under its power limit, and the rates of blocks that follow. */
export class DevicePace {
  /** Power has to be looked at whether rates change or not. */
  private isPowerStale = true;

  constructor(
    private readonly engine: BlockEngine,
    private readonly power: PowerMeter,
  ) {}

  /** Of all SMs; running blocks go on at the new pace. The power limit may hold the clock below it. */
  setClock(clockHz: number): void {
    this.power.state.applicationClockHz = clockHz;
    this.isPowerStale = true;
    this.engine.setClock(clockHz);
  }

  /** DRAM's; its bandwidth goes with it. */
  setMemoryClock(clockHz: number): void {
    this.engine.setMemoryClock(clockHz);
  }

  setPowerLimit(watts: number): void {
    this.power.state.limitWatts = watts;
    this.isPowerStale = true;
  }

  /** Moves the SMs' clock where it is time to, towards what the limit allows. */
  control(nowNs: number): void {
    if (!this.power.isControlDue(nowNs)) return;
    const { clockHz } = this.engine.state;
    this.isPowerStale = true;
    const controlled = this.power.controlledClock(clockHz, nowNs);
    if (controlled !== clockHz) this.engine.setClock(controlled);
  }

  /** Works out rates and power. @returns when the next blocks end or the clock may change, at the earliest */
  rerate(): number {
    const { engine, power } = this;
    const soonestNs = engine.rerate() ?? Infinity;
    if (engine.hasNewRates || this.isPowerStale) {
      this.isPowerStale = false;
      power.rerate(engine.state, engine.state.asOfNs, engine.drawn);
    }
    const { controlNs } = power.state;
    return controlNs !== undefined && controlNs < soonestNs ? controlNs : soonestNs;
  }
}
