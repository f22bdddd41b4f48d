import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LaunchSpecError, runLaunchSpec } from './index.js';

/** Prints each thread's global number; with `stop` above 0 thread `stop` fails an assertion. */
const PTX = `.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.global .align 1 .b8 format[9] = {${[...Buffer.from('hi %d.%d\n')].join(', ')}};
.global .align 1 .b8 zero[1] = {0};
.visible .entry hello(.param .u32 stop)
{
.local .align 8 .b8 args[8];
.reg .pred %p<2>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; ld.param.u32 %r3, [stop];
st.local.v2.b32 [args], {%r1, %r2};
mov.u64 %rd1, args; cvta.local.u64 %rd1, %rd1; mov.u64 %rd2, format; cvta.global.u64 %rd2, %rd2;
call (%r4), vprintf, (%rd2, %rd1);
setp.eq.u32 %p1, %r3, 0; @%p1 ret;
mov.u64 %rd3, zero; cvta.global.u64 %rd3, %rd3;
call __assertfail, (%rd3, %rd3, 3, %rd3, 1);
ret;
}
`;

describe('what a launch prints', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'printed-'));
    // The format's last character ends it.
    writeFileSync(join(folder, 'hello.ptx'), PTX.replace('b8 format[9]', 'b8 format[10]'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const spec = (stop: number): unknown => ({
    ptx: 'hello.ptx',
    kernel: 'hello',
    grid: [40, 1, 1],
    block: [2, 1, 1],
    args: [{ i32: stop }],
    device: 'h200',
  });

  it('is in the result, in the order of the blocks', () => {
    const lines = Array.from({ length: 80 }, (_, i) => `hi ${Math.floor(i / 2)}.${i % 2}\n`);
    expect(runLaunchSpec(spec(0), folder).printed).toBe(lines.join(''));
  });

  it('comes with a fault', () => {
    let error: unknown;
    try {
      runLaunchSpec(spec(1), folder);
    } catch (caught) {
      error = caught;
    }
    if (!(error instanceof LaunchSpecError)) throw new Error('no refusal');
    expect(error.code).toBe('fault');
    expect(error.failure?.fault?.code).toBe('assertion');
    expect(error.printed).toBe(
      'hi 0.0\nhi 0.1\n' +
        [0, 1]
          .map((thread) => `:3: : block: [0,0,0], thread: [${thread},0,0] Assertion \`\` failed.\n`)
          .join(''),
    );
  });
});
