import { asksTextureUnit, endsBlock } from '../../ptx/index.js';
import type { IrFunction, IrModule } from '../../ptx/index.js';
import {
  functionAddress,
  layoutLocal,
  layoutShared,
  type LocalLayout,
  type SharedLayout,
} from '../module/index.js';
import { meetsInCluster } from '../clusters.js';
import { FunctionBuilder, ModuleBuilder } from '../../wasm/index.js';
import { scalarAtomic, CompileError, unsupported } from './instructions/index.js';
import { canDrive, driverFunction } from './blockDriver.js';
import { AREA, CLASS_COUNTERS, COUNTER_BYTES } from './area/index.js';
import { skipsPoint, type SyncPoint, analyseKernel, type ContextSlot } from './analysis/index.js';
import { hasFusedMultiplyAdd, Library } from './library/index.js';
import { ImportedOperations, type HostFunction, RuntimeImports } from './hostCalls/index.js';
import { weighClasses, type InstructionWeights } from './counters/index.js';
import {
  needsImport,
  RegionCompiler,
  resumesFromStart,
  startPoint,
  type PartedLanes,
  type WrittenRegion,
} from './regions/index.js';
import { journalFunction } from './accesses/index.js';
import type { CodeForm, KernelPlan } from './plan/index.js';
import { ChunkCompiler, mayGoTogether, planChunks, type ChunkPlan } from './chunks/index.js';

/** A kernel as a WebAssembly module's bytes, and what is needed to run it. */
export interface CompiledKernel {
  readonly bytes: Uint8Array;
  readonly imports: Readonly<Record<string, HostFunction>>;
  /** `run(lo, hi)` when no thread ever waits for another; otherwise `region<k>(warp, mask)` for each region. */
  readonly shape: 'blocks' | 'warp';
  readonly syncPoints: readonly SyncPoint[];
  /** Whether threads wait for one another through memory. */
  readonly spins: boolean;
  /** Whether threads may wait for threads of other blocks. */
  readonly waitsForBlocks: boolean;
  /** Whether threads give way to one another: then blocks take turns. */
  readonly takesTurns: boolean;
  /** Whether blocks of a cluster wait for one another, or reach each other's shared memory. */
  readonly meetsInCluster: boolean;
  /** Whether lanes of a warp are seen to go in step. */
  readonly isInStep: boolean;
  /** Groups of four lanes that run together; 0 for lane after lane. */
  readonly groups: number;
  /** Whether its lanes may run together, where a launch lets them. */
  readonly mayGoTogether: boolean;
  /** Whether the kernel asks where it runs, or when. */
  readonly asksPlace: boolean;
  /** Weights of each counter, in the order of the counters in the executor's area. */
  readonly counters: readonly InstructionWeights[];
  readonly cacheCount: number;
  /** Variables and functions of the module whose addresses the launch writes, in order. */
  readonly symbols: readonly string[];
  readonly sharedLayout: SharedLayout;
  readonly localLayout: LocalLayout;
  /** Bytes of the contexts of one warp; 0 when threads never wait. */
  readonly contextBytes: number;
  /** Slot of each register in the contexts of a waiting warp. */
  readonly slotOf: ReadonlyMap<number, ContextSlot>;
  /** Whether a thread that ended with the mark of node `end` has passed code behind sync point `point` without waiting there. */
  skips(point: number, end: number): boolean;
}

/** Compiles a kernel in one of its forms. @throws CompileError naming the instruction and its line. */
export function compileKernel(
  ir: IrModule,
  fn: IrFunction,
  memoryPages: number,
  form: CodeForm = {},
): CompiledKernel {
  if (fn.refusal !== undefined) {
    const { line, instruction, reason } = fn.refusal;
    throw new CompileError(
      'unsupportedInstruction',
      `${fn.name}: line ${line}: ${instruction}: ${reason}`,
      line,
    );
  }
  const module = new ModuleBuilder(memoryPages, form.threaded === true);
  const imported = new ImportedOperations(module);
  const analysis = analyseKernel(ir, fn, form.resumable === true);
  const { loops, takesTurns, cuts } = analysis;
  const { graph, flows } = cuts;
  const waits = new Set(
    graph.syncPoints.filter((point) => !point.isOnEdge).map((point) => point.instruction),
  );
  if (form.observed === true) imported.declareFlush();
  if (fn.instructions.some(({ opcode }) => asksTextureUnit(opcode))) imported.declareFetch();
  const runtime = new RuntimeImports(module);
  for (const instruction of fn.instructions) runtime.declare(instruction);
  for (const instruction of fn.instructions) {
    const isControl = endsBlock(instruction.opcode) || waits.has(instruction.index);
    const needed = scalarAtomic(instruction) ?? instruction;
    if (isControl || !needsImport(needed)) continue;
    if (!imported.declare(needed)) throw unsupported(instruction, fn, 'no meaning is defined for it');
  }
  const symbols: string[] = [];
  const sharedLayout = layoutShared(ir, fn);
  const plan: KernelPlan = {
    ir,
    fn,
    form,
    takesTurns,
    meetsInCluster: meetsInCluster(fn),
    isInStep: analysis.isInStep,
    graph,
    exits: analysis.exits,
    pointOf: (from, to) => cuts.pointOf(from, to),
    liveness: analysis.liveness,
    exact: analysis.exact,
    groups: analysis.groups,
    sharedLayout,
    localLayout: layoutLocal(fn),
    context: analysis.context,
    exchanged: analysis.exchanged,
    library: new Library(module, hasFusedMultiplyAdd() && form.without?.has('fusedMultiplyAdd') !== true),
    journal: form.observed === true ? module.add(journalFunction(imported.flushJournal)) : -1,
    imported,
    runtime,
    usesShared: sharedLayout.offsets.size > 0,
    entryOf: (region) => (region === 0 ? graph.entry : (graph.syncPoints[region - 1]?.resume ?? 0)),
    symbolAddress: (name) => symbolAddress(ir, fn, symbols, name),
  };
  // Where blocks meet, whoever runs them tells each of its cluster.
  const shape = graph.syncPoints.length === 0 && !plan.meetsInCluster ? 'blocks' : 'warp';
  const counters: InstructionWeights[] = [];
  const regions: number[] = [];
  const phases = new Map<number, number>();
  const chunked = planChunks(plan, flows, form.groups ?? 0);
  for (const [region, flow] of flows.entries()) {
    const counterBase = CLASS_COUNTERS + counters.length * COUNTER_BYTES;
    counters.push(...weighClasses(fn, graph, flow));
    if (CLASS_COUNTERS + counters.length * COUNTER_BYTES > AREA.countersEnd) {
      throw new CompileError('tooLarge', `${fn.name}: too many branches and waits to count`, fn.line);
    }
    const name = shape === 'blocks' ? 'run' : `region${region}`;
    const chunks = chunked?.[region];
    if (chunks === undefined) {
      const compiler = new RegionCompiler({ plan, region, flow, shape }, counterBase);
      regions.push(module.add(compiler.compile(), name));
    } else {
      const written = { plan, region, flow, shape } as const;
      if (shape === 'blocks') regions.push(addChunks(module, written, chunks, counterBase, name));
      else {
        const phase = addChunks(module, written, chunks, counterBase);
        phases.set(region, phase);
        regions.push(module.add(onePhase(phase), name));
      }
    }
  }
  const isDriven = shape === 'warp' && canDrive(plan);
  // What the host is called for shows the order of warps: they go one after another.
  if (isDriven) module.add(driverFunction(plan, regions, runtime.isEmpty ? phases : undefined), 'drive');
  return {
    bytes: module.finish(),
    imports: imported.functions,
    shape,
    syncPoints: graph.syncPoints,
    spins: loops.any,
    waitsForBlocks: loops.acrossBlocks,
    takesTurns,
    meetsInCluster: plan.meetsInCluster,
    isInStep: analysis.isInStep,
    groups: chunked?.[0]?.groups ?? 0,
    mayGoTogether: mayGoTogether(plan, flows),
    asksPlace: asksPlace(fn),
    counters,
    cacheCount: plan.groups.groups.length,
    symbols,
    sharedLayout: plan.sharedLayout,
    localLayout: plan.localLayout,
    contextBytes: shape === 'warp' ? plan.context.warpBytes : 0,
    slotOf: plan.context.slotOf,
    skips: (point, end) => skipsPoint(graph, point, end),
  };
}

/** A region in chunks, and the functions for lanes that run apart. @returns index of `run` or of the phase */
function addChunks(
  module: ModuleBuilder,
  region: WrittenRegion,
  chunks: ChunkPlan,
  counterBase: number,
  name?: string,
): number {
  const { flow } = region;
  const { passSlots } = chunks.masked;
  const ofLanes = (parted: PartedLanes): RegionCompiler => new RegionCompiler(region, counterBase, parted);
  const { resume } = chunks;
  const mayResume = resume.points.length > 0;
  const mayStart = mayResume && resumesFromStart(flow);
  const resumed = mayResume ? module.add(ofLanes({ passSlots, resume, mayStart }).compile()) : -1;
  const parted = mayStart
    ? { lanes: resumed, start: startPoint(flow), resume: resumed }
    : { lanes: module.add(ofLanes({ passSlots }).compile()), resume: resumed };
  return module.add(new ChunkCompiler(region, chunks, counterBase, parted).compile(), name);
}

/** `region(warp, lanes)`: a phase of one warp. */
function onePhase(phase: number): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i32'], ['i32']);
  return f.get(0).get(0).i32(1).op('i32Add').get(1).call(phase);
}

function asksPlace(fn: IrFunction): boolean {
  return fn.instructions.some((instruction) =>
    instruction.sources.some(
      (source) => source.kind === 'special' && /^(smid|nsmid|clock|globaltimer|gridid)/.test(source.name),
    ),
  );
}

function symbolAddress(ir: IrModule, fn: IrFunction, symbols: string[], name: string): number {
  const isVariable = ir.variables.some((variable) => variable.name === name);
  if (!isVariable && functionAddress(ir, name) === undefined)
    throw new CompileError(
      'unsupportedInstruction',
      `${fn.name}: ${name} is no variable and no function of this module`,
      fn.line,
    );
  let index = symbols.indexOf(name);
  if (index < 0) {
    index = symbols.length;
    symbols.push(name);
  }
  const at = AREA.symbols + index * 8;
  if (at >= AREA.symbolsEnd)
    throw new CompileError('tooLarge', `${fn.name}: too many module variables`, fn.line);
  return at;
}
