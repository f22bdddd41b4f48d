/** Growing bytes with WebAssembly's number encodings. */
export class CodeBuffer {
  private data = new Uint8Array(1024);
  private view = new DataView(this.data.buffer);
  private used = 0;

  get length(): number {
    return this.used;
  }

  bytes(): Uint8Array {
    return this.data.subarray(0, this.used);
  }

  byte(value: number): void {
    if (this.used === this.data.length) this.grow(1);
    this.data[this.used++] = value;
  }

  /** A byte and an unsigned number, as most instructions are: they are written hundreds of thousands of times. */
  byteAndUnsigned(value: number, operand: number): void {
    if ((operand & ~0x7f) !== 0) {
      this.byte(value);
      this.unsigned(operand);
      return;
    }
    const at = this.used;
    if (at + 2 > this.data.length) this.grow(2);
    this.data[at] = value;
    this.data[at + 1] = operand;
    this.used = at + 2;
  }

  append(bytes: Uint8Array): void {
    this.grow(bytes.length);
    this.data.set(bytes, this.used);
    this.used += bytes.length;
  }

  /** Unsigned LEB128 of up to 32 bits. */
  unsigned(value: number): void {
    let rest = value >>> 0;
    while (rest > 0x7f) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  /** Signed LEB128 of 32 bits. */
  signed32(value: number): void {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) {
        this.byte(low);
        return;
      }
      this.byte(low | 0x80);
    }
  }

  /** Signed LEB128 of 64 bits, given as two halves. */
  signed64(low: number, high: number): void {
    let [restLow, restHigh] = [low | 0, high | 0];
    for (;;) {
      const part = restLow & 0x7f;
      restLow = (restLow >>> 7) | (restHigh << 25);
      restHigh >>= 7;
      const sign = (part & 0x40) === 0 ? 0 : -1;
      if (restLow === sign && restHigh === sign) {
        this.byte(part);
        return;
      }
      this.byte(part | 0x80);
    }
  }

  uint32(value: number): void {
    this.grow(4);
    this.view.setUint32(this.used, value, true);
    this.used += 4;
  }

  name(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.unsigned(bytes.length);
    this.append(bytes);
  }

  private grow(extra: number): void {
    if (this.used + extra <= this.data.length) return;
    const larger = new Uint8Array(Math.max(this.data.length * 2, this.used + extra));
    larger.set(this.data.subarray(0, this.used));
    this.data = larger;
    this.view = new DataView(larger.buffer);
  }
}
