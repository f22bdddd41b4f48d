import type { IrFunction, IrInstruction } from '../../../ptx/index.js';
import { writtenRegisters } from '../../../ptx/index.js';
import {
  type FlowGraph,
  type FlowNode,
  RegisterSet,
  type NodeLiveness,
  analyseRegion,
  meet,
  postdominance,
  type RegionFlow,
} from '../analysis/index.js';
import type { RegisterShapes, LaneShape } from '../vector/index.js';

/**
 * Nodes through which the lanes of a chunk go under masks: what lies between one entry and the place where all ways come
 * together again. All by position in the region.
 */
export interface MaskedZone {
  /** Runs for all lanes unless it is a loop's header. */
  readonly entry: number;
  /** First node behind the zone. */
  readonly exit: number;
  /** In reverse postorder; the entry is the first. */
  readonly nodes: readonly number[];
  /** Whether ways in the zone lead back to its entry. */
  readonly isLoop: boolean;
}

/** More instructions than this are not written twice: under masks, and for lanes one by one. */
const MOST_INSTRUCTIONS = 400;
/** The same for zones in which chunks with an edge of the grid in them part. */
const MOST_EDGE_INSTRUCTIONS = 80;

/**
 * Finds the zones of a region around branches at which lanes part for other reasons than where the grid ends.
 * @param edges predicates that part lanes where the grid ends, when that is often enough for small zones around them
 * @param apart nodes that are in no zone
 */
export function findZones(
  graph: FlowGraph,
  flow: RegionFlow,
  parts: ReadonlySet<number>,
  edges: ReadonlySet<number>,
  apart: ReadonlySet<number>,
): MaskedZone[] {
  if (!flow.isReducible) return [];
  const branchesOn = (registers: ReadonlySet<number>): number[] =>
    [...flow.nodes.keys()].filter((position) => {
      const terminator = graph.nodes[flow.nodes[position] ?? -1]?.terminator;
      return terminator?.kind === 'branch' && registers.has(terminator.register);
    });
  const finder = new ZoneFinder(graph, flow, apart);
  const zones: Set<number>[] = [];
  for (const position of branchesOn(parts))
    if (!zones.some((zone) => zone.has(position))) addZone(zones, position, finder);
  for (const position of branchesOn(edges)) {
    if (zones.some((zone) => zone.has(position))) continue;
    const nodes = finder.close(new Set([position]));
    if (nodes === undefined || !finder.isSmallAndStraight(nodes)) continue;
    if (zones.some((zone) => [...zone].some((each) => nodes.has(each)))) addZone(zones, position, finder);
    else zones.push(nodes);
  }
  return zones.flatMap((nodes) => finder.zoneOf(nodes) ?? []);
}

function addZone(zones: Set<number>[], position: number, finder: ZoneFinder): void {
  let nodes = finder.close(new Set([position]));
  for (let merged = true; nodes !== undefined && merged;) {
    merged = false;
    for (const other of zones) {
      if (nodes === undefined || ![...other].some((each) => nodes?.has(each) === true)) continue;
      const both: Set<number> = new Set([...nodes, ...other]);
      if (both.size === nodes.size) {
        zones.splice(zones.indexOf(other), 1);
        merged = true;
        break;
      }
      const closed = finder.close(both);
      // A zone that cannot grow stays as it is, and the branch goes without.
      if (closed === undefined) return;
      zones.splice(zones.indexOf(other), 1);
      nodes = closed;
      merged = true;
      break;
    }
  }
  if (nodes !== undefined && finder.fits(nodes)) zones.push(nodes);
}

class ZoneFinder {
  private readonly postdominates: (below: number, above: number) => boolean;
  private readonly predecessors: readonly (readonly number[])[];

  constructor(
    private readonly graph: FlowGraph,
    private readonly flow: RegionFlow,
    private readonly apart: ReadonlySet<number>,
  ) {
    this.postdominates = postdominance(flow.successors, new Set());
    const predecessors = flow.successors.map((): number[] => []);
    flow.successors.forEach((list, from) => {
      for (const to of list) predecessors[to]?.push(from);
    });
    this.predecessors = predecessors;
  }

  /** The smallest zone around nodes; nothing when their ways do not come together, or where threads end or wait on them. */
  close(nodes: Set<number>): Set<number> | undefined {
    for (let known = nodes; ;) {
      const entry = this.entryOf(known);
      const exit = this.exitOf(entry, known);
      if (exit === undefined) return undefined;
      const found = this.reach(entry, exit);
      for (const each of known) found.add(each);
      if (found.size === known.size)
        return [...found].every((each) => this.isPlain(each)) ? found : undefined;
      known = found;
    }
  }

  /** Whether writing the zone under masks is worth its size. */
  fits(nodes: ReadonlySet<number>): boolean {
    let size = 0;
    for (const position of nodes) size += this.node(position)?.body.length ?? 0;
    return size <= MOST_INSTRUCTIONS;
  }

  /** Whether a zone is so short that masks cost little where no lane parts. */
  isSmallAndStraight(nodes: ReadonlySet<number>): boolean {
    let size = 0;
    for (const position of nodes) {
      size += this.node(position)?.body.length ?? 0;
      if (this.flow.successors[position]?.some((to) => to <= position && nodes.has(to)) === true)
        return false;
    }
    return size <= MOST_EDGE_INSTRUCTIONS;
  }

  zoneOf(nodes: ReadonlySet<number>): MaskedZone | undefined {
    const entry = this.entryOf(nodes);
    const exit = this.exitOf(entry, nodes);
    if (exit === undefined) return undefined;
    const isLoop = this.predecessors[entry]?.some((from) => nodes.has(from)) === true;
    return { entry, exit, nodes: [...nodes].sort((a, b) => a - b), isLoop };
  }

  private entryOf(nodes: ReadonlySet<number>): number {
    let entry = -1;
    for (const each of nodes) entry = entry < 0 ? each : meet(this.flow.dominator, entry, each);
    return entry;
  }

  /** The nearest node outside that every way from the entry comes to. */
  private exitOf(entry: number, nodes: ReadonlySet<number>): number | undefined {
    const behind = this.flow.nodes
      .map((_, position) => position)
      .filter((each) => each !== entry && !nodes.has(each) && this.postdominates(each, entry));
    return behind.find((each) => behind.every((other) => this.postdominates(other, each)));
  }

  private reach(entry: number, exit: number): Set<number> {
    const found = new Set<number>();
    const work = [entry];
    for (let at = work.pop(); at !== undefined; at = work.pop()) {
      if (at === exit || found.has(at)) continue;
      found.add(at);
      work.push(...(this.flow.successors[at] ?? []));
    }
    return found;
  }

  private isPlain(position: number): boolean {
    const node = this.node(position);
    if (node === undefined || this.apart.has(node.index)) return false;
    return node.terminator.kind === 'jump' || node.terminator.kind === 'branch';
  }

  private node(position: number): FlowGraph['nodes'][number] | undefined {
    return this.graph.nodes[this.flow.nodes[position] ?? -1];
  }
}

/**
 * Predicates of which lanes of a chunk have different values as often as not. Compares of where a thread stands in its
 * grid with what is the same for all are not of them: they differ in one chunk of very many.
 */
export function partingRegisters(fn: IrFunction, { shapes }: RegisterShapes): Set<number> {
  const parting = new Set<number>();
  const isPredicate = (register: number): boolean => fn.registers[register]?.type === 'pred';
  const deciding = fn.instructions.flatMap((instruction) => {
    const predicates = writtenRegisters(instruction).filter(isPredicate);
    return predicates.length === 0 ? [] : [{ instruction, predicates }];
  });
  for (let changed = true; changed;) {
    changed = false;
    for (const { instruction, predicates } of deciding) {
      if (predicates.every((register) => parting.has(register))) continue;
      if (!isParting(fn, instruction, shapes, parting)) continue;
      for (const register of predicates) parting.add(register);
      changed = true;
    }
  }
  for (const register of parting) if (shapes[register]?.kind !== 'varying') parting.delete(register);
  return parting;
}

/**
 * Other predicates that may part lanes: those of where a thread stands in its grid.
 * @param all otherwise those only that single out one thread, as `tid == 0` does: some chunk of each block parts there
 */
export function edgeRegisters(
  fn: IrFunction,
  { shapes }: RegisterShapes,
  parting: ReadonlySet<number>,
  all: boolean,
): Set<number> {
  const isEdge = (register: number): boolean =>
    fn.registers[register]?.type === 'pred' && shapes[register]?.kind === 'varying' && !parting.has(register);
  if (all) return new Set([...fn.registers.keys()].filter(isEdge));
  return new Set(
    fn.instructions
      .filter(({ opcode, modifiers }) => opcode === 'setp' && /^(?:eq|ne)$/.test(modifiers[0] ?? ''))
      .flatMap(writtenRegisters)
      .filter(isEdge),
  );
}

function isParting(
  fn: IrFunction,
  { opcode, sources }: IrInstruction,
  shapes: readonly LaneShape[],
  parting: ReadonlySet<number>,
): boolean {
  const registers = sources.flatMap((source) =>
    source.kind === 'register' || source.kind === 'negatedPredicate' ? [source.register] : [],
  );
  if (registers.some((register) => parting.has(register))) return true;
  const isOfPredicates = /^(?:and|or|xor|not|mov)$/.test(opcode);
  if (isOfPredicates) return false;
  return registers.some(
    (register) => fn.registers[register]?.type !== 'pred' && shapes[register]?.kind === 'varying',
  );
}

/**
 * Registers of a zone that lanes need which are not in the node that writes them: those of all others are free to hold
 * anything for lanes that a node is not run for.
 */
export function keptRegisters(
  fn: IrFunction,
  graph: FlowGraph,
  flow: RegionFlow,
  liveness: NodeLiveness,
  zone: MaskedZone,
): Set<number> {
  const live = new RegisterSet(fn.registers.length);
  for (const position of [...maskedNodes(zone), zone.exit]) {
    const before = liveness.liveIn[flow.nodes[position] ?? -1];
    if (before !== undefined) live.addAll(before);
  }
  const found = new Set<number>();
  for (const position of maskedNodes(zone)) {
    for (const index of graph.nodes[flow.nodes[position] ?? -1]?.body ?? []) {
      const instruction = fn.instructions[index];
      for (const register of instruction === undefined ? [] : writtenRegisters(instruction))
        if (live.has(register)) found.add(register);
    }
  }
  return found;
}

/** The region with each zone as one node, its entry, which leads to the zone's exit. */
export function collapseZones(
  graph: FlowGraph,
  flow: RegionFlow,
  zones: readonly MaskedZone[],
): { readonly graph: FlowGraph; readonly flow: RegionFlow } {
  if (zones.length === 0) return { graph, flow };
  const exits = new Map(zones.map(({ entry, exit }) => [flow.nodes[entry] ?? -1, flow.nodes[exit] ?? -1]));
  const nodes = graph.nodes.map((node): FlowNode => {
    const to = exits.get(node.index);
    return to === undefined ? node : { ...node, terminator: { kind: 'jump', to } };
  });
  const collapsed = { ...graph, nodes };
  const found = analyseRegion(collapsed, flow.nodes[0] ?? 0);
  const before = (position: number): number => flow.positionOf.get(found.nodes[position] ?? -1) ?? 0;
  return {
    graph: collapsed,
    flow: {
      ...found,
      backEdgeCost: (latch, header) => flow.backEdgeCost(before(latch), before(header)),
    },
  };
}

/** Nodes of a zone that not all lanes go through. */
export function maskedNodes({ nodes, entry, isLoop }: MaskedZone): readonly number[] {
  return isLoop ? nodes : nodes.filter((position) => position !== entry);
}
