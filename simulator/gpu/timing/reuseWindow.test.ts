import { describe, expect, it } from 'vitest';
import type { Executor, ExecutorLaunch, TraceSink } from '../../executor/index.js';
import { farShares } from './reuseWindow.js';

/** An executor whose blocks load one word by each lane of their first warp. */
function loading(addressOf: (thread: number) => number): Executor {
  return {
    trace: (_launch, blocks, sink) => {
      for (const block of blocks) {
        sink.onBlock(block);
        sink.onInstruction(0, 0, -1, -1);
        const addresses = Float64Array.from({ length: 32 }, (_, lane) => addressOf(32 * block + lane));
        sink.onAccess(0, 0, 'global', 'load', 4, -1, addresses);
      }
    },
  } as Executor;
}

const share = (addressOf: (thread: number) => number, reach: number): number | undefined =>
  farShares(loading(addressOf), {} as ExecutorLaunch, () => 0, 0, 4096, reach / 2).get(0);

describe('what L2 cannot hold still', () => {
  it('is all of a sweep in which pieces come up again after everything else', () => {
    expect(share((thread) => (thread % 65536) * 64 + Math.floor(thread / 65536) * 4, 1024)).toBe(1);
  });

  it('is a part where the next blocks come back to the same pieces', () => {
    // 16 blocks to a column, 16 columns to a piece.
    const far = share((thread) => (thread % 512) * 8192 + Math.floor(thread / 512) * 4, 1024);
    expect(far).toBeGreaterThan(0.05);
    expect(far).toBeLessThan(0.08);
  });

  it('is what blocks side by side come back to only much later', () => {
    /** Each block uses the piece that the one before it uses so many turns later. */
    const far = (turns: number, reachTurns: number): number | undefined => {
      const trace = (_launch: ExecutorLaunch, blocks: readonly number[], sink: TraceSink): void => {
        for (const block of blocks) {
          sink.onBlock(block);
          for (let turn = 0; turn < 32; turn++) {
            const addresses = new Float64Array(32).fill(64 * (block * turns + turn));
            sink.onAccess(0, 0, 'global', 'load', 4, 1, addresses);
          }
        }
      };
      return farShares({ trace } as Executor, {} as ExecutorLaunch, () => 0, 0, 64, 64, reachTurns).get(0);
    };
    expect(far(8, 16)).toBeCloseTo(8 / 32, 5);
    expect(far(8, 4)).toBe(1);
  });

  it('is told of the whole way of first warps, which is done before the second ends the block', () => {
    const turns: (number | undefined)[] = [];
    const trace = (_launch: ExecutorLaunch, blocks: readonly number[], sink: TraceSink): void => {
      turns.push(sink.turn, blocks.length);
      sink.onBlock(0);
      for (let step = 0; step < 300; step++) sink.onInstruction(0, 0, -1, -1);
      expect(sink.hasBlock).toBe(false);
      sink.onInstruction(1, 0, -1, -1);
      expect(sink.hasBlock).toBe(true);
    };
    farShares({ trace } as Executor, {} as ExecutorLaunch, () => 0, 0, 4096, 64);
    expect(turns).toEqual([400, 128]);
  });
});
