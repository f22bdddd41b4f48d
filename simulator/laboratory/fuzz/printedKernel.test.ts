import { describe, expect, it } from 'vitest';
import { parseModule, printModule, type IrModule } from '../../ptx/index.js';
import { generateKernel } from './generateKernel.js';

const KERNELS = 300;

function withoutLines(ir: IrModule): string {
  return JSON.stringify(ir, (key, value: unknown) => (key === 'line' ? undefined : value));
}

describe('random kernels', () => {
  it(`print as texts that parse to the same, seeds 0 to ${KERNELS - 1}`, () => {
    for (let seed = 0; seed < KERNELS; seed++) {
      const file = `fuzz-${seed}.ptx`;
      const ir = parseModule(generateKernel(seed).text, file);
      const again = parseModule(printModule(ir), file);
      if (withoutLines(again) !== withoutLines(ir)) expect(again, `seed ${seed}`).toEqual(ir);
    }
  });
});
