import { Dealer } from 'zeromq';
import type { ContainerFrame, FrontendFrame } from '../../protocol/index.js';
import { PROTOCOL_VERSION } from '../../protocol/index.js';
import { laterChannel } from '../laterChannel.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';
import { channelConformance, type ChannelEnds, type ForeignWords } from '../tests/channelConformance.js';
import { ClipperServer } from './index.js';
import { uint32, uint64s } from './tests/twinContainer.js';

const TYPES = ['bytes', 'integers', 'floats', 'doubles', 'strings'] as const;

/** A container on libzmq that says what the suite has it say, in Clipper's words. */
async function overZeroMq(identity: ReplicaIdentity): Promise<ChannelEnds> {
  const server = new ClipperServer({
    nowNs: () => performance.now() * 1e6,
    firstMessageId: 1_000_000,
    complain: () => undefined,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  const later = laterChannel();
  server.watch(() => {
    const [container] = server.containers();
    if (container !== undefined) later.connect(container.open(identity.replica));
  });
  const socket = new Dealer({ linger: 0 });
  socket.connect(`tcp://127.0.0.1:${port}`);
  let sending: Promise<void> = socket.send(['', uint32(2)]);
  const post = (frames: readonly (Buffer | string)[]): void => {
    sending = sending.then(() => socket.send([...frames])).catch(() => undefined);
  };
  const messageIds: Buffer[] = [];
  let isGone = false;
  const leave = (): void => {
    isGone = true;
    void sending.then(() => socket.close());
  };
  const ends: ChannelEnds & { isClosed: boolean } = {
    channel: later.channel,
    heard: [],
    onHeard: () => undefined,
    isClosed: false,
    say: (frame) => {
      if (isGone) return;
      switch (frame.kind) {
        case 'hello':
          post([
            '',
            uint32(0),
            identity.model,
            identity.version,
            String(TYPES.indexOf(frame.inputType)),
            uint32(3),
          ]);
          return;
        case 'result': {
          const outputs = frame.results.map((result) => Buffer.from(result.ok ? result.output : ''));
          const header = uint64s(outputs.length, ...outputs.map(({ length }) => length));
          post(['', uint32(1), messageIds[frame.batchId], uint64s(header.length), header, ...outputs]);
          return;
        }
        case 'down':
          leave();
          // Nobody was there yet whose channel could tell.
          if (server.containers().length === 0) later.fail('it closed its connection');
          return;
        case 'credit':
        case 'printed':
          throw new Error(`there is no word for ${frame.kind}`);
      }
    },
    vanish: leave,
    pump: () => undefined,
    end: async () => {
      await server.close();
      if (!isGone) socket.close();
    },
  };
  const listen = async (): Promise<void> => {
    for await (const [, , type, messageId, , , , ...inputs] of socket) {
      // It is asked what it is as soon as its connection stands anew: the one before is closed.
      if (type.readUInt32LE() === 2) {
        ends.isClosed = messageId.readUInt32LE() === 1 && messageIds.length > 0;
        continue;
      }
      const batchId = messageIds.push(messageId) - 1;
      const frame: FrontendFrame = {
        kind: 'predict',
        batchId,
        items: inputs.map((bytes, id) => ({ id, bytes, budgetNs: 0 })),
      };
      ends.heard.push(frame);
      ends.onHeard(frame);
    }
  };
  void listen().catch(() => undefined);
  return ends;
}

const carriedFrame = (frame: ContainerFrame | FrontendFrame): ContainerFrame | FrontendFrame | undefined => {
  switch (frame.kind) {
    case 'hello': {
      const { kind, model, version, replica, inputType } = frame;
      return {
        kind,
        protocolVersion: PROTOCOL_VERSION,
        model,
        version,
        replica,
        inputType,
        maxBatchSize: 1024,
        credits: 1,
      };
    }
    case 'predict':
      return {
        kind: 'predict',
        batchId: frame.batchId,
        items: frame.items.map(({ bytes }, id) => ({ id, bytes, budgetNs: 0 })),
      };
    case 'result': {
      // Asked one input, a container has one output to give, and no word for a failure.
      const [result] = frame.results;
      if (frame.results.length !== 1 || !result.ok) return undefined;
      return { ...frame, results: [{ id: 0, ok: true, output: result.output }] };
    }
    case 'down':
      return { kind: 'down', reason: 'it closed its connection' };
    case 'cancel':
    case 'credit':
    case 'printed':
      return undefined;
  }
};

const WORDS: ForeignWords = {
  carried: <F extends ContainerFrame | FrontendFrame>(frame: F) => {
    const carried = carriedFrame(frame) as F | undefined;
    return carried === undefined ? undefined : WORDS.told(carried);
  },
  told: (frame) => {
    if (frame.kind === 'down') return { kind: 'down', reason: frame.reason } as typeof frame;
    if (frame.kind !== 'result') return frame;
    const { kind, batchId } = frame;
    const results = frame.results.map((result) => ({ ...result, id: 0 }));
    return { kind, batchId, results, serviceNs: 0 } as unknown as typeof frame;
  },
};

channelConformance({ name: 'to a container of Clipper', open: overZeroMq, words: WORDS });
