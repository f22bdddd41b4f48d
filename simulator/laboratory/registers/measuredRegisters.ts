import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { lowerModule, parseModule, type IrFunction, type IrModule } from '../../ptx/index.js';

const simulator = new URL('../../', import.meta.url);

/** A kernel as it is executed, and what the card's assembler gave it. */
export interface MeasuredKernel {
  readonly name: string;
  readonly kernel: IrFunction;
  readonly module: IrModule;
  readonly registers: number;
  /** The row's cells by its heads. */
  readonly cells: Readonly<Record<string, string>>;
}

/** Rows of a CSV by their heads; lines that begin with `#` are remarks. */
export function csvRows(path: string): Record<string, string>[] {
  return parse(readFileSync(new URL(path, simulator)), { columns: true, comment: '#' });
}

/** Kernels of a CSV with `ptx`, `kernel` and `registers`. */
export function measuredKernels(path: string): MeasuredKernel[] {
  const modules = new Map<string, IrModule>();
  return csvRows(path).flatMap((cells) => {
    const { ptx = '', kernel: name = '' } = cells;
    const file = ptxPath(ptx);
    let module = modules.get(file);
    if (module === undefined) {
      module = lowerModule(parseModule(readFileSync(new URL(file, simulator), 'utf8'), file));
      modules.set(file, module);
    }
    const kernel = module.functions.find((fn) => fn.isEntry && fn.name === name);
    if (kernel === undefined) throw new Error(`${file} has no kernel ${name}`);
    if (kernel.refusal !== undefined) return [];
    return [{ name: `${ptx} ${name}`, kernel, module, registers: Number(cells['registers']), cells }];
  });
}

/** Where the PTX lies that a measurement calls so. */
function ptxPath(name: string): string {
  if (name.includes('/')) return `laboratory/registers/${name}.ptx`;
  const [folder = '', file] = name.split('.');
  if (file === undefined) return `laboratory/launches/validation/kernels/${name}.ptx`;
  if (folder === 'reference') return `gpu/reference/kernels/${file}.ptx`;
  if (folder === 'bench') return `../loadtest/bench/ptx/kernels/${file}.ptx`;
  return `laboratory/kernels/${folder}/${file}.ptx`;
}

/** How far estimates are from measurements. */
export interface EstimateErrors {
  readonly kernels: number;
  readonly shareWithin4: number;
  readonly meanError: number;
  readonly worst: string;
}

export function estimateErrors(
  kernels: readonly MeasuredKernel[],
  estimate: (kernel: IrFunction) => number,
): EstimateErrors {
  const errors = kernels.map(({ name, kernel, registers }) => ({
    name,
    error: estimate(kernel) - registers,
    registers,
  }));
  const [worst] = [...errors].sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  return {
    kernels: errors.length,
    shareWithin4: errors.filter(({ error }) => Math.abs(error) <= 4).length / errors.length,
    meanError: errors.reduce((sum, { error }) => sum + Math.abs(error), 0) / errors.length,
    worst: worst === undefined ? '' : `${worst.name}: ${worst.error} from ${worst.registers}`,
  };
}
