import { Dealer } from 'zeromq';

/** Clipper's numbers of input types. */
export const CODES = { bytes: 0, integers: 1, floats: 2, doubles: 3, strings: 4 } as const;

export interface TwinOptions {
  readonly port: number;
  readonly model: string;
  readonly version: string;
  readonly inputType: keyof typeof CODES;
  /** Answers a batch; undefined: never. A throw ends the container. */
  readonly predict: (inputs: readonly Buffer[]) => readonly string[] | undefined;
  /** What it says that it speaks; null: nothing, as the first containers did. */
  readonly rpcVersion?: number | null;
  /** How long it waits for a message before it sends a heartbeat; 5 s in Clipper's containers. */
  readonly pollMs?: number;
}

/**
 * What a container of Clipper does on its side of the RPC, on the ZeroMQ that such containers are built with. It is written apart
 * from the server's code: the two agree because both have the protocol right.
 */
export class TwinContainer {
  /** In order: `heartbeat` and `metadata` that it has sent, `alive` and `asked` that it has heard, `batch 3`. */
  readonly events: string[] = [];
  /** What it prints of messages in another version. */
  readonly errors: string[] = [];
  /** Why it ended by itself. */
  failure: unknown;
  readonly ended: Promise<void>;
  private readonly socket = new Dealer({ linger: 0 });
  private isStopped = false;

  constructor(private readonly options: TwinOptions) {
    this.socket.connect(`tcp://127.0.0.1:${options.port}`);
    this.ended = this.run().catch((error: unknown) => {
      if (!this.isStopped) this.failure = error;
      this.stop();
    });
  }

  stop(): void {
    this.isStopped = true;
    this.socket.close();
  }

  /** Any frames, behind the empty one. */
  say(...frames: Buffer[]): Promise<void> {
    return this.socket.send(['', ...frames]);
  }

  /** Frames as they are. */
  sayRaw(frames: readonly (Buffer | string)[]): Promise<void> {
    return this.socket.send([...frames]);
  }

  answer(messageId: Buffer, outputs: readonly string[]): Promise<void> {
    const bodies = outputs.map((output) => Buffer.from(output));
    const header = uint64s(bodies.length, ...bodies.map(({ length }) => length));
    return this.say(uint32(1), messageId, uint64s(header.length), header, ...bodies);
  }

  private async run(): Promise<void> {
    const { pollMs = 5000 } = this.options;
    this.socket.receiveTimeout = pollMs;
    await this.heartbeat();
    while (!this.isStopped) {
      const frames = await this.received();
      if (frames === undefined) await this.heartbeat();
      else await this.onMessage(frames);
    }
  }

  private async received(): Promise<readonly Buffer[] | undefined> {
    try {
      return await this.socket.receive();
    } catch (error) {
      if ((error as { code?: string }).code === 'EAGAIN') return undefined;
      throw error;
    }
  }

  private async onMessage([, version, type, ...rest]: readonly Buffer[]): Promise<void> {
    const { rpcVersion = 3 } = this.options;
    const received = version.readUInt32LE();
    if (received !== rpcVersion) this.errors.push(`received version ${received}, speaks ${rpcVersion}`);
    if (type.readUInt32LE() === 2) {
      const isAsked = rest[0].readUInt32LE() === 1;
      this.events.push(isAsked ? 'asked' : 'alive');
      if (isAsked) await this.metadata();
      return;
    }
    if (type.readUInt32LE() !== 1) throw new Error(`a message of type ${type.readUInt32LE()}`);
    const [messageId, request, headerLength, header, ...inputs] = rest;
    if (request.readUInt32LE() !== 0) throw new Error('no request for predictions');
    if (headerLength.readBigUInt64LE() !== BigInt(header.length))
      throw new Error('a header of another length');
    const fields = Array.from({ length: header.length / 8 }, (_, at) =>
      Number(header.readBigUInt64LE(8 * at)),
    );
    const [inputType, count, ...sizes] = fields;
    if (inputType !== CODES[this.options.inputType]) throw new Error(`inputs of type ${inputType}`);
    if (count !== inputs.length || sizes.some((size, at) => size !== inputs[at].length)) {
      throw new Error('a header that says other inputs than came');
    }
    this.events.push(`batch ${count}`);
    const outputs = this.options.predict(inputs);
    if (outputs !== undefined) await this.answer(messageId, outputs);
  }

  private async heartbeat(): Promise<void> {
    this.events.push('heartbeat');
    await this.say(uint32(2));
  }

  private async metadata(): Promise<void> {
    const { model, version, inputType, rpcVersion = 3 } = this.options;
    this.events.push('metadata');
    const said = [uint32(0), Buffer.from(model), Buffer.from(version), Buffer.from(String(CODES[inputType]))];
    await this.say(...said, ...(rpcVersion === null ? [] : [uint32(rpcVersion)]));
  }
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function uint64s(...values: readonly number[]): Buffer {
  return Buffer.concat(
    values.map((value) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(value));
      return bytes;
    }),
  );
}
