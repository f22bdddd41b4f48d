import type { Agenda, AgendaTarget } from '../gpu/index.js';
import type { Flow, SharedLinks } from '../driver/index.js';
import { timeAfter } from '../time/index.js';

interface RunningFlow extends Flow {
  readonly id: number;
  remaining: number;
  ratePerNs: number;
}

/** Plain data. */
export interface FlowState {
  /** In the order in which they started. */
  flows: RunningFlow[];
  asOfNs: number;
  nextFlow: number;
  armed: number | undefined;
}

export function emptyFlows(nowNs: number): FlowState {
  return { flows: [], asOfNs: nowNs, nextFlow: 1, armed: undefined };
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
    this.state.flows.push(running);
    this.rerate();
  }

  onDue(): void {
    this.state.armed = undefined;
    this.advance();
    const done = this.takeDone();
    this.rerate();
    for (const flow of done) this.agenda.deliver(flow.target, flow.kind, flow.payload);
  }

  private takeDone(): readonly RunningFlow[] {
    const { flows } = this.state;
    const done: RunningFlow[] = [];
    let kept = 0;
    for (let index = 0; index < flows.length; index++) {
      const flow = flows[index];
      if (flow.remaining <= flow.ratePerNs * DONE_NS) done.push(flow);
      else flows[kept++] = flow;
    }
    while (flows.length > kept) flows.pop();
    return done;
  }

  private advance(): void {
    const { state } = this;
    const nowNs = this.agenda.nowNs();
    const elapsedNs = nowNs - state.asOfNs;
    if (elapsedNs > 0) {
      const { flows } = state;
      for (let index = 0; index < flows.length; index++) {
        const flow = flows[index];
        flow.remaining -= flow.ratePerNs * elapsedNs;
      }
    }
    state.asOfNs = nowNs;
  }

  private rerate(): void {
    const { state } = this;
    this.shareLinks();
    if (state.armed !== undefined) this.agenda.cancel(state.armed);
    state.armed = undefined;
    const { flows } = state;
    let soonestNs = Infinity;
    for (let index = 0; index < flows.length; index++) {
      const { remaining, ratePerNs } = flows[index];
      const leftNs = remaining > 0 ? remaining / ratePerNs : 0;
      if (leftNs < soonestNs) soonestNs = leftNs;
    }
    if (soonestNs < Infinity)
      state.armed = this.agenda.schedule(this.name, timeAfter(state.asOfNs, soonestNs), 'flow');
  }

  /** Raises all flows together until a link is full, fixes the flows on it, and goes on with the others. */
  private shareLinks(): void {
    const { flows } = this.state;
    if (flows.length <= 1) {
      for (let index = 0; index < flows.length; index++) this.rateAlone(flows[index]);
      return;
    }
    if (this.isRoomForAll()) {
      for (let index = 0; index < flows.length; index++) flows[index].ratePerNs = flows[index].mostPerNs;
      return;
    }
    const left = new Map(this.capacities);
    const open = new Set(flows);
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
    const { flows } = this.state;
    for (let position = 0; position < flows.length; position++) {
      const { uses, mostPerNs } = flows[position];
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
