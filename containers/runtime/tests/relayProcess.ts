import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFrame, FrameReader, type FrontendFrame } from '../../protocol/index.js';
import { ProcessHost } from '../process/index.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import type { ChannelEnds } from './channelConformance.js';

/** A model whose process hands its line to whoever listens on the socket that `WINDJAMMER_RELAY` names. */
export interface RelayModel {
  readonly kind: 'process' | 'python';
  readonly file: string;
  readonly text: string;
}

/** A channel to a process of its own, whose end of the line the test has. */
export async function relayProcess(
  identity: ReplicaIdentity,
  { kind, file, text }: RelayModel,
): Promise<ChannelEnds> {
  const folder = mkdtempSync(join(tmpdir(), 'windjammer-relay-'));
  const path = join(folder, file);
  writeFileSync(path, text);
  const address = join(folder, 'side');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(address, resolve));
  const dialled = new Promise<Socket>((resolve) => server.once('connection', resolve));
  process.env.WINDJAMMER_RELAY = address;
  const host = new ProcessHost();
  const channel = host.start({ kind, ...identity, path, environment: ['WINDJAMMER_RELAY'] });
  const side = await dialled;
  const ends: ChannelEnds & { isClosed: boolean } = {
    channel,
    heard: [],
    onHeard: () => undefined,
    isClosed: false,
    say: (frame) => {
      if (side.writable) side.write(encodeFrame(frame));
    },
    vanish: () => host.pids().forEach((pid) => process.kill(pid, 'SIGKILL')),
    pump: () => undefined,
    end: async () => {
      await new Promise<void>((resolve) => host.close(resolve));
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
  const reader = new FrameReader((frame) => {
    ends.heard.push(frame as FrontendFrame);
    ends.onHeard(frame as FrontendFrame);
  });
  side.on('data', (piece) => reader.push(piece));
  side.on('error', () => undefined);
  side.on('close', () => (ends.isClosed = true));
  return ends;
}
