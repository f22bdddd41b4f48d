/** One of several processes that make a load together: gets its plan from the one that has started it, and tells it what it has counted. */
import { LoadError } from '../trace/index.js';
import { reasonOf } from '../../simulator/text/index.js';
import type { ToParent, ToProcess } from './loadMessages.js';
import { runLoad } from './loadRun.js';

const ending = new AbortController();
let begin: (startNs: number) => void = () => undefined;

function tell(message: ToParent): void {
  process.send?.(message);
}

process.on('message', (message: ToProcess) => {
  switch (message.kind) {
    case 'plan':
      void run(message);
      break;
    case 'start':
      begin(message.startNs);
      break;
    case 'end':
      ending.abort();
      break;
  }
});
// The one that has started it says when to end: a terminal tells all processes of Ctrl-C, and of its own end.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(1));

async function run({ plan, part }: Extract<ToProcess, { kind: 'plan' }>): Promise<void> {
  try {
    const counts = await runLoad(plan, {
      part,
      signal: ending.signal,
      ready: () =>
        new Promise((resolve) => {
          begin = resolve;
          tell({ kind: 'ready' });
        }),
      onProgress: (progress) => tell({ kind: 'progress', progress }),
    });
    tell({ kind: 'counts', image: counts.image() });
  } catch (error) {
    const isExpected = error instanceof LoadError;
    tell({ kind: 'failed', message: isExpected ? error.message : reasonOf(error) });
  }
}
