import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { LineSplitter, reasonOf } from '../../simulator/text/index.js';
import { openRealm } from './policyRealm.js';
import type { Realm } from './realm.js';

/** What `PolicyChild` hands over as the only argument, as JSON. */
export interface PolicyProcessArguments {
  readonly parentPid: number;
  readonly memoryMiB: number;
}

const LINE_FD = 3;
/** Of what it prints so many lines a second are passed on. */
const MOST_PRINTED = 20;

/** The policy's end of a line of JSON: the first request has the file, the others go to its realm. */
function main({ parentPid, memoryMiB }: PolicyProcessArguments): void {
  yieldMemory();
  new Worker(new URL('policyGuard.js', import.meta.url), {
    workerData: { parentPid, memoryMiB },
    name: 'policyGuard',
  }).unref();
  const socket = new Socket({ fd: LINE_FD });
  const exit = (): void => process.exit(0);
  socket.on('close', exit);
  socket.on('error', exit);
  let replies = '';
  const flush = (): void => {
    if (replies !== '') socket.write(replies);
    replies = '';
  };
  let realm: Realm | undefined;
  let [secondMs, printed] = [0, 0];
  const print = (text: string): void => {
    const nowMs = performance.now();
    if (nowMs - secondMs >= 1000) [secondMs, printed] = [nowMs, 0];
    if (printed++ < MOST_PRINTED) replies += `${JSON.stringify({ id: -1, printed: text })}\n`;
  };
  // What was thrown is not looked at: Node shows things by what they say themselves, and hands them functions of its own.
  const onLost = (): void => {
    print('a promise was rejected, and nobody heard: a policy answers at once, without async and await');
    flush();
  };
  process.on('unhandledRejection', onLost).on('uncaughtException', () => process.exit(1));
  const lines = new LineSplitter((line) => {
    if (realm === undefined) {
      const { name, text } = JSON.parse(line) as { readonly name: string; readonly text: string };
      try {
        const opened = openRealm(name, text, print);
        realm = opened;
        replies += `${opened.loaded}\n`;
      } catch (error) {
        replies += `${JSON.stringify({ id: 0, fault: { kind: 'bad_answer', message: reasonOf(error) } })}\n`;
      }
      return;
    }
    const reply = realm.call(line);
    if (reply !== undefined) replies += `${reply}\n`;
  });
  socket.setEncoding('utf8').on('data', (text: string) => {
    lines.push(text);
    flush();
  });
}

/** Where the machine runs out of memory, this process goes first. */
function yieldMemory(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Not Linux.
  }
}

main(JSON.parse(process.argv[2]) as PolicyProcessArguments);
