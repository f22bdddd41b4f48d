import {
  emptyCounters,
  type BlockRange,
  type ExecutorLaunch,
  type Executor,
  type RunResult,
} from '../../executor/index.js';
import type { AccessProfile } from '../../executor/testing/index.js';

/** PTX of the kernels that the fake knows: `add(p, n)` adds n to one u32 a block, `bad(p)` faults in block 3. */
export const FAKE_PTX = `
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 n) {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  ld.global.u32 %r2, [%rd1];
  add.s32 %r2, %r2, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry bad(.param .u64 p) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ret;
}
`;

/** Runs the two kernels above without compiling anything; each block claims `warpInstructions` of work. */
export class FakeExecutor implements Executor {
  runs: { kernel: string; range: BlockRange }[] = [];

  constructor(private readonly warpInstructions = (_block: number): number => 4000) {}

  run(launch: ExecutorLaunch, range: BlockRange): RunResult {
    this.runs.push({ kernel: launch.kernel.name, range });
    const counters = emptyCounters();
    const params = new DataView(launch.params.buffer, launch.params.byteOffset, launch.params.byteLength);
    const address = Number(params.getBigUint64(0, true));
    for (let block = range.lo; block < range.hi; block++) {
      if (launch.kernel.name === 'bad' && block === 3) {
        return {
          status: 'fault',
          counters,
          fault: {
            code: 'illegalAddress',
            kernel: 'bad',
            message: 'bad: block 3',
            block: [3, 0, 0],
            thread: [0, 0, 0],
            ptxFile: launch.module.ir.file,
            ptxLine: 16,
          },
        };
      }
      if (launch.kernel.name === 'add') {
        const bytes = launch.module.space.view(address + 4 * block, 4);
        const view = new DataView(bytes.buffer, bytes.byteOffset, 4);
        view.setUint32(0, (view.getUint32(0, true) + params.getUint32(8, true)) >>> 0, true);
      }
      const instructions = this.warpInstructions(block);
      counters.blocks += 1;
      counters.warpInstructions += instructions;
      counters.threadInstructions += instructions * 32;
      counters.byClass.integer += instructions;
    }
    return { status: 'done', counters };
  }

  profile(_launch: ExecutorLaunch, blocks: readonly number[]): AccessProfile {
    const requests = 100 * blocks.length;
    return {
      sampledBlocks: blocks.length,
      sites: [
        {
          ptxLine: 7,
          kind: 'load',
          bytesPerThread: 4,
          requests,
          sectors: requests * 4,
          distinctSectors: requests * 4,
        },
      ],
      sharedRequests: 0,
      sharedWavefronts: 0,
    };
  }
}
