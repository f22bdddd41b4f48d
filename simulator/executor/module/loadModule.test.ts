import { describe, expect, it } from 'vitest';
import { parseModule } from '../../ptx/index.js';
import { NodeMemory } from '../memory/index.js';
import { loadModule } from './loadModule.js';

describe('tables of functions', () => {
  it('are initialised with addresses that differ, hold nothing, and keep no other kernel from loading', () => {
    const text = `.version 9.0
.target sm_90
.address_size 64
.func first() { ret; }
.func second() { ret; }
.global .align 8 .u64 table[3] = {second, first, second};
.visible .entry bystander() { ret; }`;
    const space = new NodeMemory({}).createSpace();
    const { symbols } = loadModule(parseModule(text, 'table.ptx'), space);
    const bytes = space.view(symbols.get('table') ?? 0, 24);
    const view = new DataView(bytes.buffer, bytes.byteOffset, 24);
    const [a, b, c] = [0, 8, 16].map((offset) => Number(view.getBigUint64(offset, true)));
    expect(a).toBe(c);
    expect(a).not.toBe(b);
    expect(space.find(a ?? 0)).toBeUndefined();
  });
});
