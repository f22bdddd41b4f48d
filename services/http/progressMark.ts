/** Less than this within the time in which a body counts as stalled is as good as nothing. */
const LEAST_BYTES = 4096;

/** When a body last got on by what is worth the name: a byte now and then is not. */
export class ProgressMark {
  heardMs = performance.now();
  private bytes = 0;

  on(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes < LEAST_BYTES) return;
    this.bytes = 0;
    this.heardMs = performance.now();
  }
}
