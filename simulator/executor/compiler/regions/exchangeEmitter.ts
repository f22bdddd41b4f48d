import {
  exchangesValues,
  type IrInstruction,
  type IrOperand,
  isHostCall,
  isMatrixExchange,
  memberMask,
  type ScalarType,
  typeBits,
  type ValueExchange,
} from '../../../ptx/index.js';
import type { FunctionBuilder, OpName } from '../../../wasm/index.js';
import { WARP_SIZE } from '../area/index.js';
import type { Library } from '../library/index.js';
import { MatrixExchangeEmitter } from './matrixExchangeEmitter.js';
import { syncScope, wasmTypeOf } from '../instructions/index.js';
import { emitRuntimeCall, type RuntimeCallSurroundings, type RuntimeImports } from '../hostCalls/index.js';
import type { FaultCode } from '../../types.js';
import { EXCHANGE, type ThreadContext } from '../analysis/index.js';
import {
  ContextValues,
  emitWarpOperation,
  isTogetherOperation,
  namesWholeWarp,
  pushNamesAll,
} from '../vector/index.js';

/**
 * Writes what happens when lanes of a warp have met: each lane's result is computed from the contexts of all, before
 * any of them goes on. Registers are read from the contexts, never from locals.
 */
export class ExchangeEmitter {
  /** @param first local with the address of the warp's contexts. @param mask local with the lanes that have met. */
  constructor(
    private readonly f: FunctionBuilder,
    private readonly context: ThreadContext,
    private readonly first: number,
    private readonly mask: number,
    /** Leaves with a fault of a lane; the local holds its number. */
    private readonly fail: (lane: number, code: FaultCode) => void,
    private readonly runtime: {
      readonly imports: RuntimeImports;
      readonly library: Library;
      readonly surroundings: Omit<RuntimeCallSurroundings, 'read' | 'pushWide'>;
    },
  ) {}

  /** @param isVector whether to do it for all lanes at once where the whole warp has met. */
  emit(instruction: IrInstruction, isVector: boolean): void {
    const { opcode } = instruction;
    if (isMatrixExchange(opcode)) {
      const values = new ContextValues(this.f, this.context, this.first, instruction);
      this.matrices().emit(instruction, opcode, isVector ? values : undefined);
      return;
    }
    if (!isVector || !isTogetherOperation(instruction)) {
      this.emitByLanes(instruction);
      return;
    }
    const f = this.f;
    const values = new ContextValues(f, this.context, this.first, instruction);
    f.get(this.mask).i32(-1).op('i32Eq');
    if (!namesWholeWarp(instruction)) {
      pushNamesAll(values, instruction);
      f.op('i32And');
    }
    f.if();
    emitWarpOperation(values, instruction);
    f.else();
    this.emitByLanes(instruction);
    f.end();
  }

  private emitByLanes(instruction: IrInstruction): void {
    this.checkMembers(instruction);
    const { opcode } = instruction;
    if (isHostCall(opcode)) this.callRuntime(instruction);
    // Barriers exchange nothing.
    else if (exchangesValues(opcode)) this.exchanges[opcode](instruction);
  }

  private readonly exchanges: Readonly<Record<ValueExchange, (instruction: IrInstruction) => void>> = {
    shfl: (instruction) => this.shuffle(instruction),
    vote: (instruction) => this.vote(instruction),
    match: (instruction) => this.match(instruction),
    redux: (instruction) => this.reduce(instruction),
    elect: (instruction) => this.elect(instruction),
    activemask: () => {
      this.forEachLane('lane', (_, context) => {
        this.f.get(context).get(this.mask).memory('i32Store', EXCHANGE.value);
      });
    },
  };

  private checkMembers(instruction: IrInstruction): void {
    const f = this.f;
    const members = memberMask(instruction);
    const isWhole = members?.kind === 'integer' && members.low === -1;
    if (members === undefined || syncScope(instruction) !== 'warp' || isWhole) return;
    this.forEachLane('lane', (lane, context) => {
      this.read(members, 'b32', context);
      f.get(lane).op('i32ShrU').i32(1).op('i32And').op('i32Eqz').if();
      this.fail(lane, 'divergentBarrier');
      f.end();
    });
  }

  private matrices(): MatrixExchangeEmitter {
    return new MatrixExchangeEmitter({
      f: this.f,
      context: this.context,
      first: this.first,
      mask: this.mask,
      library: this.runtime.library,
      forEachLane: (body) => this.forEachLane('lane', body),
      read: (operand, type, context) => this.read(operand, type, context),
      fail: this.fail,
    });
  }

  private shuffle(instruction: IrInstruction): void {
    const f = this.f;
    const [value, lanes, clamp] = instruction.sources;
    const [by, bounds, segment, last, source, valid, from] = [
      'by',
      'bounds',
      'segment',
      'last',
      'source',
      'valid',
      'from',
    ].map(() => f.local('i32')) as [number, number, number, number, number, number, number];
    const has = (modifier: string): boolean => instruction.modifiers.includes(modifier);
    this.forEachLane('lane', (lane, context) => {
      this.read(lanes, 'u32', context);
      f.i32(31).op('i32And').set(by);
      this.read(clamp, 'u32', context);
      f.tee(bounds).i32(8).op('i32ShrU').i32(31).op('i32And').set(segment);
      f.get(lane).get(segment).op('i32And');
      f.get(bounds).i32(31).op('i32And').get(segment).i32(-1).op('i32Xor').op('i32And').op('i32Or').set(last);
      if (has('up')) f.get(lane).get(by).op('i32Sub').tee(source).get(last).op('i32GeS').set(valid);
      else {
        if (has('down')) f.get(lane).get(by).op('i32Add');
        else if (has('bfly')) f.get(lane).get(by).op('i32Xor');
        else {
          f.get(lane).get(segment).op('i32And');
          f.get(by).get(segment).i32(-1).op('i32Xor').op('i32And').op('i32Or');
        }
        f.tee(source).get(last).op('i32LeS').set(valid);
      }
      f.get(source).get(lane).get(valid).op('select').set(source);
      f.get(context);
      f.get(source).i32(2).op('i32Shl').get(this.first).op('i32Add').set(from);
      this.read(value, 'b32', from);
      // A lane that does not take part gives 0, as on a card.
      f.i32(0);
      f.get(this.mask).get(source).op('i32ShrU').i32(1).op('i32And').op('select');
      f.memory('i32Store', EXCHANGE.value);
      f.get(context).get(valid).memory('i32Store', EXCHANGE.predicate);
    });
  }

  private vote(instruction: IrInstruction): void {
    const f = this.f;
    const [predicate, members] = instruction.sources;
    const votes = f.local('i32');
    const group = f.local('i32');
    f.i32(0).set(votes);
    this.forEachLane('lane', (lane, context) => {
      this.read(predicate, 'pred', context);
      f.get(lane).op('i32Shl').get(votes).op('i32Or').set(votes);
    });
    this.forEachLane('lane', (_, context) => {
      this.members(members, context, group);
      f.get(context);
      f.get(votes).get(group).op('i32And');
      if (instruction.modifiers.includes('all')) f.get(group).op('i32Eq');
      else if (instruction.modifiers.includes('any')) f.i32(0).op('i32Ne');
      else if (instruction.modifiers.includes('uni')) {
        f.get(group).op('i32Eq').get(votes).get(group).op('i32And').op('i32Eqz').op('i32Or');
      }
      f.memory('i32Store', EXCHANGE.value);
    });
  }

  private match(instruction: IrInstruction): void {
    const f = this.f;
    const [value, members] = instruction.sources;
    const type: ScalarType = typeBits(instruction.types.at(-1) ?? 'b32') === 64 ? 'b64' : 'b32';
    const group = f.local('i32');
    const equal = f.local('i32');
    const isAll = instruction.modifiers.includes('all');
    this.forEachLane('lane', (_, context) => {
      this.members(members, context, group);
      f.i32(0).set(equal);
      this.forEachLane('other', (other, otherContext) => {
        this.read(value, type, context);
        this.read(value, type, otherContext);
        f.op(type === 'b64' ? 'i64Eq' : 'i32Eq')
          .get(other)
          .op('i32Shl')
          .get(equal)
          .op('i32Or')
          .set(equal);
      });
      f.get(equal).get(group).op('i32And').set(equal);
      f.get(context).get(equal);
      if (isAll) f.i32(0).get(equal).get(group).op('i32Eq').op('select');
      f.memory('i32Store', EXCHANGE.value);
      f.get(context).get(equal).get(group).op('i32Eq').memory('i32Store', EXCHANGE.predicate);
    });
  }

  private reduce(instruction: IrInstruction): void {
    const f = this.f;
    const [value, members] = instruction.sources;
    const type = instruction.types.at(-1) ?? 'b32';
    const group = f.local('i32');
    const previous = f.local('i32');
    const total = f.local('i32');
    const next = f.local('i32');
    const started = f.local('i32');
    f.i32(0).set(previous);
    this.forEachLane('lane', (_, context) => {
      this.members(members, context, group);
      // Lanes that name the same members have the same result.
      f.get(group).get(previous).op('i32Ne').if();
      f.get(group).set(previous).i32(0).set(started);
      this.forEachLane('other', (other, otherContext) => {
        f.get(group).get(other).op('i32ShrU').i32(1).op('i32And').if();
        this.read(value, type, otherContext);
        f.set(next);
        f.get(started).if();
        this.combine(instruction, total, next, type);
        f.set(total).else().get(next).set(total).i32(1).set(started).end().end();
      });
      f.end();
      f.get(context).get(total).memory('i32Store', EXCHANGE.value);
    });
  }

  private callRuntime(instruction: IrInstruction): void {
    const { imports, surroundings } = this.runtime;
    const around: RuntimeCallSurroundings = {
      read: (operand, type, context) => this.read(operand, type, context),
      pushWide: (context) => this.pushWide(context),
      pushThread: (lane) => surroundings.pushThread(lane),
      leaveFaulted: (lane) => surroundings.leaveFaulted(lane),
    };
    this.forEachLane('lane', (lane, context) =>
      emitRuntimeCall(this.f, instruction, imports, lane, context, around),
    );
  }

  /** The lowest lane of those that met. */
  private elect(instruction: IrInstruction): void {
    const f = this.f;
    const group = f.local('i32');
    this.forEachLane('lane', (lane, context) => {
      this.members(instruction.sources[0], context, group);
      f.get(context).get(group).op('i32Ctz').memory('i32Store', EXCHANGE.value);
      f.get(context).get(lane).get(group).op('i32Ctz').op('i32Eq').memory('i32Store', EXCHANGE.predicate);
    });
  }

  private combine(instruction: IrInstruction, total: number, next: number, type: ScalarType): void {
    const f = this.f;
    const plain: Record<string, OpName> = { add: 'i32Add', and: 'i32And', or: 'i32Or', xor: 'i32Xor' };
    for (const modifier of instruction.modifiers) {
      const name = plain[modifier];
      if (name !== undefined) {
        f.get(total).get(next).op(name);
        return;
      }
      if (modifier !== 'min' && modifier !== 'max') continue;
      const compare: OpName = `i32${modifier === 'min' ? 'Lt' : 'Gt'}${type === 's32' ? 'S' : 'U'}`;
      f.get(total).get(next).get(total).get(next).op(compare).op('select');
      return;
    }
    throw new RangeError(`redux without an operation at line ${instruction.line}`);
  }

  /** Sets `group` to the lanes that the lane's member mask names and that have met; without a mask, to all that have. */
  private members(operand: IrOperand | undefined, context: number, group: number): void {
    if (operand === undefined) {
      this.f.get(this.mask).set(group);
      return;
    }
    this.read(operand, 'b32', context);
    this.f.get(this.mask).op('i32And').set(group);
  }

  /** Runs `body` for each lane of the mask with locals for its number and where its slots of 4 bytes begin. */
  private forEachLane(name: 'lane' | 'other', body: (lane: number, context: number) => void): void {
    const f = this.f;
    const { lane, context } = this.counters(name);
    f.i32(0).set(lane).get(this.first).set(context);
    const again = f.loop();
    f.get(this.mask).get(lane).op('i32ShrU').i32(1).op('i32And').if();
    body(lane, context);
    f.end();
    f.get(context).i32(4).op('i32Add').set(context);
    f.get(lane).i32(1).op('i32Add').tee(lane).i32(WARP_SIZE).op('i32LtU').brIf(again);
    f.end();
  }

  private readonly counterLocals = new Map<string, { lane: number; context: number }>();

  private counters(name: string): { lane: number; context: number } {
    let found = this.counterLocals.get(name);
    if (found === undefined) {
      found = { lane: this.f.local('i32'), context: this.f.local('i32') };
      this.counterLocals.set(name, found);
    }
    return found;
  }

  /** Pushes the address at which a lane's slots of 8 bytes begin. @param context where those of 4 bytes do. */
  private pushWide(context: number): void {
    this.f.get(context).get(context).op('i32Add').get(this.first).op('i32Sub');
  }

  /** Pushes an operand's value as another lane's context holds it. */
  private read(operand: IrOperand | undefined, type: ScalarType, context: number): void {
    const f = this.f;
    if (operand?.kind === 'integer') {
      if (wasmTypeOf(type) === 'i64') f.i64Halves(operand.low, operand.high);
      else f.i32(type === 'pred' ? operand.low & 1 : operand.low);
      return;
    }
    if (operand?.kind === 'float') {
      f.i32(operand.low);
      return;
    }
    if (operand?.kind !== 'register' && operand?.kind !== 'negatedPredicate') {
      throw new RangeError(`a warp operation cannot read a ${operand?.kind ?? 'missing operand'}`);
    }
    const slot = this.context.slotOf.get(operand.register);
    if (slot === undefined) throw new RangeError(`register ${operand.register} is not kept at a sync point`);
    if (slot.isWide) {
      this.pushWide(context);
      f.memory('i64Load', slot.offset);
    } else f.get(context).memory('i32Load', slot.offset);
    if (operand.kind === 'negatedPredicate') f.op('i32Eqz');
  }
}
