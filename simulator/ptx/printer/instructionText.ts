import { isa, isCall, isSwitch } from '../isa/index.js';
import type { IrFunction, IrInstruction, IrOperand } from '../ir.js';
import { parameterListText } from './declarationText.js';
import { FunctionNames } from './functionNames.js';
import { operandText } from './operandText.js';

/** An instruction as PTX, with the statements that it refers to before it, each in a line of its own. */
export interface InstructionLines {
  /** `targets: .branchtargets …;` and the like. */
  readonly tables: readonly string[];
  readonly text: string;
}

/**
 * One instruction as PTX, with its `;`. An indexed branch or call shows the list that PTX keeps under a label of its own in
 * braces.
 */
export function printInstruction(instruction: IrInstruction, fn: IrFunction): string {
  const names = new FunctionNames(fn);
  return instructionText(instruction, names, tableOf(instruction, names));
}

export function instructionLines(instruction: IrInstruction, names: FunctionNames): InstructionLines {
  const table = tableOf(instruction, names);
  if (table === undefined) return { tables: [], text: instructionText(instruction, names) };
  const label = names.fresh(`$${instruction.opcode}Targets`);
  return { tables: [`${label}: ${table};`], text: instructionText(instruction, names, label) };
}

/** The list of an indexed branch, the prototype or list of an indirect call. */
function tableOf({ opcode, sources, prototype }: IrInstruction, names: FunctionNames): string | undefined {
  if (isSwitch(opcode)) {
    return `.branchtargets ${sources
      .slice(1)
      .map((source) => operandText(source, names))
      .join(', ')}`;
  }
  if (prototype === undefined) return undefined;
  if (prototype.targets !== undefined) return `.calltargets ${prototype.targets.join(', ')}`;
  const returns = prototype.returns.length === 0 ? '' : `${parameterListText(prototype.returns)} `;
  return `.callprototype ${returns}_ ${parameterListText(prototype.parameters)}`;
}

function instructionText(instruction: IrInstruction, names: FunctionNames, table?: string): string {
  const { guard, opcode, modifiers } = instruction;
  const condition =
    guard === undefined ? '' : `@${guard.negated ? '!' : ''}${names.register(guard.register)} `;
  const operands = operandsText(instruction, names, table);
  return `${condition}${[opcode, ...modifiers].join('.')}${operands === '' ? '' : ` ${operands}`};`;
}

function operandsText(instruction: IrInstruction, names: FunctionNames, table?: string): string {
  const { opcode, destinations, sources, selectors } = instruction;
  if (isCall(opcode)) return callText(instruction, names, table);
  if (isSwitch(opcode) && table !== undefined) return `${list(sources.slice(0, 1), names)}, ${table}`;
  const all = [...destinations, ...sources];
  if (isa(opcode).syntax.rule === 'fetch') return fetchText(instruction, names);
  if (selectors === undefined) return list(all, names);
  return all
    .map((operand, index) => {
      const selector = selectors[index] ?? '';
      const part = selector.replace('-', '');
      const sign = selector.startsWith('-') ? '-' : '';
      return `${sign}${operandText(operand, names)}${part === '' ? '' : `.${part}`}`;
    })
    .join(', ');
}

/** `{results}, [handle, {coordinates}], others`; values that are stored stand in braces. */
function fetchText({ destinations, sources }: IrInstruction, names: FunctionNames): string {
  const [handle, place, ...others] = sources;
  const inside = list(
    handle === undefined ? [] : place === undefined ? [handle] : [handle, braced(place)],
    names,
  );
  const parts = [`[${inside}]`, ...others.map((each) => operandText(each, names))];
  return [...destinations.map((each) => operandText(each, names)), ...parts].join(', ');
}

function braced(operand: IrOperand): IrOperand {
  return operand.kind === 'vector' ? operand : { kind: 'vector', elements: [operand] };
}

/** `(results), function, (arguments), prototype`. */
function callText({ destinations, sources }: IrInstruction, names: FunctionNames, table?: string): string {
  const [target, ...given] = sources;
  const parts = target === undefined ? [] : [operandText(target, names)];
  if (destinations.length > 0) parts.unshift(`(${list(destinations, names)})`);
  if (given.length > 0) parts.push(`(${list(given, names)})`);
  if (table !== undefined) parts.push(table);
  return parts.join(', ');
}

function list(operands: readonly IrOperand[], names: FunctionNames): string {
  return operands.map((operand) => operandText(operand, names)).join(', ');
}
