/** The other side said what it may not; the line cannot go on. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Little-endian fields into a buffer that grows. */
export class ByteWriter {
  private buffer: Buffer;
  private length = 0;

  constructor(expectedBytes: number) {
    this.buffer = Buffer.allocUnsafe(Math.max(64, expectedBytes));
  }

  u8(value: number): void {
    this.length = this.room(1).writeUInt8(value, this.length);
  }

  u32(value: number): void {
    this.length = this.room(4).writeUInt32LE(value, this.length);
  }

  f32(value: number): void {
    this.length = this.room(4).writeFloatLE(value, this.length);
  }

  f64(value: number): void {
    this.length = this.room(8).writeDoubleLE(value, this.length);
  }

  bytes(value: Uint8Array): void {
    this.u32(value.length);
    this.room(value.length).set(value, this.length);
    this.length += value.length;
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.u32(length);
    this.room(length).write(value, this.length);
    this.length += length;
  }

  optional<T>(value: T | undefined, write: (value: T) => void): void {
    this.u8(value === undefined ? 0 : 1);
    if (value !== undefined) write(value);
  }

  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  private room(bytes: number): Buffer {
    if (this.length + bytes > this.buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.length + bytes));
      this.buffer.copy(grown, 0, 0, this.length);
      this.buffer = grown;
    }
    return this.buffer;
  }
}

/** Little-endian fields of one frame. Each method throws a ProtocolError where the frame ends too early. */
export class ByteReader {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly frame: Uint8Array) {
    this.view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }

  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }

  f32(): number {
    return this.view.getFloat32(this.take(4), true);
  }

  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  /** A view of the frame. */
  bytes(): Uint8Array {
    const length = this.u32();
    const start = this.take(length);
    return this.frame.subarray(start, start + length);
  }

  text(): string {
    const bytes = this.bytes();
    try {
      return decoder.decode(bytes);
    } catch (cause) {
      throw new ProtocolError('a text that is not UTF-8', { cause });
    }
  }

  optional<T>(read: () => T): T | undefined {
    return this.choice('presence', [false, true]) ? read() : undefined;
  }

  choice<T>(what: string, choices: readonly T[]): T {
    const index = this.u8();
    if (index >= choices.length) throw new ProtocolError(`a ${what} of ${index}, which there is not`);
    return choices[index];
  }

  /** @param leastBytes of an item: a count that the frame cannot hold is refused before anything is made for it. */
  list<T>(leastBytes: number, read: () => T): T[] {
    const count = this.u32();
    if (count * leastBytes > this.frame.length - this.at) {
      throw new ProtocolError(`a list of ${count} in a frame that ends before it`);
    }
    const items: T[] = [];
    for (let index = 0; index < count; index++) items.push(read());
    return items;
  }

  end(): void {
    const left = this.frame.length - this.at;
    if (left > 0) throw new ProtocolError(`a frame with ${left} bytes too many`);
  }

  private take(bytes: number): number {
    const start = this.at;
    if (start + bytes > this.frame.length) throw new ProtocolError('a frame that ends inside a field');
    this.at = start + bytes;
    return start;
  }
}
