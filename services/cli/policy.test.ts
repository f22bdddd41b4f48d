import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { fileText } from '../policyFiles/tests/fileText.js';
import { failureText } from './commandError.js';
import { windjammerProgram } from './program.js';

const EXAMPLE = new URL('../../docs/examples/policies/softmax.mjs', import.meta.url).pathname;

describe('windjammer policy', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-policy-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function run(...args: readonly string[]): Promise<string> {
    let output = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      output += String(chunk);
      return true;
    });
    try {
      await (await windjammerProgram(args)).parseAsync([...args], { from: 'user' });
    } catch (thrown) {
      output += `FAILED ${failureText(thrown)}`;
    }
    vi.restoreAllMocks();
    return output;
  }

  async function tested(text: string, ...more: readonly string[]): Promise<string> {
    const file = join(folder, 'own.mjs');
    writeFileSync(file, text);
    return run('policy', 'test', file, ...more);
  }

  it('lists what there is', async () => {
    expect(await run('policy', 'list')).toMatch(/^linucb +.*features/m);
  });

  it('finds that the example of the documentation keeps all rules', async () => {
    const output = await run('policy', 'test', EXAMPLE, '--other-parameters', '{"temperature": 0.5}');
    expect(output).not.toMatch(/BROKEN|FAILED/);
    expect(output.match(/^ok /gm)?.length).toBeGreaterThan(10);
    expect(output).toMatch(/the loss 'clock' is a number from 0 to 1/);
    expect(output).toMatch(/select takes \d+ µs, observe \d+ µs/);
  });

  it.each<[string, string, RegExp[]]>([
    [
      'shares',
      fileText({ shares: 'if (state.learned > 2) return new Map(state.arms.map((arm) => [arm, 0.7]));' }),
      [/BROKEN +shares are from 0 to 1/, /counterexample: \[.*"kind":"feedback"/, /fix: let `shares` divide/],
    ],
    [
      'a draw that is kept',
      `let last = 0;\n${fileText({ select: 'last += 1; return { arms: [state.arms[last % state.arms.length]].filter(Boolean), propensity: 1 };' })}`,
      [/BROKEN +select draws by the query alone/, /the same query again/],
    ],
    [
      'a state that is none',
      fileText({ observe: 'return { ...state, learned: new Date };' }),
      [/BROKEN/, /Date is not there/],
    ],
    [
      'a loop',
      fileText({ observe: 'if (feedback.loss > 1) for (;;);' }),
      [/BROKEN/, /observe did not return within 1 s: it loops/],
    ],
    [
      'restore',
      fileText({}),
      [/BROKEN +restore refuses what is no state of its own/, /no PolicyError was thrown/],
    ],
    [
      'a loss',
      `${fileText({})}\nexport const losses = { bad: (output) => Number(output) };`,
      [/BROKEN +the loss 'bad'/, /counterexample: \{"output":/],
    ],
  ])('says what breaks %s, with a counterexample and the fix, and fails', async (_, text, said) => {
    const output = await tested(text);
    for (const one of said) expect(output).toMatch(one);
    expect(output).toMatch(/FAILED own\.mjs: \d+ of \d+ rules are not kept/);
  });

  it('prints verdicts as JSON', async () => {
    const output = await run('policy', 'test', EXAMPLE, '--json');
    expect(JSON.parse(output)).toMatchObject({ file: 'softmax.mjs', policy: 'softmax' });
  });

  it('says what is no policy', async () => {
    expect(await tested('export default 1')).toMatch(/FAILED own\.mjs: it has no default export/);
    expect(await run('policy', 'test', '/nowhere.mjs')).toMatch(
      /FAILED cannot read the policy file \/nowhere/,
    );
    expect(await run('policy', 'test', '/dev/zero')).toMatch(
      /FAILED cannot read the policy file \/dev\/zero: it is no file/,
    );
    expect(await tested('x'.repeat(800_000))).toMatch(
      /it has 800000 bytes, and a policy file has 262144 characters at most/,
    );
  });
});
