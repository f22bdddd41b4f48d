/** The thread of a store's files: opens them, and then does one after the other what it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import { reasonOf } from '../../../simulator/text/index.js';
import { StoreError } from '../storeError.js';
import { faultOf, tried } from './faultOf.js';
import { StoreFiles, type Put } from './storeFiles.js';
import type { StoreTask, StoreThreadData, TaskOutcome } from './messages.js';

const { directory, isReadOnly, opened, port } = workerData as StoreThreadData;

let files: StoreFiles | undefined;
try {
  files = new StoreFiles(directory, isReadOnly);
  port.postMessage(files.content());
} catch (error) {
  const message = reasonOf(error);
  port.postMessage({ code: error instanceof StoreError ? error.code : 'unusable', message });
}
Atomics.store(opened, 0, 1);
Atomics.notify(opened, 0);

/** Tasks are promises of a chain: the library closes files asynchronously. */
let last: Promise<void> = Promise.resolve();
if (files !== undefined) {
  const ours = files;
  parentPort?.on('message', (task: StoreTask) => {
    last = last.then(() => act(ours, task)).then((outcome) => parentPort?.postMessage(outcome));
  });
}

async function act(ours: StoreFiles, task: StoreTask): Promise<TaskOutcome> {
  const { id } = task;
  try {
    if (task.kind === 'commit') await ours.commit(task.puts, task.marks);
    else if (task.kind === 'read') return { id, texts: ours.read(task.keys) };
    else if (task.kind === 'slice') return { id, entries: ours.slice(task.folder, task.from) };
    else if (task.kind === 'trial') {
      ours.checkPlace();
      // What a plain file cannot do, LMDB need not try: it writes about each failure on standard error.
      const fault = tried(ours.directory, task.bytes);
      if (fault !== undefined) return { id, fault };
      await ours.trial(task.bytes);
    } else {
      await ours.close();
      parentPort?.close();
    }
    return { id };
  } catch (error) {
    const bytes =
      task.kind === 'commit' ? sizeOf(task.puts, task.marks.made) : task.kind === 'trial' ? task.bytes : 0;
    return { id, fault: faultOf(ours.directory, error, bytes), bytes };
  }
}

/** Of a store's pages that change with a key: its own, and those of the tree above it. */
const PAGES_BYTES = 32_768;

function sizeOf(puts: readonly Put[], marks: readonly string[]): number {
  const ofPuts = puts.reduce((bytes, [, entry]) => bytes + JSON.stringify(entry ?? null).length, PAGES_BYTES);
  return marks.reduce((bytes, mark) => bytes + mark.length, ofPuts);
}
