import { parentPort, workerData } from 'node:worker_threads';
import { GpuNode } from '../../../simulator/cluster/index.js';
import { PacedClock } from '../../../simulator/time/index.js';
import { BusyMeter } from '../busyMeter.js';
import { NodeContainers } from '../nodeContainers.js';
import { packResult, unpackPredict } from './frameCodec.js';
import type { FromWorker, NodeTimes, ToWorker } from './threadMessages.js';

/** What `GpuNodeThread` hands over. */
export interface WorkerOptions {
  readonly name: string;
  readonly gpus: readonly string[];
}

/** Waits shorter than this poll the event loop: simulated launches take microseconds, Node's timers a millisecond. */
const POLL_WITHIN_NS = 2_000_000;

/** PTX thread-instructions a block. An endless kernel holds the node up for about a second before it is stopped. */
const FUEL_PER_BLOCK = 2 ** 28;

const hostNowNs = (): number => Number(process.hrtime.bigint());

function serve(port: NonNullable<typeof parentPort>, { name, gpus }: WorkerOptions): void {
  const clock = new PacedClock({ pollWithinNs: POLL_WITHIN_NS });
  const meter = new BusyMeter(hostNowNs);
  const stopwatch = (): number => hostNowNs() / 1e9;
  const node = new GpuNode(clock, { name, gpus, fuelPerBlock: FUEL_PER_BLOCK, stopwatch });
  const containers = new NodeContainers({ clock, driver: node, gpuCount: gpus.length, meter });
  const times = (): NodeTimes => ({ ...meter.times(), clockLagNs: clock.lagNs });
  const post = (message: FromWorker): void => port.postMessage(message);

  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'start': {
        const { line, path, identity, inputType, inputLength } = message;
        const request = {
          ...identity,
          path,
          inputType,
          ...(inputLength === undefined ? {} : { inputLength }),
        };
        containers.start(line, request, {
          onFrame: (frame) => {
            if (frame.kind !== 'result') {
              post({ kind: 'frame', line, frame });
              return;
            }
            const result = packResult(line, frame, times());
            port.postMessage(result, [result.scores.buffer as ArrayBuffer]);
          },
        });
        return;
      }
      case 'predict':
        containers.onFrame(message.line, unpackPredict(message));
        return;
      case 'cancel': {
        const { batchId, itemIds } = message;
        containers.onFrame(message.line, { kind: 'cancel', batchId, itemIds });
        return;
      }
      case 'stop':
        containers.stop(message.line);
        return;
      case 'drain':
        containers.drain(() => post({ kind: 'drained' }));
        return;
      case 'report':
        post({ kind: 'times', times: times() });
        return;
    }
  });
}

if (parentPort === null) throw new Error('gpuNodeWorker runs as a worker thread only');
serve(parentPort, workerData as WorkerOptions);
