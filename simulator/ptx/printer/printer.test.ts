import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseModule, type IrModule } from '../index.js';
import { printModule } from './index.js';

/** The IR without the lines of the text that it came from. */
function withoutLines(ir: IrModule): unknown {
  return JSON.parse(JSON.stringify(ir, (key, value: unknown) => (key === 'line' ? undefined : value)));
}

function expectIdentity(text: string, file: string): void {
  const ir = parseModule(text, file);
  const printed = printModule(ir);
  let again: IrModule;
  try {
    again = parseModule(printed, file);
  } catch (error) {
    throw new Error(
      `${file}: ${String(error)}\n${printed
        .split('\n')
        .map((line, index) => `${index + 1} ${line}`)
        .join('\n')}`,
    );
  }
  expect(withoutLines(again), file).toEqual(withoutLines(ir));
}

const root = new URL('../../../', import.meta.url);
const fixtures = ['simulator', 'containers'].flatMap((room) =>
  readdirSync(new URL(room, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ptx'))
    .map((name) => `${room}/${name}`),
);

describe('printModule', () => {
  it.each(fixtures)('prints %s as a text that parses to the same', (file) => {
    expectIdentity(readFileSync(new URL(file, root), 'utf8'), file);
  });
});
