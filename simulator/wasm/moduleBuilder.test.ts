import { describe, expect, it } from 'vitest';
import { FunctionBuilder, ModuleBuilder } from './index.js';

function compile(add: (module: ModuleBuilder) => void): Record<string, (...values: number[]) => number> {
  const builder = new ModuleBuilder(4);
  add(builder);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 4, shared: true });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(builder.finish()), { node: { memory } });
  return instance.exports as Record<string, (...values: number[]) => number>;
}

describe('ModuleBuilder', () => {
  it('writes loops, branches by label and calls', () => {
    const exports = compile((module) => {
      const square = new FunctionBuilder(['i32'], ['i32']);
      square.get(0).get(0).op('i32Mul');
      const squareIndex = module.add(square);
      const sum = new FunctionBuilder(['i32'], ['i32']);
      const total = sum.local('i32');
      const out = sum.block();
      const again = sum.loop();
      sum.get(0).op('i32Eqz').brIf(out);
      sum.get(total).get(0).call(squareIndex).op('i32Add').set(total);
      sum.get(0).i32(1).op('i32Sub').set(0).br(again).end().end().get(total);
      module.add(sum, 'sum');
    });
    expect(exports['sum']?.(10)).toBe(385);
  });

  it.each([0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 2 ** 31 - 1, -(2 ** 31)])(
    'encodes the constant %d in 32 and 64 bits',
    (value) => {
      const exports = compile((module) => {
        const f = new FunctionBuilder([], ['i32']);
        f.i32(value).i64(value).op('i32WrapI64').op('i32Eq');
        module.add(f, 'f');
        const g = new FunctionBuilder([], ['f64']);
        g.i64(value * 4096).op('f64ConvertI64S');
        module.add(g, 'g');
      });
      expect(exports['f']?.()).toBe(1);
      expect(exports['g']?.()).toBe(value * 4096);
    },
  );

  it('refuses blocks left open', () => {
    const f = new FunctionBuilder([], []);
    f.block();
    expect(() => f.finish()).toThrow(RangeError);
  });
});
