/** The thread behind an `Alarm`: sleeps until a moment, says so, and waits for the next. */
import { parentPort, workerData } from 'node:worker_threads';
import { CLOSED, TURN, type AlarmMemory } from './alarmMemory.js';
import { wallNs } from './wallClock.js';

const { control, dueNs } = workerData as AlarmMemory;
let rungTurn = -1;
while (Atomics.load(control, CLOSED) === 0) {
  const turn = Atomics.load(control, TURN);
  if (rungTurn === turn) {
    Atomics.wait(control, TURN, turn);
    continue;
  }
  const waitMs = (dueNs[0] - wallNs()) / 1e6;
  if (waitMs > 0) {
    Atomics.wait(control, TURN, turn, waitMs);
    continue;
  }
  rungTurn = turn;
  parentPort?.postMessage(turn);
}
