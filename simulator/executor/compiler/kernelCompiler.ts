import { readRegisters, type IrFunction, type IrModule } from '../../ptx/index.js';
import { layoutLocal, layoutShared, type LocalLayout, type SharedLayout } from '../module/index.js';
import { ModuleBuilder } from '../wasm/index.js';
import { groupAccesses } from './accessGroups.js';
import { CompileError } from './compileError.js';
import { AREA, CLASS_COUNTERS, COUNTER_BYTES } from './executorArea.js';
import { buildFlowGraph, successorsOf, type FlowGraph, type SyncPoint } from './flowGraph.js';
import { ImportedOperations, type HostFunction } from './importedOperations.js';
import { weighClasses, type InstructionWeights } from './instructionCounts.js';
import { needsImport } from './instructionEmitter.js';
import type { KernelPlan } from './kernelPlan.js';
import { Library } from './library.js';
import { computeLiveness } from './nodeLiveness.js';
import { unsupported } from './operandEmitter.js';
import { RegionCompiler } from './regionCompiler.js';
import { analyseRegion } from './regionFlow.js';
import { findExactRegisters } from './registerTypes.js';
import { layoutContext } from './threadContext.js';

/** A kernel as a WebAssembly module's bytes, and what is needed to run it. */
export interface CompiledKernel {
  readonly bytes: Uint8Array;
  readonly imports: Readonly<Record<string, HostFunction>>;
  /** `run(lo, hi)` when no thread ever waits for another; otherwise `region<k>(warp, mask)` for each region. */
  readonly shape: 'blocks' | 'warp';
  readonly syncPoints: readonly SyncPoint[];
  /** Weights of each counter, in the order of the counters in the executor's area. */
  readonly counters: readonly InstructionWeights[];
  readonly cacheCount: number;
  /** Module variables whose addresses the launch writes, in order. */
  readonly symbols: readonly string[];
  readonly sharedLayout: SharedLayout;
  readonly localLayout: LocalLayout;
  /** Bytes of one thread's context; 0 when threads never wait. */
  readonly contextBytes: number;
  /** Slot of each register in a waiting thread's context. */
  readonly slotOf: ReadonlyMap<number, number>;
  /** Whether a thread that ended at instruction `end` has passed code behind sync point `point` without waiting there. */
  skips(point: number, end: number): boolean;
}

/** Compiles the *fast* variant. @throws CompileError naming the instruction and its line. */
export function compileKernel(ir: IrModule, fn: IrFunction, memoryPages: number): CompiledKernel {
  if (fn.refusal !== undefined) {
    const { line, instruction, reason } = fn.refusal;
    throw new CompileError(
      'unsupportedInstruction',
      `${fn.name}: line ${line}: ${instruction}: ${reason}`,
      line,
    );
  }
  const module = new ModuleBuilder(memoryPages);
  const imported = new ImportedOperations(module);
  const graph = buildFlowGraph(fn);
  const waits = new Set(graph.syncPoints.map((point) => point.instruction));
  for (const instruction of fn.instructions) {
    const isControl = /^(bra|ret|exit|trap)$/.test(instruction.opcode) || waits.has(instruction.index);
    if (isControl || !needsImport(instruction)) continue;
    if (!imported.declare(instruction)) throw unsupported(instruction, fn, 'no meaning is defined for it');
  }
  const liveness = computeLiveness(fn, graph);
  const symbols: string[] = [];
  const sharedLayout = layoutShared(ir, fn);
  const plan: KernelPlan = {
    ir,
    fn,
    graph,
    liveness,
    exact: findExactRegisters(fn),
    groups: groupAccesses(fn),
    sharedLayout,
    localLayout: layoutLocal(fn),
    context: layoutContext(fn, liveness),
    exchanged: exchangedRegisters(fn, graph),
    library: new Library(module),
    imported,
    usesShared: sharedLayout.offsets.size > 0,
    entryOf: (region) => (region === 0 ? graph.entry : (graph.syncPoints[region - 1]?.resume ?? 0)),
    symbolAddress: (name) => symbolAddress(ir, fn, symbols, name),
  };
  const shape = graph.syncPoints.length === 0 ? 'blocks' : 'warp';
  const counters: InstructionWeights[] = [];
  for (let region = 0; region <= graph.syncPoints.length; region++) {
    const flow = analyseRegion(graph, plan.entryOf(region));
    const counterBase = CLASS_COUNTERS + counters.length * COUNTER_BYTES;
    counters.push(...weighClasses(fn, graph, flow));
    if (CLASS_COUNTERS + counters.length * COUNTER_BYTES > AREA.countersEnd) {
      throw new CompileError('tooLarge', `${fn.name}: too many branches and waits to count`, fn.line);
    }
    const compiler = new RegionCompiler(plan, region, flow, counterBase, shape);
    module.add(compiler.compile(), shape === 'blocks' ? 'run' : `region${region}`);
  }
  return {
    bytes: module.finish(),
    imports: imported.functions,
    shape,
    syncPoints: graph.syncPoints,
    counters,
    cacheCount: plan.groups.groups.length,
    symbols,
    sharedLayout: plan.sharedLayout,
    localLayout: plan.localLayout,
    contextBytes: shape === 'warp' ? plan.context.stride : 0,
    slotOf: plan.context.slotOf,
    skips: (point, end) => skipsPoint(graph, point, end),
  };
}

function exchangedRegisters(fn: IrFunction, graph: FlowGraph): Set<number> {
  const found = new Set<number>();
  for (const point of graph.syncPoints) {
    const instruction = fn.instructions[point.instruction];
    if (instruction === undefined) continue;
    for (const register of readRegisters(instruction)) found.add(register);
  }
  return found;
}

function symbolAddress(ir: IrModule, fn: IrFunction, symbols: string[], name: string): number {
  const known = ir.variables.some((variable) => variable.name === name);
  if (!known)
    throw new CompileError(
      'unsupportedInstruction',
      `${fn.name}: ${name} is no variable of this module`,
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

/** A bare return is where early exits go; an end with work before it in its node, reachable from behind the point, is not. */
function skipsPoint(graph: FlowGraph, point: number, end: number): boolean {
  const target = graph.nodes.find((node) => node.terminator.kind === 'exit' && node.terminator.at === end);
  const start = graph.syncPoints[point]?.resume;
  if (target === undefined || start === undefined || target.body.length === 0) return false;
  const seen = new Set<number>();
  const work = [start];
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    if (at === target.index) return true;
    const node = graph.nodes[at];
    if (node === undefined || seen.has(at)) continue;
    seen.add(at);
    work.push(...successorsOf(node));
    if (node.terminator.kind === 'sync') work.push(node.terminator.resume);
  }
  return false;
}
