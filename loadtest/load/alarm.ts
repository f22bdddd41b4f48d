import { Worker } from 'node:worker_threads';
import { CLOSED, TURN, type AlarmMemory } from './alarmMemory.js';
import { wallNs } from './wallClock.js';

/**
 * Rings when the wall has reached a moment, some tens of microseconds late: a timer of Node's own comes a millisecond late, and
 * polling takes a core from the server that is measured.
 */
export class Alarm {
  private readonly memory: AlarmMemory = {
    control: new Int32Array(new SharedArrayBuffer(8)),
    dueNs: new Float64Array(new SharedArrayBuffer(8)),
  };
  private readonly thread: Worker;
  private turn = 0;

  onRing: () => void = () => undefined;
  /** Its thread has died: it will not ring again. */
  onFailure: (error: Error) => void = () => undefined;

  private constructor() {
    this.thread = new Worker(new URL('./alarmThread.js', import.meta.url), { workerData: this.memory });
    this.thread.on('message', (turn: number) => {
      // One that was set anew in the meantime rings later.
      if (turn === this.turn) this.onRing();
    });
    this.thread.on('error', (error) => this.onFailure(error));
  }

  /** Once its thread runs, which takes it a while. */
  static async start(): Promise<Alarm> {
    const alarm = new Alarm();
    await new Promise<void>((resolve, reject) => {
      alarm.onRing = resolve;
      alarm.onFailure = reject;
      alarm.set(wallNs());
    });
    return alarm;
  }

  /** In place of what was set before. */
  set(dueNs: number): void {
    const { control, dueNs: due } = this.memory;
    due[0] = dueNs;
    this.turn = Atomics.add(control, TURN, 1) + 1;
    Atomics.notify(control, TURN);
  }

  async close(): Promise<void> {
    const { control } = this.memory;
    Atomics.store(control, CLOSED, 1);
    Atomics.add(control, TURN, 1);
    Atomics.notify(control, TURN);
    await this.thread.terminate();
  }
}
