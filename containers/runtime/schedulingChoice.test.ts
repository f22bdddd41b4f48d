import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { GpuNode } from '../../simulator/cluster/index.js';
import { SCHEDULING_POLICY_NAMES } from '../../simulator/scheduling/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { schedulingChoice } from './schedulingChoice.js';

const folder = mkdtempSync(join(tmpdir(), 'policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('schedulingChoice', () => {
  it('takes names of policies as they are', async () => {
    expect(await schedulingChoice('killRestart')).toBe('killRestart');
    await expect(schedulingChoice('lottery')).rejects.toThrow(
      `no scheduling policy 'lottery'; there are: ${SCHEDULING_POLICY_NAMES.join(', ')}`,
    );
  });

  it("takes somebody's own from a file, and a node schedules by it", async () => {
    const path = file(
      'youngest.mjs',
      `export default () => ({
        name: 'youngest',
        decide(view) {
          const [launch] = view.launches.filter(({ next, hi }) => next < hi).reverse();
          const blocks = launch === undefined ? 0 : view.fits(launch.id);
          return blocks > 0 ? { kind: 'dispatch', launch: launch.id, blocks } : { kind: 'hold' };
        },
        snapshot: () => null,
        restore: () => undefined,
      });`,
    );
    const scheduling = await schedulingChoice(path);
    if (typeof scheduling === 'string') throw new Error(scheduling);
    expect(scheduling().name).toBe('youngest');
    const node = new GpuNode(new VirtualClock(), { gpus: ['h200'], backingBytes: 16 * 2 ** 20, scheduling });
    expect(node.reading(0).launches).toBe(0);
  });

  it('says what is wrong with a file', async () => {
    await expect(schedulingChoice(join(folder, 'none.mjs'))).rejects.toThrow(/none.mjs: it cannot be loaded/);
    await expect(schedulingChoice(file('broken.mjs', 'export default {'))).rejects.toThrow(
      /broken.mjs: it cannot be loaded/,
    );
    await expect(schedulingChoice(file('empty.mjs', ''))).rejects.toThrow(
      /empty.mjs: its default export is missing; export a function that returns a policy/,
    );
  });
});
