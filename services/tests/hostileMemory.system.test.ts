import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedProcess } from './servedProcess.js';

const MIB = 1024 * 1024;
const BUFFERED_MIB = 64;

/** What a server may take beyond the memory that bodies may: garbage, and memory that the system gets back late. */
const MORE_MIB = 256;

const CLIENTS = 24;

let served: ServedProcess;
let idleMib: number;
beforeAll(async () => {
  served = await ServedProcess.start(['--ephemeral', '--max-buffered-mib', String(BUFFERED_MIB)]);
  for (let at = 0; at < 200; at++) await small(at);
  idleMib = residentMib();
});
afterAll(() => served.end('SIGKILL'));

function residentMib(): number {
  const status = readFileSync(`/proc/${served.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

async function small(value: number): Promise<number> {
  const response = await fetch(`${served.query}/noop/predict`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"input":[${value}]}`,
  });
  await response.arrayBuffer();
  return response.status;
}

/** A client that sends a part of a body and no more. */
class Stalled {
  /** What it was answered. */
  answer = '';
  readonly socket: Socket;
  readonly isSent: Promise<unknown>;

  constructor(head: string, body: Buffer) {
    this.socket = connect(Number(new URL(served.query).port), '127.0.0.1');
    this.socket.on('error', () => undefined);
    this.socket.on('data', (chunk: Buffer) => (this.answer += chunk.toString('latin1')));
    this.socket.write(head);
    this.isSent = new Promise<void>((resolve) => {
      this.socket.write(body, () => resolve());
      this.socket.once('close', () => resolve());
    });
  }
}

const head = (type: string, framing: string) =>
  `POST /noop/predict HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${framing}\r\n\r\n`;

/** The most that the server takes until something has happened, while small queries are answered. */
async function peakUntil(happened: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = happened.then(() => (isOver = true));
  let peak = 0;
  for (let at = 0; !isOver || at < 20; at++) {
    expect(await small(at)).toBe(200);
    peak = Math.max(peak, residentMib());
  }
  await over;
  return peak;
}

describe.runIf(process.platform === 'linux')('what clients that stall take of the memory', () => {
  it.each([
    ['application/json', Buffer.from(`{"input":"${'a'.repeat(15 * MIB)}`)],
    ['application/octet-stream', Buffer.alloc(15 * MIB, 1)],
  ])('is bounded, and small queries are answered: 15 MiB of %s', { timeout: 120_000 }, async (type, body) => {
    const clients = Array.from(
      { length: CLIENTS },
      () => new Stalled(head(type, 'Content-Length: 16000000'), body),
    );
    const peak = await peakUntil(Promise.all(clients.map(({ isSent }) => isSent)));
    console.log(`${type}: ${idleMib.toFixed(0)} MiB before, at most ${peak.toFixed(0)} MiB`);
    expect(peak).toBeLessThan(idleMib + BUFFERED_MIB + MORE_MIB);
    const refused = clients.filter(({ answer }) => answer.startsWith('HTTP/1.1 503'));
    expect(refused.length).toBeGreaterThan(CLIENTS / 2);
    for (const { answer } of refused) expect(answer.toLowerCase()).toContain('\r\nretry-after: 1\r\n');
    // Whoever sends all of it gets the place of those that sent nothing for seconds.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const whole = new Stalled(head(type, `Content-Length: ${body.length + 2}`), body);
    await whole.isSent;
    whole.socket.write('"}');
    while (whole.answer === '') await once(whole.socket, 'data');
    expect(whole.answer).not.toContain('too_much_buffered');
    for (const { socket } of [...clients, whole]) socket.destroy();
  });

  it('is bounded for a body of 400,000 chunks of one byte', { timeout: 120_000 }, async () => {
    const before = residentMib();
    const chunks = `d\r\n{"input":[1],\r\n${'1\r\n \r\n'.repeat(400_000)}7\r\n"z":1 }\r\n0\r\n\r\n`;
    const client = new Stalled(head('application/json', 'Transfer-Encoding: chunked'), Buffer.from(chunks));
    const peak = await peakUntil(once(client.socket, 'data'));
    console.log(`chunks of one byte: ${before.toFixed(0)} MiB before, at most ${peak.toFixed(0)} MiB`);
    expect(client.answer).toMatch(/^HTTP\/1.1 200/);
    expect(peak).toBeLessThan(before + MORE_MIB / 4);
    client.socket.destroy();
  });
});
