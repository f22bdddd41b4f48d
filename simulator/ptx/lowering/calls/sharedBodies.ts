import { integer } from '../../literals.js';
import { BitSet } from '../../analysis/bitSet.js';
import { analyzeLiveness } from '../../analysis/liveness.js';
import type { IrFunction, IrVariable } from '../../ir.js';
import { typeBits } from '../../scalarTypes.js';
import type { CallGraph } from './callGraph.js';
import {
  address,
  DraftCode,
  finishFunction,
  register,
  type DraftInstruction,
  type SharedCall,
} from './draftCode.js';
import { copyLocal, type MemoryPlace, type ParameterStorages } from './parameterStorage.js';

/** The code of one body with what its activations need. */
export interface Body {
  readonly name: string;
  readonly code: DraftCode;
  readonly start: number;
  readonly returnLabel: number;
  /** Holds the number of the call that an activation returns to. */
  readonly returnId: number;
  /** Recursive bodies keep variables and saved registers in frames on a stack. */
  readonly isRecursive: boolean;
  /** Bytes of variables in a frame; saved registers lie behind them. */
  readonly variableBytes: number;
}

/** Storages of the parameters and returns of each shared body. */
export type FormalStorages = ReadonlyMap<
  string,
  { readonly args: readonly string[]; readonly returns: readonly string[] }
>;

interface Saved {
  readonly register: number;
  readonly offset: number;
}

const FRAME_ALIGN = 16;
/** Room for frames; CUDA gives a thread 1 KiB by default. */
const STACK_BYTES = 16 * 1024;
/** So many of the largest frames fit beside that. */
const LARGEST_FRAMES = 8;

export const STACK_NAME = '%stack';

/** Joins an entry's own code and the bodies that its calls share: calls become jumps, returns jumps by number. */
export class BodyLinker {
  readonly code: DraftCode;
  private readonly saved = new Map<DraftInstruction, readonly Saved[]>();
  private readonly frameBytes = new Map<string, number>();
  private readonly returnPoints = new Map<string, number[]>();
  private readonly byName: ReadonlyMap<string, Body>;
  private readonly stackTop: number;
  private readonly stackLimit: number;

  constructor(
    private readonly entry: Body,
    private readonly shared: readonly Body[],
    private readonly head: IrFunction,
    private readonly graph: CallGraph,
    private readonly storages: ParameterStorages,
    private readonly formals: FormalStorages,
  ) {
    const { names } = entry.code;
    this.code = new DraftCode(names);
    this.byName = new Map(shared.map((body) => [body.name, body]));
    this.stackTop = names.stackTop;
    this.stackLimit = names.register('%stackLimit', 'b32');
    for (const body of [entry, ...shared]) this.frameBytes.set(body.name, this.planFrame(body));
  }

  /** @returns the stack's variable when there is one. */
  link(): IrVariable | undefined {
    const frames = this.shared.map((body) => this.frameOf(body.name)).filter((bytes) => bytes > 0);
    const bytes = frames.length === 0 ? 0 : STACK_BYTES + LARGEST_FRAMES * Math.max(...frames);
    if (bytes > 0) {
      const { line } = this.head;
      const symbol = { kind: 'symbol' as const, name: STACK_NAME, offset: 0 };
      this.code.add(line, 'mov.u32', { destinations: [register(this.stackTop)], sources: [symbol] });
      this.add(line, 'add.s32', this.stackLimit, this.stackTop, bytes);
    }
    const bodies = [this.entry, ...this.shared].map((body) =>
      body.code.rewritten((instruction, into) => {
        if (instruction.sharedCall === undefined) into.emit(instruction);
        else this.linkCall(body, instruction, instruction.sharedCall, into);
      }),
    );
    bodies.forEach((code, index) => {
      const body = index === 0 ? undefined : this.shared[index - 1];
      if (body !== undefined) this.code.place(body.start);
      this.code.append(code);
      if (body !== undefined) this.linkReturn(body);
    });
    if (bytes === 0) return undefined;
    return {
      name: STACK_NAME,
      space: 'local',
      type: 'b8',
      bytes,
      align: FRAME_ALIGN,
      isExtern: false,
      line: 0,
    };
  }

  /** Finds what each call must save. @returns bytes of the body's frames. */
  private planFrame(body: Body): number {
    const calls = body.code.instructions.filter(
      ({ sharedCall }) => sharedCall !== undefined && this.graph.areMutual(body.name, sharedCall.callee),
    );
    if (!body.isRecursive || calls.length === 0) return roundUp(body.variableBytes);
    const trial = this.withRegisterOperands(body);
    const live = liveAfterCalls(trial, this.head);
    let most = body.variableBytes;
    for (const call of calls) {
      const kept = (live.get(call) ?? new BitSet(0)).members().filter((each) => this.isSavable(each));
      const { registers } = body.code.names;
      const bytesOf = (each: number): number => (typeBits(registers[each]?.type ?? 'b32') === 64 ? 8 : 4);
      kept.sort((a, b) => bytesOf(b) - bytesOf(a) || a - b);
      let offset = Math.ceil(body.variableBytes / 8) * 8;
      const saved = kept.map((each): Saved => {
        const at = offset;
        offset += bytesOf(each);
        return { register: each, offset: at };
      });
      this.saved.set(call, saved);
      most = Math.max(most, offset);
    }
    return roundUp(most);
  }

  private isSavable(each: number): boolean {
    return each !== this.stackTop && each !== this.stackLimit;
  }

  /** The body with the registers that its calls read and write as operands, and a return that reads its number. */
  private withRegisterOperands(body: Body): { code: DraftCode; origin: Map<number, DraftInstruction> } {
    const origin = new Map<number, DraftInstruction>();
    const operandsOf = (names: readonly string[]): ReturnType<typeof register>[] =>
      names.flatMap((name) =>
        this.storages.isInMemory(name) ? [] : this.storages.registersOf(name).map(register),
      );
    const code = body.code.rewritten((instruction, into) => {
      const call = instruction.sharedCall;
      if (call !== undefined) origin.set(into.instructions.length, instruction);
      into.emit(
        call === undefined
          ? instruction
          : { ...instruction, destinations: operandsOf(call.returns), sources: operandsOf(call.args) },
      );
    });
    // A body ends by reading the number of its call and its returns.
    code.place(body.returnLabel);
    const returns = this.formals.get(body.name)?.returns ?? [];
    code.add(this.head.line, 'ret', { sources: [register(body.returnId), ...operandsOf(returns)] });
    return { code, origin };
  }

  private linkCall(
    body: Body,
    call: DraftInstruction,
    { callee, args, returns }: SharedCall,
    into: DraftCode,
  ): void {
    const target = this.byName.get(callee);
    if (target === undefined) throw new RangeError(`no body of ${callee}`);
    const { line } = call;
    const saved = this.saved.get(call) ?? [];
    const own = this.frameOf(body.name);
    for (const each of saved) this.save(line, each, into);
    const formals = this.formals.get(callee);
    args.forEach((arg, index) => {
      const formal = formals?.args[index];
      if (formal !== undefined)
        this.copyStorage(line, { storage: arg, above: 0 }, { storage: formal, above: own }, into);
    });
    const points = this.returnPoints.get(callee) ?? [];
    this.returnPoints.set(callee, points);
    const point = into.names.label(`$after$${callee}`);
    into.add(line, 'mov.u32', {
      destinations: [register(target.returnId)],
      sources: [integer(points.length)],
    });
    points.push(point);
    if (own > 0) this.add(line, 'add.s32', this.stackTop, this.stackTop, own, into);
    this.checkStack(line, this.frameOf(callee), into);
    into.branch(line, target.start);
    into.place(point);
    if (own > 0) this.add(line, 'add.s32', this.stackTop, this.stackTop, -own, into);
    returns.forEach((storage, index) => {
      const formal = formals?.returns[index];
      if (formal !== undefined)
        this.copyStorage(line, { storage: formal, above: own }, { storage, above: 0 }, into);
    });
    for (const each of saved) this.restore(line, each, into);
  }

  private checkStack(line: number, bytes: number, into: DraftCode): void {
    if (bytes === 0) return;
    const end = into.names.register('%frameEnd', 'b32');
    const isOver = into.names.register('%isOverflow', 'pred');
    this.add(line, 'add.s32', end, this.stackTop, bytes, into);
    into.add(line, 'setp.gt.u32', {
      destinations: [register(isOver)],
      sources: [register(end), register(this.stackLimit)],
    });
    into.add(line, 'trap.stackOverflow', { guard: { register: isOver, negated: false } });
  }

  private linkReturn(body: Body): void {
    const points = this.returnPoints.get(body.name) ?? [];
    const line = body.code.instructions.at(-1)?.line ?? this.head.line;
    this.code.place(body.returnLabel);
    const [only] = points;
    if (only !== undefined && points.length === 1) this.code.branch(line, only);
    else {
      this.code.add(line, 'brx.idx', {
        sources: [register(body.returnId), ...points.map((block) => ({ kind: 'label' as const, block }))],
      });
    }
  }

  private save(line: number, { register: kept, offset }: Saved, into: DraftCode): void {
    const type = into.names.registers[kept]?.type ?? 'b32';
    const to = address(this.stackTop, offset);
    if (type !== 'pred') {
      into.add(line, `st.local.${storedType(type)}`, { sources: [to, register(kept)] });
      return;
    }
    const flag = into.names.register('%flag', 'b32');
    into.add(line, 'selp.u32', {
      destinations: [register(flag)],
      sources: [integer(1), integer(0), register(kept)],
    });
    into.add(line, 'st.local.b32', { sources: [to, register(flag)] });
  }

  private restore(line: number, { register: kept, offset }: Saved, into: DraftCode): void {
    const type = into.names.registers[kept]?.type ?? 'b32';
    const from = address(this.stackTop, offset);
    if (type !== 'pred') {
      into.add(line, `ld.local.${storedType(type)}`, { destinations: [register(kept)], sources: [from] });
      return;
    }
    const flag = into.names.register('%flag', 'b32');
    into.add(line, 'ld.local.b32', { destinations: [register(flag)], sources: [from] });
    into.add(line, 'setp.ne.u32', { destinations: [register(kept)], sources: [register(flag), integer(0)] });
  }

  /** Copies a value between storages; `above` is how far the frame of its body lies above the frame pointer. */
  private copyStorage(
    line: number,
    from: { storage: string; above: number },
    to: { storage: string; above: number },
    into: DraftCode,
  ): void {
    if (from.storage === to.storage) return;
    copyStorage(this.storages, line, from, to, into);
  }

  private add(line: number, name: string, to: number, from: number, value: number, into = this.code): void {
    into.add(line, name, { destinations: [register(to)], sources: [register(from), integer(value)] });
  }

  private frameOf(name: string): number {
    return this.frameBytes.get(name) ?? 0;
  }
}

/** Moves the pieces of one storage to those of another that is cut alike, or copies its memory. */
export function copyStorage(
  storages: ParameterStorages,
  line: number,
  from: { storage: string; above: number },
  to: { storage: string; above: number },
  into: DraftCode,
): void {
  if (storages.isInMemory(to.storage)) {
    const placed = (place: MemoryPlace, above: number): { base: number | string; offset: number } =>
      'variable' in place
        ? { base: place.variable, offset: 0 }
        : { base: into.names.stackTop, offset: place.frameOffset + above };
    copyLocal(
      into,
      line,
      storages.bytesOf(to.storage),
      placed(storages.placeOf(from.storage), from.above),
      placed(storages.placeOf(to.storage), to.above),
    );
    return;
  }
  const sources = storages.registersOf(from.storage);
  const types = storages.pieceTypesOf(to.storage);
  storages.registersOf(to.storage).forEach((target, index) => {
    const type = types[index] ?? 'b32';
    into.add(line, `mov.${type}`, {
      destinations: [register(target)],
      sources: [register(sources[index] ?? 0)],
    });
  });
}

/** Registers live behind each call, without those that the call itself writes. */
function liveAfterCalls(
  { code, origin }: { code: DraftCode; origin: Map<number, DraftInstruction> },
  head: IrFunction,
): Map<DraftInstruction, BitSet> {
  const fn = finishFunction(head, code, []);
  const liveness = analyzeLiveness(fn);
  const found = new Map<DraftInstruction, BitSet>();
  for (const block of fn.blocks) {
    if (![...origin.keys()].some((at) => at >= block.first && at <= block.last)) continue;
    const points = liveness.pointsOf(block.index);
    for (let at = block.first; at <= block.last; at++) {
      const call = origin.get(at);
      const live = points[at - block.first + 1]?.copy();
      if (call === undefined || live === undefined) continue;
      for (const destination of fn.instructions[at]?.destinations ?? []) {
        if (destination.kind === 'register') live.delete(destination.register);
      }
      found.set(call, live);
    }
  }
  return found;
}

function storedType(type: string): string {
  const bits = typeBits(type as 'b32');
  return bits === 64 ? (type === 'f64' ? 'f64' : 'b64') : type === 'f32' ? 'f32' : `b${bits}`;
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / FRAME_ALIGN) * FRAME_ALIGN;
}
