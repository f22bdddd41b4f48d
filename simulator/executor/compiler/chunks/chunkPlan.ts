import {
  type IrInstruction,
  isa,
  isAtomic,
  isCopy,
  isLoad,
  isStore,
  isUpdate,
  readRegisters,
  typeBits,
  writtenRegisters,
} from '../../../ptx/index.js';
import { countsDynamically, spaceOf } from '../instructions/index.js';
import { AREA, PASSES } from '../area/index.js';
import type { FlowNode, RegionFlow } from '../analysis/index.js';
import { isSilent, planResume, type Resume, type ResumePoint, RegionRegisters } from '../regions/index.js';
import type { KernelPlan } from '../plan/index.js';
import { vectorEmitter, analyseShapes, type RegisterShapes } from '../vector/index.js';
import type { InstructionPlan, Manner } from './instructionPlan.js';
import { planMasked, type MaskedPlan } from '../predication/index.js';
import { findSteadyLoops, type SteadyLoop } from './steadyLoops.js';

/** How one region of a kernel runs in chunks. */
export interface ChunkPlan extends InstructionPlan {
  readonly groups: number;
  readonly masked: MaskedPlan;
  readonly resume: Resume;
  /** Loops under masks that are written for lanes without masks behind them too, by node. */
  readonly steady: ReadonlyMap<number, SteadyLoop>;
}

/** Groups of a chunk that is a whole warp. */
const WHOLE_WARP = 8;

/** Whether the order in which threads do it shows: results of atomics, sums that are rounded. */
function isOrdered(instruction: IrInstruction): boolean {
  const { opcode, modifiers, types, destinations } = instruction;
  if (!isUpdate(opcode)) return false;
  if (isAtomic(opcode) && destinations.some((destination) => destination.kind !== 'sink')) return true;
  if (!modifiers.some((each) => /^(?:add|min|max|and|or|xor)$/.test(each))) return true;
  return !/^[bus](?:32|64)$/.test(types.at(-1) ?? '');
}

function asksTime(instruction: IrInstruction): boolean {
  return instruction.sources.some(
    (source) => source.kind === 'special' && /^(?:clock|globaltimer)/.test(source.name),
  );
}

/** Whether anything speaks against chunks that can be seen without planning them. */
export function mayGoTogether(
  { fn, form, takesTurns, isInStep }: KernelPlan,
  flows: readonly RegionFlow[],
): boolean {
  // Chunks may be narrower than warps, and masks let lanes go on that are to wait.
  if (isInStep) return false;
  if (form.without?.has('vector') === true || takesTurns || form.observed === true) return false;
  const isAlways = form.alwaysTogether === true;
  if (fn.instructions.some((each) => (isOrdered(each) && !isAlways) || asksTime(each))) return false;
  return flows.every(({ classCount }) => AREA.passes + classCount * PASSES.bytes <= AREA.passesEnd);
}

/**
 * Plans chunks for all regions of a kernel; nothing when it is to be run lane after lane.
 * @param most groups that the launch allows
 */
export function planChunks(
  plan: KernelPlan,
  flows: readonly RegionFlow[],
  most: number,
): readonly ChunkPlan[] | undefined {
  const { fn, form } = plan;
  const without = (name: 'wide' | 'uniform' | 'affine' | 'steadyLoops'): boolean =>
    form.without?.has(name) === true;
  if (most < 1 || !mayGoTogether(plan, flows)) return undefined;
  const isAlways = form.alwaysTogether === true;
  const { shapes, unparted, masked } = planMasked(plan, flows, most < WHOLE_WARP, (found) =>
    analyseShapes(fn, {
      masked: found,
      startAsZero: plan.liveness.liveIn[plan.graph.entry]?.members() ?? [],
      exchanges: new Set(
        plan.graph.syncPoints.filter(({ isOnEdge }) => !isOnEdge).map((point) => point.instruction),
      ),
      hasLocal: plan.localLayout.bytes > 0,
      followsUniform: !without('uniform'),
      followsAffine: !without('affine'),
    }),
  );
  const mannerOf = mannersIn(plan, shapes);
  const unpartedMannerOf = mannersIn(plan, unparted);
  const reached = [...new Set(flows.flatMap(({ nodes }) => nodes))];
  const preferred = isAlways
    ? mostByLocals(plan, shapes, most)
    : preferredGroups(plan, shapes, nodesOf(plan, reached), mannerOf);
  const groups = Math.min(most, without('wide') ? 1 : preferred);
  if (groups < 1) return undefined;
  const regions: ChunkPlan[] = [];
  for (const [region, flow] of flows.entries()) {
    const registers = RegionRegisters.of(plan, region, flow);
    const maskedHere = masked[region];
    if (maskedHere === undefined) return undefined;
    const points = nodesOf(plan, flow.nodes).flatMap((node) => pointsOf(plan, shapes, maskedHere, node));
    const resume = planResume(fn, plan.graph, plan.liveness, points, (register) => registers.uses(register));
    if (resume === undefined) return undefined;
    const steady = without('steadyLoops')
      ? new Map<number, never>()
      : findSteadyLoops(plan, flow, maskedHere, shapes, { shapes: unparted, mannerOf: unpartedMannerOf });
    regions.push({ groups, shapes, masked: maskedHere, resume, steady, mannerOf });
  }
  return regions;
}

function nodesOf(plan: KernelPlan, indices: readonly number[]): FlowNode[] {
  return indices.flatMap((index) => plan.graph.nodes[index] ?? []);
}

/** Where lanes of a chunk may have to part. */
function pointsOf(
  { fn }: KernelPlan,
  { shapes, resultOf }: RegisterShapes,
  masked: MaskedPlan,
  node: FlowNode,
): ResumePoint[] {
  if (masked.isMasked(node)) return [];
  const points: ResumePoint[] = [];
  node.body.forEach((index, at) => {
    const instruction = fn.instructions[index];
    if (instruction === undefined) return;
    if (resultOf(instruction).checked !== undefined) points.push({ node: node.index, at });
  });
  const { terminator } = node;
  if (terminator.kind !== 'branch' && terminator.kind !== 'switch') return points;
  if (masked.zoneAt.has(node.index)) return points;
  if (shapes[terminator.register]?.kind !== 'uniform')
    points.push({ node: node.index, at: node.body.length });
  return points;
}

function mannersIn(plan: KernelPlan, shapes: RegisterShapes): (instruction: IrInstruction) => Manner {
  const manners = new Map<number, Manner>();
  return (instruction) => {
    let manner = manners.get(instruction.index);
    if (manner === undefined) {
      manner = mannerIn(plan, shapes, instruction);
      manners.set(instruction.index, manner);
    }
    return manner;
  };
}

function mannerIn(
  plan: KernelPlan,
  { shapes, resultOf }: RegisterShapes,
  instruction: IrInstruction,
): Manner {
  const { opcode, modifiers, guard } = instruction;
  if (isSilent(opcode)) return 'silent';
  const isScalar = (register: number): boolean => shapes[register]?.kind !== 'varying';
  const isUniform = (register: number): boolean => shapes[register]?.kind === 'uniform';
  const written = writtenRegisters(instruction);
  const read = readRegisters(instruction);
  if (isStore(opcode)) {
    const space = spaceOf(modifiers);
    const isOwn = space === 'local' || (space === 'generic' && plan.localLayout.bytes > 0);
    const isSame = read.every(isUniform) && resultOf(instruction).shape.kind === 'uniform';
    return isSame && !isOwn ? 'once' : 'memory';
  }
  // Copies that have been issued are done already.
  if (isCopy(opcode)) return instruction.sources.length < 3 ? 'silent' : 'lanes';
  if (isUpdate(opcode)) return 'memory';
  if (written.length > 0 && written.every(isScalar) && read.every(isScalar)) return 'once';
  if (isLoad(opcode) || isa(opcode).effects.kind === 'address') return 'memory';
  if (vectorEmitter(instruction, plan.library.fusesMultiplyAdd) !== undefined) return 'vector';
  const isGuarded = guard !== undefined && !isUniform(guard.register);
  if (!isGuarded && resultOf(instruction).shape.kind === 'uniform') return 'spread';
  return 'lanes';
}

/**
 * Operations of generated code beyond which compiling it costs more than it brings. (With 3,000 instead of 6,000, CPU times
 * of the launching thread: of the 16 CUDA programs whose chunks are narrower then, six run 3 to 23 % faster, three 8 to 17 %
 * slower, the others within 4 %.)
 */
const MOST_OPERATIONS = 3_000;
/** What a scalar instruction that is written for one lane costs with its moves. */
const LANE_COST = 8;

/**
 * As many groups as the registers allow: there are 16 of v128, and code for lanes one by one grows with each lane. None
 * when most instructions would be written lane by lane.
 */
function preferredGroups(
  plan: KernelPlan,
  { shapes }: Pick<RegisterShapes, 'shapes'>,
  nodes: readonly FlowNode[],
  mannerOf: (instruction: IrInstruction) => Manner,
): number {
  let byVector = 0;
  let byLanes = 0;
  let all = 0;
  for (const node of nodes) {
    for (const index of node.body) {
      const instruction = plan.fn.instructions[index];
      if (instruction === undefined) continue;
      all += 1;
      const manner = mannerOf(instruction);
      if (manner === 'lanes') byLanes += 1;
      else if (manner === 'vector' || manner === 'memory' || manner === 'spread')
        byVector += countsDynamically(instruction) ? 6 : 3;
    }
  }
  if (byLanes * 3 > all) return 0;
  const pressure = Math.max(
    0,
    ...nodes.map((node) => {
      const live = plan.liveness.liveIn[node.index]?.members() ?? [];
      const varying = live.filter((register) => shapes[register]?.kind === 'varying');
      return varying.reduce(
        (sum, register) => sum + (typeBits(plan.fn.registers[register]?.type ?? 'b32') === 64 ? 2 : 1),
        0,
      );
    }),
  );
  let groups = mostByLocals(plan, { shapes }, pressure <= 3 ? 8 : pressure <= 10 ? 4 : 2);
  while (groups > 1 && (byVector + byLanes * 4 * LANE_COST) * groups > MOST_OPERATIONS) groups /= 2;
  return groups;
}

/** Locals of varying registers that a function may have: V8 takes 50,000, and time for each. */
const MOST_VECTORS = 12_000;

/** As many groups as leave the function few enough locals; 0 when one group has too many. */
function mostByLocals(plan: KernelPlan, { shapes }: Pick<RegisterShapes, 'shapes'>, wanted: number): number {
  let vectors = 0;
  plan.fn.registers.forEach(({ type }, register) => {
    if (shapes[register]?.kind === 'varying') vectors += typeBits(type) === 64 ? 2 : 1;
  });
  let groups = wanted;
  while (groups >= 1 && vectors * groups > MOST_VECTORS) groups /= 2;
  return Math.floor(groups);
}
