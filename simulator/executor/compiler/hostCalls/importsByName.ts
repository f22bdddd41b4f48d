import type { IrFunction } from '../../../ptx/index.js';
import { ModuleBuilder } from '../../../wasm/index.js';
import { scalarAtomic } from '../instructions/index.js';
import { ImportedOperations, type HostFunction } from './importedOperations.js';

/**
 * The functions behind the imports of a kernel that was compiled elsewhere: functions do not cross threads, so they are
 * made again from the kernel's instructions. @returns undefined when one of them is not to be had
 */
export function importsByName(
  fn: IrFunction,
  names: readonly string[],
): Readonly<Record<string, HostFunction>> | undefined {
  if (names.length === 0) return {};
  const imported = new ImportedOperations(new ModuleBuilder(1));
  for (const instruction of fn.instructions) imported.declare(scalarAtomic(instruction) ?? instruction);
  const found: Record<string, HostFunction> = {};
  for (const name of names) {
    const known = imported.functions[name];
    if (known === undefined) return undefined;
    found[name] = known;
  }
  return found;
}
