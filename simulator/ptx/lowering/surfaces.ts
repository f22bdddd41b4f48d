import { eachFunction } from './eachFunction.js';
import type { IrFunction, IrInstruction, IrModule, IrOperand, IrRegister, ScalarType } from '../ir.js';
import { isOfSurface } from '../isa/index.js';
import { typeBits } from '../scalarTypes.js';
import { replaceInstructions, type NewInstruction } from './replacement.js';

/**
 * Accesses of surfaces become the place of their element (`surfplace`, which looks at the surface's extents) and an access of
 * global memory there, so that whatever watches or follows memory sees them as any other. With `.zero` what lies outside reads
 * zeros that the surface's record holds, and is not written.
 */
export function lowerSurfaces(ir: IrModule): IrModule {
  return eachFunction(ir, lowerFunction);
}

function lowerFunction(fn: IrFunction): IrFunction {
  const accesses = fn.instructions.filter(({ opcode }) => isOfSurface(opcode));
  if (accesses.length === 0) return fn;
  const added: IrRegister[] = [];
  const fresh = (type: ScalarType): number => {
    added.push({ name: `%surface$${added.length}`, type });
    return fn.registers.length + added.length - 1;
  };
  const replacements = new Map(accesses.map((each) => [each.index, accessOf(each, fresh)] as const));
  return replaceInstructions(fn, replacements, added);
}

const GEOMETRY = /^(?:a?[12]d|3d)$/;

function accessOf(instruction: IrInstruction, fresh: (type: ScalarType) => number): NewInstruction[] {
  const { line, opcode, modifiers, types, guard, destinations, sources } = instruction;
  const [handle, coordinates, values] = sources;
  if (handle === undefined || coordinates === undefined) return [instruction];
  const type = types.at(-1) ?? 'b32';
  const vector = modifiers.filter((each) => /^v[24]$/.test(each));
  const bytes = (typeBits(type) / 8) * Number(vector[0]?.slice(1) ?? 1);
  const geometry = modifiers.filter((each) => GEOMETRY.test(each));
  const outside = modifiers.includes('zero') ? 'zero' : modifiers.includes('clamp') ? 'clamp' : 'trap';
  const address = fresh('b64');
  const at: IrOperand = { kind: 'address', base: address, offset: 0 };
  const placed = (destination: IrOperand, under: IrInstruction['guard']): NewInstruction => ({
    line,
    opcode: 'surfplace',
    modifiers: [...geometry, outside, `size${bytes}`],
    types: [],
    guard: under,
    destinations: [destination],
    sources: [handle, coordinates],
  });
  const register: IrOperand = { kind: 'register', register: address };
  if (opcode === 'suld') {
    return [
      placed(register, guard),
      {
        line,
        opcode: 'ld',
        modifiers: ['global', ...vector, type],
        types: [type],
        guard,
        destinations,
        sources: [at],
      },
    ];
  }
  const stored = values === undefined ? [] : [values];
  const operation = modifiers.filter((each) => /^(?:add|min|max|and|or)$/.test(each));
  const access = (under: IrInstruction['guard']): NewInstruction => ({
    line,
    opcode: opcode === 'sust' ? 'st' : 'red',
    modifiers: ['global', ...operation, ...vector, type],
    types: [type],
    guard: under,
    destinations: [],
    sources: [at, ...stored],
  });
  if (outside !== 'zero') return [placed(register, guard), access(guard)];
  const isInside = fresh('pred');
  const inside: IrOperand = { kind: 'register', register: isInside };
  const none: IrOperand = { kind: 'integer', low: 0, high: 0 };
  const cleared: NewInstruction = {
    line,
    opcode: 'setp',
    modifiers: ['ne', 'u32'],
    types: ['u32'],
    destinations: [inside],
    sources: [none, none],
  };
  return [
    // A lane that the guard holds back stores nothing.
    ...(guard === undefined ? [] : [cleared]),
    placed({ kind: 'pair', first: register, second: inside }, guard),
    access({ register: isInside, negated: false }),
  ];
}
