import { lowerModule, type IrModule, type IrVariable } from '../../ptx/index.js';
import type { AddressSpace, LoadedModule } from '../types.js';
import { FUNCTION_WINDOW_BASE } from '../memory/index.js';
import { LoadError } from './loadError.js';

const FUNCTION_STRIDE = 128;

/**
 * Places a module in a context: maps its `.global` variables read-write and its `.const` variables read-only, each in a
 * segment of its own, and writes their initial values. What it hands out is the module lowered (`lowerModule`). A fork re-makes the result from `ir`, the forked space and the
 * same `symbols`.
 *
 * @throws LoadError when the module needs a variable or symbol from elsewhere; MemoryError when there is no room.
 */
export function loadModule(parsed: IrModule, space: AddressSpace): LoadedModule {
  const ir = lowerModule(parsed);
  const variables = ir.variables.filter(
    (variable) => variable.space === 'global' || variable.space === 'const',
  );
  for (const variable of variables) {
    if (!variable.isExtern && variable.bytes > 0) continue;
    throw new LoadError(
      'externalVariable',
      `${ir.file}:${variable.line}: .${variable.space} variable ${variable.name} is not defined in this module; define it here`,
    );
  }
  const symbols = new Map<string, number>();
  const backed: IrVariable[] = [];
  try {
    for (const variable of variables) {
      const segment = space.map(variable.bytes, variable.space === 'const' ? 'read' : 'readWrite');
      symbols.set(variable.name, segment.virtualAddress);
      if (segment.offset >= 0) backed.push(variable);
    }
    for (const variable of backed) initialise(ir, variable, symbols, space);
  } catch (error) {
    for (const address of symbols.values()) space.unmap(address);
    throw error;
  }
  return { ir, space, symbols };
}

/** Unmaps the module's variables. */
export function unloadModule(module: LoadedModule): void {
  for (const address of module.symbols.values()) module.space.unmap(address);
}

function initialise(
  ir: IrModule,
  variable: IrVariable,
  symbols: Map<string, number>,
  space: AddressSpace,
): void {
  const at = symbols.get(variable.name);
  if (at === undefined) return;
  const bytes = space.view(at, variable.bytes);
  if (variable.initial !== undefined) bytes.set(variable.initial.subarray(0, variable.bytes));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const relocation of variable.relocations ?? []) {
    const target = symbols.get(relocation.symbol) ?? functionAddress(ir, relocation.symbol);
    if (target === undefined) {
      throw new LoadError(
        'unknownSymbol',
        `${ir.file}:${variable.line}: ${variable.name} is initialised with the address of ${relocation.symbol}, ` +
          'which is no function and no .global or .const variable of this module',
      );
    }
    const address = BigInt.asUintN(64, BigInt(target) + BigInt(relocation.addend));
    const { shift, bytes: kept } = relocation.part ?? { shift: 0, bytes: 8 };
    for (let byte = 0; byte < kept; byte++)
      view.setUint8(relocation.offset + byte, Number((address >> BigInt(shift + 8 * byte)) & 0xffn));
  }
}

/** What a pointer to a function holds: functions lie side by side in the order of the module. */
export function functionAddress(ir: IrModule, name: string): number | undefined {
  const names = [...ir.functions.map((fn) => fn.name), ...ir.externalFunctions];
  const index = names.indexOf(name);
  return index < 0 ? undefined : FUNCTION_WINDOW_BASE + index * FUNCTION_STRIDE;
}
