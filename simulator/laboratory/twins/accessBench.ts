import { parseModule, type IrFunction, type IrInstruction } from '../../ptx/index.js';
import { layoutLocal, layoutShared, NodeMemory, type Segment } from '../../executor/index.js';
import {
  type AccessGroup,
  AREA,
  CACHE,
  type CacheLocals,
  DYNAMIC_BYTES,
  type DynamicBytes,
  emitInstruction,
  FAULTS,
  findExactRegisters,
  groupAccesses,
  ImportedOperations,
  type LaneShape,
  Library,
  MemoryEmitter,
  type MemorySurroundings,
  OperandEmitter,
  RECORD,
  vectorEmitter,
  VectorMemoryEmitter,
  VectorOperands,
  wasmTypeOf,
} from '../../executor/testing/index.js';
import { FunctionBuilder, ModuleBuilder } from '../../wasm/index.js';

/** Where the benches keep registers (8 bytes a lane) in the room for contexts. */
const REGISTERS = AREA.contexts;
const REGISTER_BYTES = 32 * 8;
const LOCALS = AREA.contexts + 0x20000;
const PAGES = 1024;

/** What an access did. */
export interface AccessOutcome {
  readonly fault: string | undefined;
  readonly memory: readonly string[];
  /** Of each register, its words lane by lane; left out after a fault. */
  readonly registers: readonly string[] | undefined;
  readonly counted: readonly bigint[];
}

export interface AccessCase {
  /** What one load or store needs. */
  readonly declarations: string;
  /** Perhaps with what leads to its address; guarded by `%active` it is the lanes' own choice. */
  readonly instruction: string;
  readonly groups: number;
  readonly joinsNeighbours: boolean;
  /** By register name. */
  readonly shapes: Readonly<Record<string, LaneShape>>;
}

/** Runs one access of a chunk, by the scalar emitters lane after lane or by the vector emitter, on the same memory. */
export class AccessBench {
  readonly node = new NodeMemory({ backingBytes: PAGES * 65_536 });
  readonly space = this.node.createSpace();
  private cached: { readonly segment: Segment; readonly bytes: number } | undefined;
  private readonly fn: IrFunction;
  private readonly scalar: (lane: number) => number;
  private readonly vector: (() => number) | undefined;

  constructor(private readonly access: AccessCase) {
    const ir = parseModule(
      `.version 8.5\n.target sm_90\n.address_size 64\n` +
        `.visible .entry k()\n{\n${access.declarations}\n${access.instruction}\nret;\n}\n`,
      'access.ptx',
    );
    const [fn] = ir.functions;
    if (fn === undefined) throw new RangeError('no function');
    this.fn = fn;
    const shared = layoutShared(ir, fn);
    const layouts = { sharedLayout: shared, localLayout: layoutLocal(fn) };
    const instructions = fn.instructions.filter(({ opcode }) => opcode !== 'ret');
    const module = new ModuleBuilder(PAGES);
    const library = new Library(module, false);
    module.add(
      this.scalarFunction(fn, instructions, library, layouts, new ImportedOperations(module)),
      'scalar',
    );
    const vector = this.vectorFunction(fn, instructions, library, layouts);
    if (vector !== undefined) module.add(vector, 'vector');
    const instance = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), {
      node: { memory: this.node.memory, area: 0 },
    });
    const exports = instance.exports as Record<string, (lane?: number) => number>;
    this.scalar = exports['scalar'];
    this.vector = exports['vector'];
    const view = this.view();
    view.setInt32(RECORD.sharedBytes, shared.staticBytes, true);
    view.setInt32(RECORD.locals, LOCALS, true);
  }

  /** Whether there is a vector form. */
  get isVector(): boolean {
    return this.vector !== undefined;
  }

  get lanes(): number {
    return this.access.groups * 4;
  }

  setRegister(name: string, lane: number, value: bigint): void {
    this.view().setBigUint64(
      REGISTERS + this.indexOf(name) * REGISTER_BYTES + lane * 8,
      BigInt.asUintN(64, value),
      true,
    );
  }

  /** Gives lane 0's value to a lane. */
  copyRegister(name: string, lane: number): void {
    const at = REGISTERS + this.indexOf(name) * REGISTER_BYTES;
    const view = this.view();
    view.setBigUint64(at + lane * 8, view.getBigUint64(at, true), true);
  }

  /** Fills a byte of shared and of local memory. */
  fill(at: number, value: number): void {
    this.node.bytes[AREA.shared + at] = value;
    this.node.bytes[LOCALS + at] = value ^ 0xff;
  }

  /** A segment that the access's cache holds at first, as an access of so many bytes before would have left it. */
  warm(segment: Segment, bytes: number): void {
    this.cached = { segment, bytes };
  }

  /** Runs the access on the memory as it is and puts everything back. @param times how often, one after another. */
  run(how: 'scalar' | 'vector', times: number): AccessOutcome {
    const { bytes } = this.node;
    const table = this.space.segmentTable();
    const view = this.view();
    view.setInt32(RECORD.segmentTable, table.offset, true);
    view.setInt32(RECORD.segmentCount, table.count, true);
    bytes.fill(0, AREA.caches, AREA.cachesEnd);
    if (this.cached !== undefined) {
      const { segment, bytes: size } = this.cached;
      view.setBigUint64(AREA.caches + CACHE.base, BigInt(segment.virtualAddress), true);
      view.setBigUint64(
        AREA.caches + CACHE.limit,
        BigInt(Math.floor((segment.bytes - size) / size) + 1),
        true,
      );
      view.setInt32(AREA.caches + CACHE.offset, segment.offset, true);
    }
    bytes.fill(0, AREA.counters, AREA.counters + 64);
    const kept = this.places().map(([from, to]) => [from, bytes.slice(from, to)] as const);
    let failing = -1;
    for (let time = 0; time < times && failing < 0; time++) {
      if (how === 'vector') failing = this.vector?.() ?? -1;
      else
        for (let lane = 0; lane < this.lanes && failing < 0; lane++)
          failing = this.scalar(lane) === 0 ? -1 : lane;
    }
    const outcome: AccessOutcome = {
      fault: failing < 0 ? undefined : this.faultOf(failing),
      memory: this.places()
        .slice(1)
        .map(([from, to]) => hex(bytes.slice(from, to))),
      registers:
        failing < 0
          ? this.fn.registers.map(({ name }, index) => {
              const at = REGISTERS + index * REGISTER_BYTES;
              return `${name} ${hex(bytes.slice(at, at + 8 * this.lanes))}`;
            })
          : undefined,
      counted: failing < 0 ? Object.values(DYNAMIC_BYTES).map((at) => view.getBigInt64(at, true)) : [],
    };
    for (const [from, content] of kept) bytes.set(content, from);
    return outcome;
  }

  /** Registers, then all that accesses may change. */
  private places(): (readonly [number, number])[] {
    return [
      [REGISTERS, REGISTERS + this.fn.registers.length * REGISTER_BYTES],
      [AREA.shared, AREA.shared + 4096],
      [LOCALS, LOCALS + 4096],
      ...this.space.segments().map(({ offset, bytes }) => [offset, offset + bytes] as const),
    ];
  }

  private faultOf(lane: number): string {
    const view = this.view();
    const code = FAULTS[view.getInt32(RECORD.faultCode, true) - 1];
    return `lane ${lane}: ${code} at ${view.getBigUint64(RECORD.faultAddress, true).toString(16)}`;
  }

  private indexOf(name: string): number {
    return this.fn.registers.findIndex((register) => register.name === name);
  }

  private view(): DataView {
    return new DataView(this.node.buffer);
  }

  // --- code ---

  private scalarFunction(
    fn: IrFunction,
    instructions: readonly IrInstruction[],
    library: Library,
    layouts: Pick<MemorySurroundings, 'sharedLayout' | 'localLayout'>,
    imported: ImportedOperations,
  ): FunctionBuilder {
    const f = new FunctionBuilder(['i32'], ['i32']);
    const frame = new Frame(f, fn, layouts);
    const operands = new OperandEmitter(f, fn, library, findExactRegisters(fn), frame, () => true);
    const around: MemorySurroundings = {
      ...frame.memory(),
      meetsInCluster: false,
      leaveWithFault: () => f.i32(1).op('return'),
      recordAccess: () => undefined,
      noteWrite: () => undefined,
    };
    frame.begin();
    f.get(0).i32(layouts.localLayout.bytes).op('i32Mul').i32(LOCALS).op('i32Add').set(frame.local);
    const at = f.local('i32');
    f.get(0).i32(8).op('i32Mul').set(at);
    fn.registers.forEach(({ type }, register) => {
      f.get(at).memory(loadOf(wasmTypeOf(type)), REGISTERS + register * REGISTER_BYTES);
      f.set(operands.localOf(register));
    });
    const memory = new MemoryEmitter(operands, around);
    for (const each of instructions) emitInstruction(each, operands, memory, imported);
    fn.registers.forEach(({ type }, register) => {
      f.get(at).get(operands.localOf(register));
      f.memory(storeOf(wasmTypeOf(type)), REGISTERS + register * REGISTER_BYTES);
    });
    frame.end();
    f.i32(0);
    return f;
  }

  private vectorFunction(
    fn: IrFunction,
    instructions: readonly IrInstruction[],
    library: Library,
    layouts: Pick<MemorySurroundings, 'sharedLayout' | 'localLayout'>,
  ): FunctionBuilder | undefined {
    const f = new FunctionBuilder([], ['i32']);
    const frame = new Frame(f, fn, layouts);
    const exact = findExactRegisters(fn);
    const shapes = fn.registers.map(({ name }): LaneShape => this.access.shapes[name] ?? { kind: 'varying' });
    const isScalar = (register: number): boolean => shapes[register]?.kind !== 'varying';
    const scalar = new OperandEmitter(f, fn, library, exact, frame, isScalar);
    const v = new VectorOperands(this.access.groups, scalar, {
      shapes,
      exact,
      firstLane: f.local('i32'),
      pushLaneSpecial: (name) => frame.pushSpecial(name),
      pushSymbol: (name, offset, type) => {
        frame.pushSymbol(name, offset, type);
      },
    });
    const memory = new VectorMemoryEmitter(v, {
      ...frame.memory(),
      joinsNeighbours: this.access.joinsNeighbours,
      bundlesLoads: true,
      leaveLaneWithFault: (_, lane) => f.get(lane).op('return'),
    });
    frame.begin();
    f.i32(LOCALS).set(frame.local);
    this.eachWord(shapes, (register, lane, place) => {
      const held = wasmTypeOf(v.typeOf(register));
      f.i32(0).memory(loadOf(held), place);
      if (isScalar(register)) f.set(scalar.localOf(register));
      else {
        f.set(v.lane.localOf(register));
        v.lane.keep(register, lane);
      }
    });
    for (const each of instructions) {
      v.setMask(each.guard === undefined ? undefined : v.localsOf(each.guard.register));
      const emitter = vectorEmitter(each, false);
      if (emitter !== undefined) emitter(v, each);
      else if (!memory.emit(each)) return undefined;
    }
    this.eachWord(shapes, (register, lane, place) => {
      if (isScalar(register)) return;
      v.lane.load(register, lane);
      f.i32(0).get(v.lane.localOf(register));
      f.memory(storeOf(wasmTypeOf(v.typeOf(register))), place);
    });
    frame.end();
    f.i32(-1);
    return f;
  }

  /** Registers that are one scalar have one word. */
  private eachWord(
    shapes: readonly LaneShape[],
    visit: (register: number, lane: number, place: number) => void,
  ): void {
    shapes.forEach(({ kind }, register) => {
      for (let lane = 0; lane < (kind === 'varying' ? this.lanes : 1); lane++)
        visit(register, lane, REGISTERS + register * REGISTER_BYTES + lane * 8);
    });
  }
}

/** What a function around one access has. */
class Frame {
  readonly groups;
  readonly local: number;
  private readonly caches = new Map<number, CacheLocals>();
  private readonly limits: readonly number[];
  private readonly counters = new Map<DynamicBytes, number>();

  constructor(
    private readonly f: FunctionBuilder,
    fn: IrFunction,
    private readonly layouts: Pick<MemorySurroundings, 'sharedLayout' | 'localLayout'>,
  ) {
    this.groups = groupAccesses(fn);
    this.local = f.local('i32');
    this.limits = [0, 1, 2, 3, 4, 5].map(() => f.local('i32'));
    for (const { index } of this.groups.groups)
      this.caches.set(index, { base: f.local('i64'), limit: f.local('i64'), offset: f.local('i32') });
  }

  begin(): void {
    const { f } = this;
    for (const { index, cacheAt } of this.groups.groups) {
      const locals = this.cacheLocals(index);
      f.i32(cacheAt).memory('i64Load', CACHE.base).set(locals.base);
      f.i32(cacheAt).memory('i64Load', CACHE.limit).set(locals.limit);
      f.i32(cacheAt).memory('i32Load', CACHE.offset).set(locals.offset);
    }
    this.limits.forEach((local, log2) =>
      f.i32(0).memory('i32Load', RECORD.sharedBytes).i32(log2).op('i32ShrU').set(local),
    );
  }

  end(): void {
    const { f } = this;
    for (const [what, local] of this.counters) {
      const at = DYNAMIC_BYTES[what];
      f.i32(0)
        .i32(0)
        .memory('i64Load', at)
        .get(local)
        .op('i64ExtendI32U')
        .op('i64Add')
        .memory('i64Store', at);
    }
  }

  memory(): Pick<MemorySurroundings, 'sharedLayout' | 'localLayout' | 'caches' | 'localBase' | 'countBytes'> {
    const { f } = this;
    return {
      ...this.layouts,
      caches: {
        groupOf: (each) => this.groups.ofInstruction.get(each.index) as AccessGroup,
        byteGroupOf: (each) => this.groups.ofInstruction.get(each.index) as AccessGroup,
        cacheLocals: (group) => this.cacheLocals(group.index),
        sharedLimit: (log2) => this.limits[log2] ?? 0,
      },
      localBase: () => this.local,
      countBytes: (what, bytes) => {
        const local = this.counters.get(what) ?? f.local('i32');
        this.counters.set(what, local);
        if (typeof bytes === 'number') f.i32(bytes);
        else bytes();
        f.get(local).op('i32Add').set(local);
      },
    };
  }

  pushSpecial(name: string): 'i32' {
    throw new RangeError(`%${name} is not here`);
  }

  pushSymbol(name: string, offset: number, type: 'i32' | 'i64'): void {
    const { sharedLayout, localLayout } = this.layouts;
    const at = (sharedLayout.offsets.get(name) ?? localLayout.offsets.get(name) ?? 0) + offset;
    if (type === 'i64') this.f.i64(at);
    else this.f.i32(at);
  }

  private cacheLocals(index: number): CacheLocals {
    const found = this.caches.get(index);
    if (found === undefined) throw new RangeError(`no cache ${index}`);
    return found;
  }
}

type Held = ReturnType<typeof wasmTypeOf>;

function loadOf(type: Held): `${Held}Load` {
  return `${type}Load`;
}

function storeOf(type: Held): `${Held}Store` {
  return `${type}Store`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
