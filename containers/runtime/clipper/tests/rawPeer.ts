import { connect, type Socket } from 'node:net';

const SIGNATURE = [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f];

/** ZMTP by the byte, for what libzmq would never send. */
export class RawPeer {
  private received = Buffer.alloc(0);
  private readonly watchers = new Set<() => void>();
  isClosed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (piece) => {
      this.received = Buffer.concat([this.received, piece]);
      this.tell();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      this.tell();
    });
  }

  static async dial(port: number): Promise<RawPeer> {
    const socket = connect(port, '127.0.0.1');
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    return new RawPeer(socket);
  }

  /** One whose handshake as a DEALER of ZMTP 3.0 is over. */
  static async ready(port: number): Promise<RawPeer> {
    const peer = await RawPeer.dial(port);
    peer.write([...SIGNATURE, 3, 0, ...Buffer.from('NULL'), ...Buffer.alloc(16 + 32)]);
    peer.write(frame(readyBody('DEALER'), 4));
    await peer.until((bytes) => bytes.length >= 64 + 2 + 25);
    peer.forget();
    return peer;
  }

  write(bytes: readonly number[] | Buffer): void {
    this.socket.write(Buffer.from(bytes));
  }

  /** A message of several frames. */
  say(frames: readonly Buffer[]): void {
    this.write(message(frames));
  }

  /** Resolves once what has come is such; rejects where the connection ends before. */
  async until(isSo: (bytes: Buffer) => boolean): Promise<Buffer> {
    while (!isSo(this.received)) {
      if (this.isClosed) throw new Error('the connection was closed before that');
      await this.change();
    }
    return this.received;
  }

  /** What came so far is of no interest any more. */
  forget(): void {
    this.received = Buffer.alloc(0);
  }

  async closed(): Promise<void> {
    while (!this.isClosed) await this.change();
  }

  end(): void {
    this.socket.destroy();
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      const watcher = (): void => {
        this.watchers.delete(watcher);
        resolve();
      };
      this.watchers.add(watcher);
    });
  }

  private tell(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}

export function frame(body: Buffer, flags = 0): Buffer {
  if (body.length <= 255) return Buffer.concat([Buffer.from([flags, body.length]), body]);
  const header = Buffer.alloc(9);
  header[0] = flags | 2;
  header.writeBigUInt64BE(BigInt(body.length), 1);
  return Buffer.concat([header, body]);
}

export function message(frames: readonly Buffer[]): Buffer {
  return Buffer.concat(frames.map((body, at) => frame(body, at < frames.length - 1 ? 1 : 0)));
}

export function readyBody(socketType: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(socketType.length);
  return Buffer.concat([Buffer.from('\x05READY\x0bSocket-Type'), length, Buffer.from(socketType)]);
}

export const OPENING_V3 = [...SIGNATURE, 3];
export const OPENING_V2 = [...SIGNATURE, 1];
