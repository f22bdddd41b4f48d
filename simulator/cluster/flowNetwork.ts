import type { Agenda, AgendaTarget } from '../gpu/index.js';
import type { Flow, SharedLinks } from '../driver/index.js';

interface RunningFlow extends Flow {
  readonly id: number;
  remaining: number;
  ratePerNs: number;
}

/** Plain data. */
export interface FlowState {
  readonly flows: Map<number, RunningFlow>;
  asOfNs: number;
  nextFlow: number;
  armed: number | undefined;
}

export function emptyFlows(nowNs: number): FlowState {
  return { flows: new Map(), asOfNs: nowNs, nextFlow: 1, armed: undefined };
}

const DONE_NS = 1e-3;

/**
 * Links that flows share: buses and host cores. A flow alone moves at its own best rate; where a link is short, all
 * flows on it are slowed by the same factor, and the links that have room left let theirs go on growing (max-min
 * fairness over rates relative to each flow's best). Rates change whenever a flow comes or goes.
 */
export class FlowNetwork implements SharedLinks, AgendaTarget {
  /** What flows want of each link together. */
  private readonly pulls = new Map<string, number>();

  constructor(
    private readonly agenda: Agenda,
    private readonly name: string,
    /** Units a nanosecond of each link. */
    private readonly capacities: ReadonlyMap<string, number>,
    readonly state: FlowState,
  ) {
    agenda.attach(name, this);
  }

  start(flow: Flow): void {
    this.advance();
    const id = this.state.nextFlow++;
    const { amount, uses, mostPerNs, target, kind, payload } = flow;
    const running = { amount, uses, mostPerNs, target, kind, payload, id, remaining: amount, ratePerNs: 0 };
    this.state.flows.set(id, running);
    this.rerate();
  }

  onDue(): void {
    this.state.armed = undefined;
    this.advance();
    const done: RunningFlow[] = [];
    for (const flow of this.state.flows.values()) {
      if (flow.remaining <= flow.ratePerNs * DONE_NS) done.push(flow);
    }
    for (const flow of done) this.state.flows.delete(flow.id);
    this.rerate();
    for (const flow of done) this.agenda.deliver(flow.target, flow.kind, flow.payload);
  }

  private advance(): void {
    const nowNs = this.agenda.nowNs();
    const elapsedNs = nowNs - this.state.asOfNs;
    if (elapsedNs > 0)
      for (const flow of this.state.flows.values()) flow.remaining -= flow.ratePerNs * elapsedNs;
    this.state.asOfNs = nowNs;
  }

  private rerate(): void {
    const { state } = this;
    this.shareLinks();
    if (state.armed !== undefined) this.agenda.cancel(state.armed);
    state.armed = undefined;
    let soonestNs = Infinity;
    for (const flow of state.flows.values()) {
      soonestNs = Math.min(soonestNs, Math.max(0, flow.remaining) / flow.ratePerNs);
    }
    if (soonestNs < Infinity) state.armed = this.agenda.schedule(this.name, state.asOfNs + soonestNs, 'flow');
  }

  /** Raises all flows together until a link is full, fixes the flows on it, and goes on with the others. */
  private shareLinks(): void {
    if (this.state.flows.size <= 1) {
      for (const flow of this.state.flows.values()) this.rateAlone(flow);
      return;
    }
    if (this.isRoomForAll()) {
      for (const flow of this.state.flows.values()) flow.ratePerNs = flow.mostPerNs;
      return;
    }
    const left = new Map(this.capacities);
    const open = new Set(this.state.flows.values());
    let level = 0;
    while (open.size > 0) {
      const pull = new Map<string, number>();
      for (const flow of open) {
        for (const { link, weight } of flow.uses) {
          pull.set(link, (pull.get(link) ?? 0) + weight * flow.mostPerNs);
        }
      }
      let step = 1 - level;
      let full: string | undefined;
      for (const [link, wanted] of pull) {
        const room = Math.max(0, left.get(link) ?? Infinity) / wanted;
        if (room >= step) continue;
        step = room;
        full = link;
      }
      level += step;
      for (const [link, wanted] of pull) left.set(link, (left.get(link) ?? Infinity) - wanted * step);
      for (const flow of [...open]) {
        if (full !== undefined && !flow.uses.some(({ link }) => link === full)) continue;
        flow.ratePerNs = Math.max(level, 1e-9) * flow.mostPerNs;
        open.delete(flow);
      }
    }
  }

  /** Whether no link is short with every flow at its best rate. */
  private isRoomForAll(): boolean {
    const { pulls, capacities } = this;
    pulls.clear();
    for (const { uses, mostPerNs } of this.state.flows.values()) {
      for (let index = 0; index < uses.length; index++) {
        const { link, weight } = uses[index];
        const pull = (pulls.get(link) ?? 0) + weight * mostPerNs;
        if (pull > (capacities.get(link) ?? Infinity)) return false;
        pulls.set(link, pull);
      }
    }
    return true;
  }

  private rateAlone(flow: RunningFlow): void {
    let level = 1;
    for (const { link } of flow.uses) {
      let weights = 0;
      for (const use of flow.uses) if (use.link === link) weights += use.weight * flow.mostPerNs;
      level = Math.min(level, Math.max(0, this.capacities.get(link) ?? Infinity) / weights);
    }
    flow.ratePerNs = Math.max(level, 1e-9) * flow.mostPerNs;
  }
}
