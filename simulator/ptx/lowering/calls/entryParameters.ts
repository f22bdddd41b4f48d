import type { IrFunction, IrOperand, IrVariable } from '../../ir.js';
import { typeBytes } from '../../scalarTypes.js';
import { address, DraftCode, register, type DraftInstruction } from './draftCode.js';

const COPY_NAME = '%parameters';

export function takesParameterAddress({
  opcode,
  modifiers,
}: Pick<DraftInstruction, 'opcode' | 'modifiers'>): boolean {
  return opcode === 'cvta' && modifiers.some((each) => /^param(::entry)?$/.test(each));
}

/**
 * Gives the parameters of a kernel generic addresses (`cvta.param`): those whose address it takes are copied to local
 * memory when a thread starts, at the same offsets. They are never written, so the copy stays true.
 */
export function exposeParameters(
  code: DraftCode,
  entry: IrFunction,
): { readonly code: DraftCode; readonly variable: IrVariable } | undefined {
  if (!code.instructions.some(takesParameterAddress)) return undefined;
  const named = new Set(
    code.instructions.flatMap(({ sources }) =>
      sources.flatMap((source) => (source.kind === 'symbol' ? [source.name] : [])),
    ),
  );
  const into = new DraftCode(code.names);
  for (const parameter of entry.parameters) {
    if (named.has(parameter.name)) copyParameter(into, entry.line, parameter);
  }
  into.append(code.rewritten((instruction, out) => expose(instruction, out)));
  const variable: IrVariable = {
    name: COPY_NAME,
    space: 'local',
    type: 'b8',
    bytes: entry.parameterBytes,
    align: 16,
    isExtern: false,
    line: entry.line,
  };
  return { code: into, variable };
}

function copyParameter(
  into: DraftCode,
  line: number,
  { name, offset, bytes }: { name: string; offset: number; bytes: number },
): void {
  const { names } = into;
  const types = (['b64', 'b32', 'b16', 'b8'] as const).map((type) => ({
    type,
    held: names.register('%parameter', type === 'b8' ? 'b16' : type),
  }));
  for (let at = 0; at < bytes;) {
    const chunk = types.find(
      ({ type }) => typeBytes(type) <= bytes - at && (offset + at) % typeBytes(type) === 0,
    );
    if (chunk === undefined) return;
    const { type, held } = chunk;
    into.add(line, `ld.param.${type}`, { destinations: [register(held)], sources: [address(name, at)] });
    into.add(line, `st.local.${type}`, { sources: [address(COPY_NAME, offset + at), register(held)] });
    at += typeBytes(type);
  }
}

/** An address of a parameter is its offset among the parameters, to which the copy's own address is added or taken off. */
function expose(instruction: DraftInstruction, into: DraftCode): void {
  const [destination] = instruction.destinations;
  const [source] = instruction.sources;
  if (!takesParameterAddress(instruction) || destination === undefined || source === undefined) {
    into.emit(instruction);
    return;
  }
  const { line, modifiers, guard } = instruction;
  const guarded = guard === undefined ? {} : { guard };
  const wide = (name: string): number => into.names.register(name, 'b64');
  const [start, offset] = [wide('%copy'), wide('%offset')];
  const add = (name: string, to: IrOperand, ...from: IrOperand[]): void =>
    into.add(line, name, { ...guarded, destinations: [to], sources: from });
  add('mov.u64', register(start), { kind: 'symbol', name: COPY_NAME, offset: 0 });
  if (modifiers.includes('to')) {
    add('cvta.to.local.u64', register(offset), source);
    add('sub.s64', destination, register(offset), register(start));
    return;
  }
  add('mov.u64', register(offset), source);
  add('add.s64', register(offset), register(offset), register(start));
  add('cvta.local.u64', destination, register(offset));
}
