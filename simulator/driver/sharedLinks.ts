/** One use of a shared link by a flow: `weight` units of the link for each unit of the flow. */
export interface LinkUse {
  readonly link: string;
  readonly weight: number;
}

/** An amount to move through links that others use too: bytes over a bus, nanoseconds of a host core. */
export interface Flow {
  readonly amount: number;
  readonly uses: readonly LinkUse[];
  /** Its rate with all links to itself. */
  readonly mostPerNs: number;
  /** Who is told at its end: `target.onDue(kind, payload)`. */
  readonly target: string;
  readonly kind: string;
  readonly payload: number;
}

/** The node's links and host CPU, shared by everything that moves; progress is a rate there as well. */
export interface SharedLinks {
  start(flow: Flow): void;
}

export const HOST_CPU_LINK = 'hostCpu';

/** A GPU's side of the host bus: one link a direction, and what both directions carry together. */
export function hostLink(gpu: number, direction: 'toDevice' | 'toHost' | 'bothWays'): string {
  return `gpu${gpu}:${direction}`;
}
