import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lowerModule, parseModule, printModule, PtxParseError } from './index.js';

/**
 * What ptxas of CUDA 13.0 says of declarations, `== version target` and below it a text a line: `+` taken, with the bytes
 * that it gives variables; `~` taken there, and refused here as unsupported; `-` refused.
 */
const fixture = readFileSync(new URL('fixtures/declared.txt', import.meta.url), 'utf8').trimEnd();

interface Judged {
  readonly verdict: string;
  readonly text: string;
  /** Name of a variable → its bytes in hexadecimal. */
  readonly bytes: ReadonlyMap<string, string>;
}

const groups = fixture.split(/^== /m).flatMap((part) => {
  const [head, ...lines] = part.split('\n').filter((line) => line !== '');
  if (head === undefined) return [];
  const [version = '', target = ''] = head.split(' ');
  const addressSize = Number(version) < 2.3 ? '' : '.address_size 64\n';
  const header = `.version ${version}\n.target ${target}\n${addressSize}`;
  return [[head, lines.map((line) => judged(header, line))] as const];
});

function judged(header: string, line: string): Judged {
  const [text = '', bytes = ''] = line.slice(2).split(/ => ?/);
  const pairs = bytes.split(' ').flatMap((each): [string, string][] => {
    const [name = '', hex = ''] = each.split('=');
    return name === '' ? [] : [[name, hex]];
  });
  return { verdict: line.charAt(0), text: header + text, bytes: new Map(pairs) };
}

/** What becomes of a text here: the fixture's sign, and why where it is not taken. */
function outcome(text: string): { readonly verdict: string; readonly reason?: string } {
  try {
    const module = parseModule(text, 'd.ptx');
    lowerModule(module);
    const refusal = module.functions.find((fn) => fn.refusal !== undefined)?.refusal;
    return refusal === undefined
      ? { verdict: '+' }
      : { verdict: '~', reason: `${refusal.instruction}: ${refusal.reason}` };
  } catch (error) {
    if (!(error instanceof PtxParseError)) throw error;
    return { verdict: error.code === 'unsupported' ? '~' : '-', reason: error.message };
  }
}

function bytesOf(text: string, name: string): string {
  const variable = parseModule(text, 'd.ptx').variables.find((each) => each.name === name);
  const bytes = Buffer.alloc(variable?.bytes ?? 0);
  bytes.set(variable?.initial ?? []);
  return bytes.toString('hex');
}

describe.each(groups)('declarations of PTX %s', (_, texts) => {
  it('are taken and refused as the assembler does', () => {
    const wrong = texts.filter(({ verdict, text }) => {
      const found = outcome(text);
      // What runs on no card of ours may be refused as more than is supported.
      return !(verdict === found.verdict || (verdict === '-' && found.verdict === '~'));
    });
    expect(
      wrong.map(({ verdict, text }) => `${verdict} ${text}: ${outcome(text).reason ?? 'taken'}`),
    ).toEqual([]);
  });

  it('give variables the bytes that the assembler gives them, and again when printed', () => {
    for (const { verdict, text, bytes } of texts) {
      if (verdict !== '+') continue;
      const again = printModule(parseModule(text, 'd.ptx'));
      for (const [name, hex] of bytes)
        for (const each of [text, again])
          expect(`${each}\n${name} ${bytesOf(each, name)}`).toBe(`${each}\n${name} ${hex}`);
    }
  });

  it('are refused with the line and what would be taken', () => {
    for (const { verdict, text } of texts) {
      if (verdict === '+') continue;
      const lines = text.split('\n').length;
      const { reason = '' } = outcome(text);
      if (reason.startsWith('d.ptx'))
        expect(reason).toMatch(new RegExp(`^d\\.ptx:${lines}: expected \\S.*, found `, 's'));
      else expect(reason).toMatch(/\S: \S/);
    }
  });
});
