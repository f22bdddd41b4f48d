/** As CUDA's default `cudaLimitPrintfFifoSize`; here it counts bytes of text, CUDA counts formats and arguments. */
export const PRINTF_FIFO_BYTES = 2 ** 20;

/**
 * What a run's `printf` calls have written. When it is full the oldest calls are lost, a whole call at a time, as in
 * CUDA's ring buffer.
 */
export class PrintBuffer {
  private calls: string[] = [];
  private first = 0;
  private bytes = 0;

  constructor(private readonly limitBytes = PRINTF_FIFO_BYTES) {}

  /** `text` holds one byte a character. */
  write(text: string): void {
    this.calls.push(text);
    this.bytes += text.length;
    while (this.bytes > this.limitBytes) {
      this.bytes -= this.calls[this.first]?.length ?? 0;
      this.calls[this.first] = '';
      this.first += 1;
    }
    if (this.first > 1024 && this.first * 2 > this.calls.length) {
      this.calls = this.calls.slice(this.first);
      this.first = 0;
    }
  }

  /** All that is kept, its bytes read as UTF-8; undefined when nothing was written. */
  text(): string | undefined {
    if (this.calls.length === 0) return undefined;
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      Buffer.from(this.calls.slice(this.first).join(''), 'latin1'),
    );
  }
}
