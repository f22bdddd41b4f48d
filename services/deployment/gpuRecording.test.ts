import { expect, it } from 'vitest';
import type { NodeHost } from '../../containers/runtime/index.js';
import { recordTimeline } from './gpuRecording.js';

/** Records until it is stopped. */
function recorder(): Pick<NodeHost, 'name' | 'record' | 'stopRecording'> {
  let end: (() => void) | undefined;
  return {
    name: 'node0',
    record: (_limit, sink) => {
      if (end !== undefined) return 'recording';
      sink.onText('[');
      end = () => {
        end = undefined;
        sink.onText(']');
        sink.onEnd();
      };
      return 'begun';
    },
    stopRecording: () => end?.(),
  };
}

it('a recording that nobody waits for any more ends, and others can record', async () => {
  const host = recorder();
  const gone = new AbortController();
  const first = recordTimeline(host, { seconds: 60, limit: 1000, gone: gone.signal });
  await expect(recordTimeline(host, { seconds: 0.01, limit: 1000 })).rejects.toThrow(
    "GPU node 'node0' is being recorded already; try again when that is over",
  );
  gone.abort();
  expect(await first).toBe('[]');
  expect(await recordTimeline(host, { seconds: 0.01, limit: 1000 })).toBe('[]');
  // Of one who was gone before it began.
  expect(await recordTimeline(host, { seconds: 60, limit: 1000, gone: gone.signal })).toBe('[]');
});
