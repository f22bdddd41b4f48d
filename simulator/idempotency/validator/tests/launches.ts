import { readFileSync } from 'node:fs';
import type { Dim3 } from '../../../executor/index.js';
import { lowerModule, parseModule, type IrFunction, type IrModule } from '../../../ptx/index.js';
import { analyzeKernel } from '../../analysis/index.js';
import { validatorInMode, type ModeOptions } from '../../../laboratory/validatorModes/index.js';
import type { ValidatedLaunch, Validator } from '../index.js';

/** Kernels of a PTX file beside the tests, with validators and launches of them. */
export class Kernels {
  readonly ir: IrModule;

  constructor(file: string) {
    const path = new URL(file, import.meta.url);
    this.ir = lowerModule(parseModule(readFileSync(path, 'utf8'), file));
  }

  validator(name: string, options?: ModeOptions): Validator {
    return validatorInMode(analyzeKernel(this.ir, name), options);
  }

  /** Arguments by parameter: a number for each scalar and pointer, several for the 8-byte words and ints of a structure. */
  launch(
    name: string,
    args: readonly (number | readonly number[])[],
    grid: number | Dim3,
    block: number | Dim3,
    more: Partial<ValidatedLaunch> = {},
  ): ValidatedLaunch {
    const kernel = this.kernel(name);
    const params = new Uint8Array(kernel.parameterBytes);
    const view = new DataView(params.buffer);
    kernel.parameters.forEach(({ offset, bytes }, index) => {
      const arg = args[index] ?? 0;
      if (typeof arg !== 'number')
        arg.forEach((word, at) => view.setBigUint64(offset + 8 * at, BigInt(word), true));
      else if (bytes === 8) view.setBigInt64(offset, BigInt(arg), true);
      else view.setInt32(offset, arg, true);
    });
    const dims = (extent: number | Dim3): Dim3 => (typeof extent === 'number' ? [extent, 1, 1] : extent);
    return { params, shape: { grid: dims(grid), block: dims(block) }, ...more };
  }

  kernel(name: string): IrFunction {
    const kernel = this.ir.functions.find((fn) => fn.isEntry && fn.name === name);
    if (kernel === undefined) throw new RangeError(`${this.ir.file} has no kernel ${name}`);
    return kernel;
  }
}
