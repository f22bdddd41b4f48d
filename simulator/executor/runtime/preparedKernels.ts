import type { IrFunction } from '../../ptx/index.js';
import { importsByName, type CompiledKernel } from '../compiler/index.js';

/** A compiled kernel on its way to another thread: what crosses of it, and the names of the functions that do not. */
export interface PreparedKernel {
  /** What it was compiled from, and in which form. */
  readonly key: string;
  readonly module: WebAssembly.Module;
  readonly kernel: Omit<CompiledKernel, 'imports' | 'skips'>;
  readonly imports: readonly string[];
}

export function prepared(key: string, compiled: CompiledKernel, module: WebAssembly.Module): PreparedKernel {
  const kernel: { -readonly [part in keyof CompiledKernel]?: CompiledKernel[part] } = { ...compiled };
  delete kernel.imports;
  delete kernel.skips;
  return { key, module, kernel: kernel as PreparedKernel['kernel'], imports: Object.keys(compiled.imports) };
}

/**
 * The kernel as it was where it was compiled; undefined when it cannot be had.
 * @param compile makes it anew, for the rare question that needs the kernel's graph
 */
export function restored(
  { kernel, imports: names }: PreparedKernel,
  fn: IrFunction,
  compile: () => CompiledKernel,
): CompiledKernel | undefined {
  const imports = importsByName(fn, names);
  if (imports === undefined) return undefined;
  let whole: CompiledKernel | undefined;
  return { ...kernel, imports, skips: (point, end) => (whole ??= compile()).skips(point, end) };
}
