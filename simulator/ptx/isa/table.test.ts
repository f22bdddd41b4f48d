import { describe, expect, it } from 'vitest';
import {
  endsBlock,
  endsThread,
  isa,
  isAccess,
  isaRows,
  onlyComputes,
  supportedOpcodes,
  writesMemory,
} from './index.js';

const rows = [...isaRows];

describe('the table of instructions', () => {
  it('says of every opcode what runs of it, or why nothing does', () => {
    expect(rows.filter(([, { forms, formless }]) => forms.length > 0 === (formless !== undefined))).toEqual(
      [],
    );
  });

  it('has a cost for whatever runs', () => {
    expect(supportedOpcodes().filter((opcode) => isa(opcode).cost === 'other')).toEqual([]);
  });

  it('tells since when each form is there', () => {
    const told = rows.flatMap(([, { forms }]) => forms.map(({ since }) => `${since.ptx} sm_${since.target}`));
    expect(told.length).toBeGreaterThan(200);
    expect(told.filter((text) => !/^\d\.\d sm_\d{2,3}$/.test(text))).toEqual([]);
  });

  it('lets what computes touch neither memory, nor other threads, nor control', () => {
    for (const [opcode, { effects }] of rows.filter(([name]) => onlyComputes(name)))
      expect([opcode, effects.reads, effects.writes, effects.meets, effects.control]).toEqual([
        opcode,
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
  });

  it('tells what an access writes by what it says of memory', () => {
    for (const [opcode, { effects }] of rows.filter(([name]) => isAccess(name)))
      expect([opcode, writesMemory(opcode)]).toEqual([opcode, effects.writes !== undefined]);
  });

  it('ends blocks where threads end, branch or stop', () => {
    const ends = rows.map(([opcode]) => opcode).filter(endsBlock);
    expect(ends.sort()).toEqual(['bra', 'brkpt', 'brx', 'exit', 'ret', 'trap']);
    expect(ends.filter(endsThread)).toEqual(['exit', 'ret', 'trap']);
  });

  it('takes what has no row for what may do anything', () => {
    const { effects, forms, pointers } = isa('frobnicate');
    expect([effects.kind, effects.reads, effects.writes, pointers, forms.length]).toEqual([
      'unknown',
      'any',
      'any',
      'any',
      0,
    ]);
    expect(supportedOpcodes()).not.toContain('frobnicate');
  });
});
