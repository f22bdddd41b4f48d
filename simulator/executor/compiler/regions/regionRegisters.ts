import {
  type IrInstruction,
  isBarrier,
  isMatrixExchange,
  readRegisters,
  writtenRegisters,
} from '../../../ptx/index.js';
import type { FunctionBuilder } from '../../../wasm/index.js';
import type { FaultCode } from '../../types.js';
import { ExchangeEmitter } from './exchangeEmitter.js';
import {
  type FlowNode,
  type SyncPoint,
  type RegionFlow,
  EXCHANGE,
  type ContextLocals,
} from '../analysis/index.js';
import type { KernelPlan } from '../plan/index.js';
import type { OperandEmitter } from '../scalar/index.js';
import { wasmTypeOf } from '../instructions/index.js';
import { matrixOperation } from '../../matrixExchanges/index.js';
import { WARP_SIZE } from '../area/index.js';

/** Each region's, found once for all functions that are written of it. */
const known = new WeakMap<KernelPlan, Map<number, RegionRegisters>>();

/** Which registers a region touches, and how a waiting thread's registers come from its context and go back to it. */
export class RegionRegisters {
  static of(plan: KernelPlan, region: number, flow: RegionFlow): RegionRegisters {
    let regions = known.get(plan);
    if (regions === undefined) known.set(plan, (regions = new Map<number, RegionRegisters>()));
    let registers = regions.get(region);
    if (registers === undefined) regions.set(region, (registers = new RegionRegisters(plan, region, flow)));
    return registers;
  }

  /** All instructions of the region, terminators and waits at its ends included. */
  readonly instructions: readonly IrInstruction[];
  private readonly written = new Set<number>();
  private readonly used = new Set<number>();
  private readonly point: SyncPoint | undefined;

  private constructor(
    private readonly plan: KernelPlan,
    private readonly region: number,
    flow: RegionFlow,
  ) {
    this.point = plan.graph.syncPoints[region - 1];
    this.instructions = flow.nodes.flatMap((index) => {
      const node = plan.graph.nodes[index];
      return node === undefined ? [] : instructionsOf(plan, node);
    });
    for (const instruction of this.instructions) {
      for (const register of readRegisters(instruction)) this.used.add(register);
      for (const register of writtenRegisters(instruction)) this.write(register);
    }
    if (this.resumed !== undefined)
      for (const register of writtenRegisters(this.resumed)) this.write(register);
    // A register that is read before it is written starts as 0, in its context too.
    if (region === 0) for (const register of this.live()) this.write(register);
  }

  /** The instruction at which the region's threads have waited, if they waited at one. */
  get resumed(): IrInstruction | undefined {
    const { point } = this;
    return point === undefined || point.isOnEdge ? undefined : this.plan.fn.instructions[point.instruction];
  }

  uses(register: number): boolean {
    return this.used.has(register);
  }

  /** Whether an instruction reads a special register whose name the pattern takes. */
  readsSpecial(pattern: RegExp): boolean {
    return this.instructions.some((instruction) =>
      instruction.sources.some((source) => source.kind === 'special' && pattern.test(source.name)),
    );
  }

  /**
   * Computes what lanes give each other at the wait before the region.
   * @param contexts local with the address of the warp's contexts.
   * @param fail see ExchangeEmitter. @param host what calls of the device runtime need.
   */
  emitExchange(
    f: FunctionBuilder,
    contexts: number,
    mask: number,
    fail: (lane: number, code: FaultCode, at: number) => void,
    host: { pushThread(lane: number): void; leaveFaulted(lane: number, at: number): void },
  ): void {
    const { resumed } = this;
    if (resumed === undefined) return;
    const failThere = (lane: number, code: FaultCode): void => {
      fail(lane, code, resumed.index);
    };
    const runtime = {
      imports: this.plan.runtime,
      library: this.plan.library,
      surroundings: {
        pushThread: (lane: number) => host.pushThread(lane),
        leaveFaulted: (lane: number) => host.leaveFaulted(lane, resumed.index),
      },
    };
    new ExchangeEmitter(f, this.plan.context, contexts, mask, failThere, runtime).emit(
      resumed,
      this.plan.form.without?.has('warpOperations') !== true,
    );
  }

  /** Brings a thread's registers from its context, and what it waited for from the exchange area. */
  load(f: FunctionBuilder, emit: OperandEmitter, context: ContextLocals): void {
    const { resumed } = this;
    for (const register of this.loaded()) {
      const type = wasmTypeOf(emit.typeOf(register));
      const slot = this.plan.context.slotOf.get(register);
      if (this.region > 0 && slot !== undefined)
        f.get(slot.isWide ? context.wide : context.narrow).memory(`${type}Load`, slot.offset);
      else if (type === 'i32') f.i32(0);
      else if (type === 'i64') f.i64(0);
      else if (type === 'f32') f.f32(0);
      else f.f64(0);
      f.set(emit.localOf(register));
    }
    const [destination] = resumed?.destinations ?? [];
    if (resumed === undefined || destination === undefined) return;
    if (isMatrixExchange(resumed.opcode)) {
      const { outputs, isWide } = matrixOperation(resumed, resumed.opcode);
      outputs.forEach((output, register) => {
        const at = this.plan.context.results + (isWide ? 8 : 4) * WARP_SIZE * register;
        f.get(isWide ? context.wide : context.narrow).memory(isWide ? 'i64Load' : 'i32Load', at);
        emit.assign(output, isWide ? 'b64' : 'b32');
      });
      return;
    }
    if (resumed.opcode === 'malloc') f.get(context.wide).memory('i64Load', EXCHANGE.wide);
    else f.get(context.narrow).memory('i32Load', EXCHANGE.value);
    emit.assign(destination.kind === 'pair' ? destination.first : destination, resultType(resumed));
    if (destination.kind !== 'pair') return;
    f.get(context.narrow).memory('i32Load', EXCHANGE.predicate);
    emit.assign(destination.second, 'pred');
  }

  /** Keeps what this region wrote of the registers that a waiting thread needs. */
  spill(f: FunctionBuilder, emit: OperandEmitter, context: ContextLocals, point: number): void {
    for (const register of this.kept(point)) {
      const held = emit.typeOf(register);
      const type = wasmTypeOf(held);
      const slot = this.plan.context.slotOf.get(register);
      if (slot === undefined) continue;
      f.get(slot.isWide ? context.wide : context.narrow).get(emit.localOf(register));
      // A warp operation, here or at a later wait, looks at bits.
      if ((type === 'f32' || type === 'f64') && this.plan.exchanged.has(register) && emit.isLoose(register))
        emit.canonical(type);
      f.memory(`${type}Store`, slot.offset);
    }
  }

  /** Registers that come from a thread's context, or start as 0. */
  loaded(): readonly number[] {
    const given = new Set(this.resumed === undefined ? [] : writtenRegisters(this.resumed));
    return this.live().filter((register) => this.used.has(register) && !given.has(register));
  }

  /** Registers that go to a thread's context at a sync point. */
  kept(point: number): readonly number[] {
    const live = this.plan.liveness.atSync[point]?.members() ?? [];
    return live.filter((register) => this.written.has(register));
  }

  private live(): readonly number[] {
    return this.plan.liveness.liveIn[this.plan.entryOf(this.region)]?.members() ?? [];
  }

  private write(register: number): void {
    this.used.add(register);
    this.written.add(register);
  }
}

function instructionsOf(plan: KernelPlan, node: FlowNode): IrInstruction[] {
  const { terminator } = node;
  const found = node.body.flatMap((index) => plan.fn.instructions[index] ?? []);
  const last = terminator.kind === 'jump' ? undefined : plan.fn.instructions[terminator.at];
  // What a wait writes belongs to the region behind it.
  if (last !== undefined) found.push(terminator.kind === 'sync' ? { ...last, destinations: [] } : last);
  return found;
}

/** Type of what a wait gives each thread. */
export function resultType({ opcode, modifiers }: IrInstruction): 'pred' | 'b32' | 'b64' {
  if (opcode === 'malloc') return 'b64';
  const isPredicate =
    opcode === 'vote' ? !modifiers.includes('ballot') : isBarrier(opcode) && !modifiers.includes('popc');
  return isPredicate ? 'pred' : 'b32';
}
