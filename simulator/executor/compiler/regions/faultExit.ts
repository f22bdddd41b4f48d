import type { FunctionBuilder, Label } from '../../../wasm/index.js';
import type { FaultCode } from '../../types.js';
import { faultNumber, RECORD } from '../area/index.js';

/** How code leaves with a fault: from anywhere in a function to its end, where the launch record is told the place. */
export class FaultExit {
  private label: Label = 0;

  /**
   * @param site local for the instruction
   * @param lane local with the lane that faults, in its warp
   */
  constructor(
    private readonly f: FunctionBuilder,
    private readonly site: number,
    readonly lane: number,
  ) {}

  /** Before all code that may fault. */
  open(): void {
    this.label = this.f.block();
  }

  /** Leaves with a fault. */
  raise(code: FaultCode, at: number): void {
    this.f.area().i32(faultNumber(code)).memory('i32Store', RECORD.faultCode);
    this.leave(at);
  }

  /** Leaves with a fault that the launch record knows already, but for its place. */
  leave(at: number): void {
    this.f.i32(at).set(this.site).br(this.label);
  }

  /**
   * Behind all code that may fault, which does not fall through.
   * @param firstThread local with the warp's first thread. @param first what comes before
   */
  close(firstThread: number, first?: () => void): void {
    const { f } = this;
    f.end();
    first?.();
    f.area().get(this.site).memory('i32Store', RECORD.faultInstruction);
    f.area().get(firstThread).get(this.lane).op('i32Add').memory('i32Store', RECORD.faultThread);
  }

  /** Faults of some code come to what follows it; `body` does not fall through. */
  caught(body: () => void): void {
    const outer = this.label;
    this.label = this.f.block();
    body();
    this.f.end();
    this.label = outer;
  }

  /** Keeps a fault that was caught. @param lane and @param site locals for it */
  keep(lane: number, site: number): void {
    this.f.get(this.lane).set(lane).get(this.site).set(site);
  }

  /** Leaves with a fault that was kept. */
  leaveKept(lane: number, site: number): void {
    this.f.get(lane).set(this.lane).get(site).set(this.site).br(this.label);
  }
}
