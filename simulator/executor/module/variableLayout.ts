import type { IrFunction, IrInstruction, IrModule, IrOperand, IrVariable } from '../../ptx/index.js';

/** Where a block's shared variables lie in its shared memory. */
export interface SharedLayout {
  /** Offset of each `.shared` variable that the kernel refers to, by name. */
  readonly offsets: ReadonlyMap<string, number>;
  readonly staticBytes: number;
  /** Where the launch's dynamic shared memory begins: at or after `staticBytes`. */
  readonly dynamicOffset: number;
}

/** Where a thread's `.local` variables lie in its local memory. */
export interface LocalLayout {
  readonly offsets: ReadonlyMap<string, number>;
  /** Rounded up to 16. */
  readonly bytes: number;
}

const DYNAMIC_ALIGN = 16;

/**
 * Variables of module scope come first, then the kernel's own, in order of declaration. As in ptxas, those of the
 * module that the kernel does not refer to take no room, but its own always do. All `.extern` arrays begin at the same place behind the static ones.
 */
export function layoutShared(ir: IrModule, kernel: IrFunction): SharedLayout {
  const known = sharedLayouts.get(kernel);
  if (known?.ir === ir) return known.layout;
  const layout = placeShared(ir, kernel);
  sharedLayouts.set(kernel, { ir, layout });
  return layout;
}

/** Every launch asks. */
const sharedLayouts = new WeakMap<IrFunction, { readonly ir: IrModule; readonly layout: SharedLayout }>();

function placeShared(ir: IrModule, kernel: IrFunction): SharedLayout {
  const used = symbolsOf(kernel);
  const variables = [
    ...ir.variables.filter((variable) => used.has(variable.name)),
    ...kernel.variables,
  ].filter((variable) => variable.space === 'shared');
  const offsets = new Map<string, number>();
  const fixed = variables.filter((variable) => !isDynamic(variable));
  const staticBytes = place(fixed, offsets);
  const dynamic = variables.filter(isDynamic);
  const align = dynamic.reduce((largest, variable) => Math.max(largest, variable.align), DYNAMIC_ALIGN);
  const dynamicOffset = roundUp(staticBytes, align);
  for (const variable of dynamic) offsets.set(variable.name, dynamicOffset);
  return { offsets, staticBytes, dynamicOffset };
}

/** Shared bytes of one block of a launch. */
export function sharedBytesOf(layout: SharedLayout, dynamicSharedBytes: number): number {
  return dynamicSharedBytes > 0 ? layout.dynamicOffset + dynamicSharedBytes : layout.staticBytes;
}

export function layoutLocal(kernel: IrFunction): LocalLayout {
  const offsets = new Map<string, number>();
  const bytes = place(
    kernel.variables.filter((variable) => variable.space === 'local'),
    offsets,
  );
  return { offsets, bytes: roundUp(bytes, 16) };
}

/** Names of variables that instructions refer to. */
function symbolsOf(kernel: IrFunction): Set<string> {
  const found = new Set<string>();
  const visit = (operand: IrOperand): void => {
    if (operand.kind === 'symbol') found.add(operand.name);
    else if (operand.kind === 'address' && typeof operand.base === 'string') found.add(operand.base);
    else if (operand.kind === 'vector') operand.elements.forEach(visit);
  };
  kernel.instructions.forEach((instruction: IrInstruction) => instruction.sources.forEach(visit));
  return found;
}

function isDynamic(variable: IrVariable): boolean {
  return variable.isExtern && variable.bytes === 0;
}

function place(variables: readonly IrVariable[], offsets: Map<string, number>): number {
  let end = 0;
  for (const variable of variables) {
    const offset = roundUp(end, Math.max(1, variable.align));
    offsets.set(variable.name, offset);
    end = offset + variable.bytes;
  }
  return end;
}

function roundUp(value: number, align: number): number {
  return Math.ceil(value / align) * align;
}
