/** Loaded into a server's process before its own code (`node --import`): tells on standard error what GPU nodes' threads compile. */
import { writeSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';

/** Begins each line. */
export const COMPILED = 'compiled in a GPU node:';

const options: unknown = workerData;
const isGpuNode = !isMainThread && typeof options === 'object' && options !== null && 'scheduling' in options;

if (isGpuNode) {
  WebAssembly.Module = new Proxy(WebAssembly.Module, {
    construct(target, [bytes]: [Uint8Array]) {
      writeSync(2, `${COMPILED} ${bytes.byteLength} bytes\n`);
      return new target(bytes);
    },
  });
}
