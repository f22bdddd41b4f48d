import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { runGpuCommand } from './tests/gpuCommand.js';

const blur = fileURLToPath(new URL('../../docs/examples/blur/blur.json', import.meta.url));

describe('windjammer gpu run --policy FILE', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'windjammer-policy-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => vi.restoreAllMocks());

  it.each([
    ['throw new Error("boom")', /^FAILED --policy: policy 'mine': decide threw: boom$/m],
    ['return null', /^FAILED --policy: policy 'mine': decide returned null; return an object with a kind/m],
    [
      'return { kind: "kill", launch: 7 }',
      /^FAILED --policy: policy 'mine': kill: launch is 7, which is not/m,
    ],
    [
      'return view.launches.length ? { kind: "save", launch: view.launches[0].id } : { kind: "hold" }',
      /^FAILED --policy: save: launch \d+ \('blur'\) has no blocks on the SMs/m,
    ],
    [
      'return { kind: "hold" }',
      /^FAILED --policy: policy 'mine' holds, .*: launch \d+ \('blur', context 1\) was given 0 of its 8 blocks, and waits; dispatch/m,
    ],
  ])('tells what it did wrong: %s', async (body, message) => {
    const file = join(folder, `${Buffer.from(body).toString('hex').slice(0, 40)}.mjs`);
    writeFileSync(
      file,
      `export default () => ({ name: 'mine', preempts: true, decide(view) { ${body} }, snapshot: () => null, restore() {} });`,
    );
    expect(await runGpuCommand('run', blur, '--policy', file)).toMatch(message);
  });
});
