/** Why bytes are no protobuf message, and where. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;

/**
 * Reads one protobuf message field by field. ONNX files need no more of the format than this: a general library would be a
 * dependency of a hundred times the size, and keeps a second copy of the weights.
 */
export class ProtobufReader {
  /** Number of the field that `next` has found. */
  field = 0;
  private wire = 0;
  private at: number;

  /** @param end one past the message's last byte. */
  constructor(
    private readonly bytes: Uint8Array,
    start = 0,
    private readonly end = bytes.length,
  ) {
    this.at = start;
  }

  /** Goes to the next field. @returns false at the message's end. */
  next(): boolean {
    if (this.at === this.end) return false;
    const key = Number(this.varint());
    this.field = Math.floor(key / 8);
    this.wire = key % 8;
    if (this.field === 0) throw new ProtobufError(`there is no field 0 (at byte ${this.at})`);
    return true;
  }

  /** A 64-bit whole number with its sign, exact or refused. */
  integer(): number {
    this.expect(WIRE_VARINT);
    return this.exactInteger();
  }

  /**
   * Whole numbers of a repeated field, packed or one by one, added to `list`. The largest there are stand for "to the end":
   * beyond 2^53 they are rounded.
   */
  integers(list: number[]): void {
    this.repeated(WIRE_VARINT, (reader) => list.push(Number(BigInt.asIntN(64, reader.varint()))));
  }

  float(): number {
    this.expect(WIRE_FIXED32);
    return this.fixed(4).getFloat32(0, true);
  }

  floats(list: number[]): void {
    this.repeated(WIRE_FIXED32, (reader) => list.push(reader.fixed(4).getFloat32(0, true)));
  }

  doubles(list: number[]): void {
    this.repeated(WIRE_FIXED64, (reader) => list.push(reader.fixed(8).getFloat64(0, true)));
  }

  /** A view, not a copy. */
  data(): Uint8Array {
    const [start, end] = this.span();
    return this.bytes.subarray(start, end);
  }

  text(): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.data());
  }

  message(): ProtobufReader {
    const [start, end] = this.span();
    return new ProtobufReader(this.bytes, start, end);
  }

  skip(): void {
    switch (this.wire) {
      case WIRE_VARINT:
        this.varint();
        return;
      case WIRE_FIXED64:
        this.fixed(8);
        return;
      case WIRE_BYTES:
        this.span();
        return;
      case WIRE_FIXED32:
        this.fixed(4);
        return;
      default:
        throw new ProtobufError(`wire type ${this.wire} of field ${this.field} at byte ${this.at}`);
    }
  }

  private repeated(wire: number, read: (reader: ProtobufReader) => void): void {
    if (this.wire !== WIRE_BYTES) {
      this.expect(wire);
      read(this);
      return;
    }
    const packed = this.message();
    while (packed.at < packed.end) read(packed);
  }

  private expect(wire: number): void {
    if (this.wire === wire) return;
    throw new ProtobufError(
      `field ${this.field} has wire type ${this.wire}, not ${wire}, at byte ${this.at}`,
    );
  }

  private span(): [number, number] {
    this.expect(WIRE_BYTES);
    const length = Number(this.varint());
    const start = this.at;
    this.advance(length);
    return [start, this.at];
  }

  private exactInteger(): number {
    const value = Number(BigInt.asIntN(64, this.varint()));
    if (!Number.isSafeInteger(value))
      throw new ProtobufError(`${value} is too large (before byte ${this.at})`);
    return value;
  }

  private varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const start = this.at;
      this.advance(1);
      const byte = this.bytes[start];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError(`a number does not end (before byte ${this.at})`);
  }

  private fixed(size: number): DataView {
    const start = this.at;
    this.advance(size);
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + start, size);
  }

  private advance(count: number): void {
    if (count > this.end - this.at) {
      throw new ProtobufError(`it ends at byte ${this.end}, ${count} bytes were to follow byte ${this.at}`);
    }
    this.at += count;
  }
}
