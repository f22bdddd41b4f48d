import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../simulator/time/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { FrontendDouble, floats } from '../tests/frontendDouble.js';
import { VirtualNode } from '../virtualNode.js';

const SCALE = join(packageRoot(), 'containers/runtime/tests/scaleModel');

describe('a model whose kernels print', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'printing-'));
    cpSync(SCALE, folder, { recursive: true });
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.ptx')) ?? '');
    const text = readFileSync(file, 'utf8')
      .replace(
        '.visible .entry',
        `.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 told[4] = {104, 105, 10, 0};
.visible .entry`,
      )
      .replace(
        '.reg .pred',
        `.reg .b64 %told; .reg .b32 %count; mov.u64 %told, told; cvta.global.u64 %told, %told; mov.u32 %count, %tid.x;
setp.ne.u32 %p1, %count, 0; @!%p1 call (%count), vprintf, (%told, 0);
.reg .pred`,
      )
      .replace('.reg .b64 %told;', '.reg .pred %p<6>; .reg .b64 %told;')
      .replace(/\.reg \.pred\s+%p<6>;(?![^]*\.reg \.pred)/, '');
    writeFileSync(file, text);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('answers as before, and tells what they print at most once a second', () => {
    const clock = new VirtualClock();
    const node = new VirtualNode({ clock });
    const request = {
      model: 'scale',
      version: '1',
      replica: '0',
      inputType: 'floats',
      path: folder,
    } as const;
    const frontend = new FrontendDouble(node.start(request));
    clock.run();
    for (let batch = 0; batch < 3; batch++) {
      const id = frontend.ask([floats(1, 2)]);
      clock.run();
      expect(frontend.outcomes(id)).toEqual(['[2,4]']);
    }
    expect(frontend.kinds()).toEqual(['hello', 'printed', 'result', 'result', 'result']);
    expect(frontend.frames.find(({ kind }) => kind === 'printed')).toMatchObject({
      text: expect.stringMatching(/^(hi\n)+$/) as string,
    });
  });
});
