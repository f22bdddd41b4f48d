import type { ExecutionCounters, Executor, FaultCode, RunResult } from '../../../simulator/executor/index.js';

const CLASSES = [
  'integer',
  'float32',
  'float64',
  'special',
  'convert',
  'control',
  'globalLoad',
  'globalStore',
  'shared',
  'local',
  'constant',
  'atomic',
  'barrier',
  'warp',
] as const;
function counters(): ExecutionCounters {
  const byClass = Object.fromEntries(CLASSES.map((c) => [c, 0])) as ExecutionCounters['byClass'];
  byClass.integer = 10;
  return {
    threadInstructions: 100,
    warpInstructions: 10,
    byClass,
    globalLoadBytes: 8,
    globalStoreBytes: 8,
    sharedBytes: 0,
    blocks: 1,
  };
}
export const scaleExecutor = (): Executor => ({
  run(launch, range): RunResult {
    const p = new DataView(launch.params.buffer, launch.params.byteOffset);
    const at = (o: number): number => Number(p.getBigUint64(o, true));
    const items = p.getInt32(24, true);
    const f32 = (a: number, n: number): Float32Array => {
      const v = launch.module.space.view(a, n * 4);
      return new Float32Array(v.buffer, v.byteOffset, n);
    };
    const x = f32(at(0), 2 * items),
      k = f32(at(8), 1),
      y = f32(at(16), 2 * items);
    for (let i = range.lo * 4; i < Math.min(range.hi * 4, items); i++) {
      const bad: Record<number, FaultCode> = { 13: 'trap', 14: 'fuelExhausted', 15: 'illegalAddress' };
      const code = bad[x[2 * i]];
      if (code)
        return {
          status: 'fault',
          counters: counters(),
          fault: {
            code,
            kernel: 'scale',
            message: `${code} in scale`,
            block: [0, 0, 0],
            thread: [i, 0, 0],
            ptxFile: 'scale.ptx',
            ptxLine: 1,
          },
        };
      y[2 * i] = x[2 * i] === 16 ? Infinity : x[2 * i] * k[0];
      y[2 * i + 1] = x[2 * i + 1] * k[0];
    }
    return { status: 'done', counters: counters() };
  },
  profile: (_l, blocks) => ({
    sampledBlocks: blocks.length,
    sites: [],
    sharedRequests: 0,
    sharedWavefronts: 0,
  }),
});
