import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type {
  ContainerChannel,
  ContainerFrame,
  FrontendFrame,
  HelloFrame,
  PredictFrame,
} from '../../protocol/index.js';
import { PROTOCOL_VERSION } from '../../protocol/index.js';
import { comparable, frameOf } from '../../protocol/tests/arbitraryFrames.js';
import type { ReplicaIdentity } from '../replicaIdentity.js';

/** Both ends of a channel, the container's moved by the test. */
export interface ChannelEnds {
  readonly channel: ContainerChannel;
  say(frame: ContainerFrame): void;
  /** What the container has heard. */
  readonly heard: FrontendFrame[];
  /** Told of each frame as it comes, and may answer at once. */
  onHeard: (frame: FrontendFrame) => void;
  /** The frontend has closed the channel, and the container knows. */
  readonly isClosed: boolean;
  /** The container's side breaks off, where it can. */
  vanish?(): void;
  /** Lets time go on where nothing else does. */
  pump(): void;
  end(): Promise<void>;
}

export interface ChannelKind {
  readonly name: string;
  open(identity: ReplicaIdentity): Promise<ChannelEnds>;
  /** Of a way that is somebody else's, with words of its own: everything unless given. */
  readonly words?: ForeignWords;
}

/** What becomes of frames where the way has fewer words than there are fields. */
export interface ForeignWords {
  /** What arrives of a frame; undefined: there is no word for it, and it is not to be said. */
  readonly carried: <F extends ContainerFrame | FrontendFrame>(frame: F) => F | undefined;
  /** A frame that arrived, without what was not said at its other end. */
  readonly told: <F extends ContainerFrame | FrontendFrame>(frame: F) => F;
}

const EVERY_WORD: ForeignWords = { carried: (frame) => frame, told: (frame) => frame };

const SEED = 20261129;
const IDENTITY: ReplicaIdentity = { model: 'm', version: '1', replica: '0' };
const CREDITS = 100_000;
const HELLO: HelloFrame = {
  kind: 'hello',
  protocolVersion: PROTOCOL_VERSION,
  ...IDENTITY,
  inputType: 'bytes',
  maxBatchSize: 1000,
  credits: CREDITS,
};
const MIB = 1024 * 1024;
const LIMIT_MS = 30_000;

function samples<T>(of: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(of, { seed: SEED, numRuns: count });
}

/** A batch's number is the channel's affair. */
const unnumbered = (frame: FrontendFrame): FrontendFrame => ({ ...frame, batchId: 0 });

const tiny = (batchId: number): PredictFrame => ({
  kind: 'predict',
  batchId,
  items: [{ id: batchId, bytes: Uint8Array.of(batchId & 255), budgetNs: 1e9 - batchId }],
});

/** What every channel owes whoever uses it, whatever it goes through. */
export function channelConformance(kind: ChannelKind): void {
  const { carried, told } = kind.words ?? EVERY_WORD;
  const isCarried = (frame: ContainerFrame | FrontendFrame): boolean => carried(frame) !== undefined;
  const carriedOf = <F extends ContainerFrame | FrontendFrame>(all: readonly F[]): F[] =>
    all.flatMap((frame) => carried(frame) ?? []);
  describe(`a channel ${kind.name}`, () => {
    let ends: ChannelEnds;
    const frames: ContainerFrame[] = [];
    /** The frontend is inside one of the channel's calls. */
    let inside = false;
    let deliveredInside = 0;

    async function open(hello: HelloFrame | undefined = HELLO): Promise<void> {
      ends = await kind.open(IDENTITY);
      frames.length = 0;
      deliveredInside = 0;
      listen();
      if (hello === undefined) return;
      ends.say(hello);
      await until(() => frames.length > 0);
    }

    function listen(): void {
      called(() =>
        ends.channel.open({
          onFrame: (frame) => {
            if (inside) deliveredInside += 1;
            frames.push(frame);
          },
        }),
      );
    }

    function called(call: () => void): void {
      inside = true;
      call();
      inside = false;
    }

    const send = (frame: FrontendFrame): void => called(() => ends.channel.send(frame));

    async function until(isSo: () => boolean): Promise<void> {
      const startedMs = performance.now();
      for (;;) {
        ends.pump();
        if (isSo()) return;
        if (performance.now() - startedMs > LIMIT_MS) throw new Error('it did not come to that');
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }

    /** What was on its way has come, or never will. */
    async function quiet(): Promise<void> {
      for (let round = 0; round < 20; round++) {
        ends.pump();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }

    const ofKind = <K extends ContainerFrame['kind']>(wanted: K) =>
      frames.filter((frame): frame is Extract<ContainerFrame, { kind: K }> => frame.kind === wanted);

    afterEach(async () => {
      expect(deliveredInside).toBe(0);
      await ends.end();
    });

    it('carries every field of a hello, which comes first', async () => {
      for (const [index, hello] of samples(frameOf('hello'), 4).entries()) {
        if (index > 0) await ends.end();
        const said = { ...hello, ...IDENTITY, protocolVersion: PROTOCOL_VERSION };
        await open(said);
        const credit = { kind: 'credit', credits: 3 } as const;
        if (isCarried(credit)) ends.say(credit);
        const arrives = carriedOf([said, credit]);
        await until(() => frames.length === arrives.length);
        expect(comparable(frames.map(told))).toEqual(comparable(arrives));
      }
    });

    it('carries every field of the frontend’s frames, budgets as they are, in order', async () => {
      await open();
      const predicts = samples(frameOf('predict'), 60);
      const cancels = samples(frameOf('cancel'), 60);
      const sent = predicts.flatMap((predict, index): FrontendFrame[] => [
        { ...predict, batchId: index },
        { ...cancels[index], batchId: index },
      ]);
      for (const frame of sent) send(frame);
      const arrives = carriedOf(sent);
      await until(() => ends.heard.length >= arrives.length);
      expect(comparable(ends.heard.map(unnumbered).map(told))).toEqual(comparable(arrives.map(unnumbered)));
      // A batch may get another number on its way, and its cancellation gets the same.
      const each = arrives.length / predicts.length;
      const pairs = predicts.map((_, index) => [
        ends.heard[each * index],
        ends.heard[each * (index + 1) - 1],
      ]);
      expect(pairs.filter(([predict, cancel]) => predict.batchId !== cancel.batchId)).toEqual([]);
      expect(new Set(pairs.map(([predict]) => predict.batchId)).size).toBe(predicts.length);
    });

    it('carries every field of the container’s frames, in order', async () => {
      await open();
      const results = samples(frameOf('result'), 60);
      const printed = samples(frameOf('printed'), 60);
      const credits = samples(frameOf('credit'), 60);
      results.forEach((_, batchId) => send(tiny(batchId)));
      await until(() => ends.heard.length === results.length);
      const said = results.flatMap((result, index): ContainerFrame[] => {
        const asked = { ...result, batchId: ends.heard[index].batchId };
        const all = [printed[index], asked, credits[index]].filter(isCarried);
        for (const frame of all) ends.say(frame);
        return carriedOf(all).map((frame) =>
          frame.kind === 'result' ? { ...frame, batchId: index } : frame,
        );
      });
      await until(() => frames.length > said.length);
      expect(said.length).toBeGreaterThan(0);
      expect(comparable(frames.slice(1).map(told))).toEqual(comparable(said));
    });

    it('keeps what comes before it is opened, and nothing comes inside its calls', async () => {
      ends = await kind.open(IDENTITY);
      frames.length = 0;
      ends.onHeard = ({ batchId }) => ends.say({ kind: 'result', batchId, results: [], serviceNs: 1 });
      ends.say(HELLO);
      const printed = ['early', 'late'].map((text) => ({ kind: 'printed', text }) as const).filter(isCarried);
      printed.slice(0, 1).forEach((frame) => ends.say(frame));
      await quiet();
      listen();
      printed.slice(1).forEach((frame) => ends.say(frame));
      for (let batchId = 0; batchId < 5; batchId++) send(tiny(batchId));
      await until(() => ofKind('result').length === 5);
      expect(frames[0].kind).toBe('hello');
      expect(ofKind('printed')).toEqual(printed);
      expect(ofKind('result').map(({ batchId }) => batchId)).toEqual([0, 1, 2, 3, 4]);
    });

    it('keeps 10,000 tiny frames in order, both ways', async () => {
      await open();
      ends.onHeard = ({ batchId }) => ends.say({ kind: 'result', batchId, results: [], serviceNs: 1 });
      for (let batchId = 0; batchId < 10_000; batchId++) {
        if (batchId % 500 === 0) await until(() => true);
        send(tiny(batchId));
      }
      await until(() => ofKind('result').length === 10_000);
      const inputs = ends.heard.map((frame) => (frame.kind === 'predict' ? frame.items[0].bytes[0] : -1));
      const inOrder = Array.from({ length: 10_000 }, (_, index) => index);
      expect(inputs).toEqual(inOrder.map((index) => index & 255));
      expect(ofKind('result').map(({ batchId }) => batchId)).toEqual(inOrder);
    });

    it('carries inputs of 60 MiB, and an answer of 20 MiB', async () => {
      await open();
      const bytes = new Uint8Array(20 * MIB);
      for (let at = 0; at < bytes.length; at += 4099) bytes[at] = at;
      const items = [0, 1, 2].map((id) => ({ id, bytes, budgetNs: 5 }));
      send({ kind: 'predict', batchId: 1, items });
      send(tiny(2));
      await until(() => ends.heard.length === 2);
      const [big, small] = ends.heard;
      if (big.kind !== 'predict' || small.kind !== 'predict') throw new Error('no predict');
      // One line keeps its order, large or not.
      expect(Array.from(small.items[0].bytes)).toEqual([2]);
      for (const item of big.items) expect(Buffer.compare(item.bytes, bytes)).toBe(0);
      expect(bytes).toHaveLength(20 * MIB);
      const output = 'a'.repeat(20 * MIB);
      ends.say({
        kind: 'result',
        batchId: big.batchId,
        serviceNs: 1,
        results: [0, 1, 2].map((id) => ({ id, ok: true, output: id === 0 ? output : '' })),
      });
      await until(() => ofKind('result').length === 1);
      const [answer] = ofKind('result')[0].results;
      expect(answer.ok && answer.output.length).toBe(output.length);
    });

    it('goes down once, with the reason, and carries nothing more', async () => {
      await open();
      send(tiny(1));
      await until(() => ends.heard.length === 1);
      const down = { kind: 'down', reason: 'it broke' } as const;
      ends.say(down);
      ends.say({ kind: 'down', reason: 'again' });
      ends.say({ kind: 'result', batchId: ends.heard[0].batchId, results: [], serviceNs: 1 });
      await until(() => ofKind('down').length > 0);
      send(tiny(2));
      await quiet();
      expect(frames.slice(1)).toEqual([carried(down)]);
      expect(ends.heard).toHaveLength(1);
    });

    it('tells of a container that could not start', async () => {
      ends = await kind.open(IDENTITY);
      frames.length = 0;
      const down = { kind: 'down', reason: 'no such model' } as const;
      ends.say(down);
      await quiet();
      listen();
      await until(() => frames.length > 0);
      await quiet();
      expect(frames.map(told)).toEqual([carried(down)]);
    });

    it('is closed during a batch: the container hears of it, and nothing of it arrives', async () => {
      await open();
      send(tiny(1));
      await until(() => ends.heard.length === 1);
      called(() => ends.channel.close());
      ends.say({ kind: 'result', batchId: ends.heard[0].batchId, results: [], serviceNs: 1 });
      await until(() => ends.isClosed);
      send(tiny(2));
      called(() => ends.channel.close());
      await quiet();
      expect(frames).toHaveLength(1);
      expect(ends.heard.filter(({ kind: heard }) => heard === 'predict')).toHaveLength(1);
    });

    it('goes down once when its container vanishes', async () => {
      await open();
      if (ends.vanish === undefined) return;
      send(tiny(1));
      await until(() => ends.heard.length === 1);
      ends.vanish();
      await until(() => ofKind('down').length > 0);
      send(tiny(2));
      await quiet();
      expect(frames.map((frame) => frame.kind)).toEqual(['hello', 'down']);
    });
  });
}
