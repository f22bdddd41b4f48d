import { AREA, PASSES, WARP_SIZE } from '../area/index.js';
import type { FlowGraph, FlowNode, RegionFlow } from '../analysis/index.js';
import type { KernelPlan } from '../plan/index.js';
import {
  collapseZones,
  edgeRegisters,
  findZones,
  keptRegisters,
  maskedNodes,
  partingRegisters,
  type MaskedZone,
} from './maskedZones.js';
import type { MaskedInstructions, RegisterShapes } from '../vector/index.js';

/** What of a region runs under masks. */
export interface MaskedPlan {
  /** The region with each zone as one node, and its order. */
  readonly graph: FlowGraph;
  readonly flow: RegionFlow;
  /** Zones by the node that is their entry. */
  readonly zoneAt: ReadonlyMap<number, MaskedZone>;
  /** Classes that are counted lane by lane, with the offset in the area where parted lanes find their passes. */
  readonly passSlots: ReadonlyMap<number, number>;
  /** Registers that must keep what they hold for lanes that a zone's nodes are not run for. */
  readonly kept: ReadonlySet<number>;
  isMasked(node: FlowNode): boolean;
}

const NO_MASKS: MaskedInstructions = { kept: new Set(), unchecked: new Set() };

/** Zones make registers varying, which may make more branches part: both are found together. */
const MOST_ROUNDS = 8;

/**
 * Plans masks for all regions of a kernel: what is uniform is so in all of them.
 * @param hasNarrowRows whether rows of threads are so short that many chunks have an edge of the grid in them
 */
export function planMasked(
  plan: KernelPlan,
  flows: readonly RegionFlow[],
  hasNarrowRows: boolean,
  analyse: (masked: MaskedInstructions) => RegisterShapes,
): {
  readonly shapes: RegisterShapes;
  /** What they are as long as lanes never go different ways. */
  readonly unparted: RegisterShapes;
  readonly masked: readonly MaskedPlan[];
} {
  const plain = analyse(NO_MASKS);
  if (plan.form.without?.has('masks') !== true) {
    let shapes = plain;
    for (let round = 0, key = flows.map(() => '').join('|'); round < MOST_ROUNDS; round++) {
      const parts = partingRegisters(plan.fn, shapes);
      const edges = edgeRegisters(plan.fn, shapes, parts, hasNarrowRows);
      const zones = flows.map((flow) => findZones(plan.graph, flow, parts, edges, plan.exits.before));
      const found = zones.map((each) => each.map(({ nodes }) => nodes.join()).join(';')).join('|');
      const instructions = maskedInstructions(plan, flows, zones);
      if (found === key) {
        const slots = slotsFrom(flows);
        const masked = flows.map((flow, region) =>
          maskedPlan(plan, flow, zones[region] ?? [], instructions, slots),
        );
        if (masked.every((each) => each !== undefined))
          return { shapes: { ...shapes, likely: plain.shapes }, unparted: plain, masked };
        break;
      }
      key = found;
      shapes = analyse(instructions);
    }
  }
  const { graph } = plan;
  const nothing = new Map<number, never>();
  const masked = { graph, zoneAt: nothing, passSlots: nothing, kept: NO_MASKS.kept, isMasked: () => false };
  return { shapes: plain, unparted: plain, masked: flows.map((flow) => ({ ...masked, flow })) };
}

function maskedInstructions(
  { fn, graph, liveness }: KernelPlan,
  flows: readonly RegionFlow[],
  zonesOf: readonly (readonly MaskedZone[])[],
): MaskedInstructions {
  const kept = new Set<number>();
  const unchecked = new Set<number>();
  flows.forEach((flow, region) => {
    for (const zone of zonesOf[region] ?? []) {
      for (const register of keptRegisters(fn, graph, flow, liveness, zone)) kept.add(register);
      for (const position of maskedNodes(zone))
        for (const index of graph.nodes[flow.nodes[position] ?? -1]?.body ?? []) unchecked.add(index);
    }
  });
  return { kept, unchecked };
}

/** Behind the passes of all regions' classes, which must not be written over. */
function slotsFrom(flows: readonly RegionFlow[]): number {
  return AREA.passes + Math.max(...flows.map(({ classCount }) => classCount)) * PASSES.bytes;
}

/** @returns nothing when the area has no room for the passes of so many classes */
function maskedPlan(
  plan: KernelPlan,
  flow: RegionFlow,
  zones: readonly MaskedZone[],
  { kept }: MaskedInstructions,
  slots: number,
): MaskedPlan | undefined {
  const masked = new Set(zones.flatMap(maskedNodes));
  const passSlots = new Map<number, number>();
  const countedAt = new Map<number, number>();
  flow.classOf.forEach((each, position) => {
    if (!countedAt.has(each)) countedAt.set(each, position);
  });
  let end = slots;
  for (const [each, position] of countedAt) {
    if (!masked.has(position)) continue;
    passSlots.set(each, end);
    if (flow.isRepeated[each] === true) end += 4 * WARP_SIZE;
  }
  if (end > AREA.passesEnd) return undefined;
  const indices = new Set([...masked].map((position) => flow.nodes[position] ?? -1));
  return {
    ...collapseZones(plan.graph, flow, zones),
    zoneAt: new Map(zones.map((zone) => [flow.nodes[zone.entry] ?? -1, zone])),
    passSlots,
    kept,
    isMasked: (node) => indices.has(node.index),
  };
}
