import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { VirtualClock } from '../../simulator/time/index.js';
import type { FrontendFrame } from '../protocol/index.js';
import { InProcessChannel } from './inProcessChannel.js';
import { packPredict, packResult, unpackResult, unpackSent } from './thread/frameCodec.js';
import { LineChannel } from './lineChannel.js';
import type { FromWorker, ToWorker } from './thread/threadMessages.js';
import { channelConformance, type ChannelEnds } from './tests/channelConformance.js';
import { relayProcess } from './tests/relayProcess.js';

function inProcess(): Promise<ChannelEnds> {
  const clock = new VirtualClock();
  const channel = new InProcessChannel(clock, 'channel');
  const ends = {
    channel,
    heard: [] as FrontendFrame[],
    onHeard: (_frame: FrontendFrame): void => undefined,
    isClosed: false,
    say: channel.onFrame.bind(channel),
    pump: () => {
      clock.run();
    },
    end: () => Promise.resolve(channel.close()),
  };
  channel.connect({
    batchesInFlight: 0,
    onFrame: (frame) => {
      ends.heard.push(frame);
      ends.onHeard(frame);
    },
    close: () => (ends.isClosed = true),
  });
  return Promise.resolve(ends);
}

const LINE = 7;
const TIMES = { busyHostNs: 0, busySimulatedNs: 0, clockLagNs: 0 };

/** As `GpuNodeThread` and its worker have it, the port between them being the same. */
function thread(): Promise<ChannelEnds> {
  const { port1: near, port2: far } = new MessageChannel();
  const post = (port: MessagePort, message: ToWorker | FromWorker, transfer: ArrayBufferLike[] = []): void =>
    port.postMessage(message, transfer as ArrayBuffer[]);
  const channel = new LineChannel(LINE, {
    send: (line, frame) => {
      if (frame.kind === 'cancel') post(near, { kind: 'cancel', line, frame });
      else {
        const message = packPredict(line, frame);
        post(near, message, [message.bytes.buffer]);
      }
    },
    stop: (line) => post(near, { kind: 'stop', line }),
  });
  near.on('message', (message: FromWorker) => {
    if (message.kind === 'frame') channel.deliver(message.frame);
    if (message.kind === 'result') channel.deliver(unpackResult(message));
  });
  const ends: ChannelEnds & { isClosed: boolean } = {
    channel,
    heard: [],
    onHeard: () => undefined,
    isClosed: false,
    say: (frame) => {
      if (frame.kind === 'result') post(far, packResult(LINE, frame, TIMES));
      else post(far, { kind: 'frame', line: LINE, frame });
    },
    pump: () => undefined,
    end: () => Promise.resolve(near.close()),
  };
  far.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') ends.isClosed = true;
    if (message.kind !== 'predict' && message.kind !== 'cancel') return;
    const frame = unpackSent(message);
    ends.heard.push(frame);
    ends.onHeard(frame);
  });
  return Promise.resolve(ends);
}

/** A model's process that hands its line to whoever listens on a socket. */
const RELAY = `
  import net from 'node:net';
  const line = process._getActiveHandles().find((one) => one._handle?.fd === 3);
  const side = net.connect(process.env.WINDJAMMER_RELAY);
  line.pipe(side);
  side.pipe(line);
  await new Promise(() => undefined);
`;

channelConformance({ name: 'in process', open: inProcess });
channelConformance({ name: 'to a thread', open: thread });
channelConformance({
  name: 'to a process',
  open: (identity) => relayProcess(identity, { kind: 'process', file: 'relay.mjs', text: RELAY }),
});
