import { elementBits, type Operand } from '../../../tensor/index.js';
import type { IrInstruction, IrOperand } from '../../ir.js';
import { carriedFragment, registersOf } from '../../matrixRules.js';
import { integer } from '../../literals.js';
import type { LanePlace, MatrixCode } from './code.js';

/**
 * `wmma.load` and `wmma.store`: a lane's registers, each of the elements that it holds. Where an element lies is what the lane adds, by its
 * group and its place there, and what the register and the slot in it add.
 */
export function carryFragment(
  instruction: IrInstruction,
  code: MatrixCode,
  place: LanePlace,
  bitsOf: (register: number) => number,
): void {
  const { modifiers, destinations, sources } = instruction;
  const fragment = carriedFragment(instruction);
  const [address] = sources;
  if (fragment === undefined || address?.kind !== 'address')
    throw new RangeError(`line ${instruction.line}: no matrix of this shape`);
  const isStore = modifiers[0] === 'store';
  const isByRow = modifiers.includes('row');
  const registers = registersOf(isStore ? sources[1] : destinations[0]);
  const stride = sources[isStore ? 2 : 1] ?? integer(isByRow ? fragment.columns : fragment.rows);
  const space = modifiers.find((each) => /^(global|shared|shared::cta)$/.test(each));
  const memory = new Lines(code, address, stride, elementBits(fragment.type), bitsOf);
  const lane = laneSteps(fragment);
  const [acrossStep, alongStep] = isByRow ? lane : turned(lane);
  memory.addLane(place, acrossStep, alongStep);
  const written = new Set<number>();
  // All places before the first load, which may write what they are computed of.
  const parts = registers.flatMap((register, index): Part[] => {
    const slots = slotsOf(fragment, index).map((at) => (isByRow ? at : turned(at)));
    // Where elements come again, the first register that has them is stored.
    const [element = 0] = slotElements(fragment, index);
    if (register.kind === 'sink' || (isStore && written.has(element))) return [];
    written.add(element);
    const isTogether = slots.every(([line, along], at) => {
      const [firstLine, firstAlong] = slots[0] ?? [0, 0];
      return line === firstLine && along === firstAlong + at;
    });
    return [{ register, places: (isTogether ? slots.slice(0, 1) : slots).map((at) => memory.at(at)) }];
  });
  const where = space === undefined ? '' : `.${space}`;
  for (const part of parts) carryRegister(code, part, { isStore, where, bits: elementBits(fragment.type) });
}

type Place = readonly [line: number, along: number];

function turned<T>([one, other]: readonly [T, T]): readonly [T, T] {
  return [other, one];
}

/** What a lane's group and its place in it add to line and column. */
type LaneSteps = readonly [line: Step, along: Step];
interface Step {
  readonly group: number;
  readonly own: number;
}

function placeOf({ map, slots, columns }: Operand, lane: number, register: number, slot: number): Place {
  const element = map[(register * 32 + lane) * slots + slot] ?? 0;
  return [Math.floor(element / columns), element % columns];
}

function slotElements({ map, slots }: Operand, register: number): number[] {
  return Array.from({ length: slots }, (_, slot) => map[register * 32 * slots + slot] ?? 0);
}

function slotsOf(fragment: Operand, register: number): Place[] {
  return Array.from({ length: fragment.slots }, (_, slot) => placeOf(fragment, 0, register, slot));
}

function laneSteps(fragment: Operand): LaneSteps {
  const [group, own] = [placeOf(fragment, 4, 0, 0), placeOf(fragment, 1, 0, 0)];
  const start = placeOf(fragment, 0, 0, 0);
  const step = (axis: 0 | 1): Step => ({ group: group[axis] - start[axis], own: own[axis] - start[axis] });
  return [step(0), step(1)];
}

/** A matrix in memory: lines at a stride, elements of a line one behind another. */
class Lines {
  private base: IrOperand = integer(0);
  private readonly lines = new Map<number, IrOperand>();
  private readonly isWide: boolean;

  /** @param bits of an element; less than 8 only where a register is one piece of a line */
  constructor(
    private readonly code: MatrixCode,
    private readonly address: Extract<IrOperand, { kind: 'address' }>,
    private readonly stride: IrOperand,
    private readonly bits: number,
    bitsOf: (register: number) => number,
  ) {
    this.isWide = typeof address.base !== 'number' || bitsOf(address.base) === 64;
  }

  addLane({ group, own }: LanePlace, line: Step, along: Step): void {
    const { code } = this;
    const lineOf = this.sum(this.times(group, line.group), this.times(own, line.own));
    const alongOf = this.sum(this.times(group, along.group), this.times(own, along.own));
    const elements = this.sum(
      lineOf === undefined ? undefined : code.compute('mul.lo.u32', 'b32', lineOf, this.stride),
      alongOf,
    );
    const start = this.start();
    this.base = elements === undefined ? start : this.plus(start, elements);
  }

  /** The operand that names an element, by what it adds to the lane's own place. */
  at([line, along]: Place): IrOperand {
    const offset = (along * this.bits) / 8;
    if (this.stride.kind === 'integer') {
      const bytes = offset + (line * this.stride.low * this.bits) / 8;
      return this.named(this.base, bytes);
    }
    let found = this.lines.get(line);
    if (found === undefined) {
      found =
        line === 0
          ? this.base
          : this.plus(this.base, this.code.compute('mul.lo.u32', 'b32', this.stride, integer(line)));
      this.lines.set(line, found);
    }
    return this.named(found, offset);
  }

  private named(base: IrOperand, offset: number): IrOperand {
    return { kind: 'address', base: base.kind === 'register' ? base.register : undefined, offset };
  }

  private start(): IrOperand {
    const { base, offset } = this.address;
    const { code, isWide } = this;
    if (base === undefined) return code.compute('mov.u64', 'b64', integer(offset));
    if (typeof base === 'string')
      return code.compute('mov.u64', 'b64', { kind: 'symbol', name: base, offset });
    const register: IrOperand = { kind: 'register', register: base };
    if (offset === 0) return register;
    return code.compute(isWide ? 'add.u64' : 'add.u32', isWide ? 'b64' : 'b32', register, integer(offset));
  }

  /** Adds a number of elements to an address. */
  private plus(address: IrOperand, elements: IrOperand): IrOperand {
    const { code, bits, isWide } = this;
    const bytes =
      bits === 8
        ? elements
        : bits > 8
          ? code.compute('shl.b32', 'b32', elements, integer(Math.log2(bits / 8)))
          : code.compute('shr.u32', 'b32', elements, integer(Math.log2(8 / bits)));
    if (!isWide) return code.compute('add.u32', 'b32', address, bytes);
    return code.compute('add.u64', 'b64', address, code.compute('cvt.u64.u32', 'b64', bytes));
  }

  private times(value: IrOperand, by: number): IrOperand | undefined {
    if (by === 0) return undefined;
    return by === 1 ? value : this.code.compute('mul.lo.u32', 'b32', value, integer(by));
  }

  private sum(one: IrOperand | undefined, other: IrOperand | undefined): IrOperand | undefined {
    if (one === undefined || other === undefined) return one ?? other;
    return this.code.compute('add.u32', 'b32', one, other);
  }
}

interface Part {
  readonly register: IrOperand;
  /** Where its elements lie, the one in its lowest bits first; one place where they lie side by side. */
  readonly places: readonly IrOperand[];
}

interface Carrying {
  readonly isStore: boolean;
  /** State space as a modifier, or nothing. */
  readonly where: string;
  readonly bits: number;
}

/** One register: at once where its elements lie side by side, else one by one. */
function carryRegister(
  code: MatrixCode,
  { register, places }: Part,
  { isStore, where, bits }: Carrying,
): void {
  const carry = (type: string, to: IrOperand, place: IrOperand): void => {
    if (isStore) code.act(`st${where}.${type}`, [], [place, to]);
    else code.act(`ld${where}.${type}`, [to], [place]);
  };
  const [first = integer(0), ...rest] = places;
  if (rest.length === 0) carry(bits === 64 ? 'b64' : 'b32', register, first);
  else if (bits === 16) {
    const halves = places.map(() => code.temporary('b16'));
    const pair: IrOperand = { kind: 'vector', elements: halves };
    if (isStore) code.act('mov.b32', [pair], [register]);
    halves.forEach((half, index) => carry('b16', half, places[index] ?? first));
    if (!isStore) code.act('mov.b32', [register], [pair]);
  } else {
    // Bytes, of A and B alone: they are loaded.
    const bytes = places.map((place) => {
      const byte = code.temporary('b32');
      carry('u8', byte, place);
      return byte;
    });
    let whole: IrOperand = bytes[0] ?? integer(0);
    bytes.slice(1).forEach((byte, index) => {
      const isLast = index === bytes.length - 2;
      const to = isLast ? register : code.temporary('b32');
      code.act('bfi.b32', [to], [byte, whole, integer(8 * (index + 1)), integer(8)]);
      whole = to;
    });
  }
}
