import { statfs } from 'node:fs/promises';

export interface DiskSize {
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

/**
 * How much room the disk of a folder has. Whoever asks gets what was measured when it was last asked: a disk that does not
 * answer holds nobody up.
 */
export class DiskRoom {
  private last: DiskSize | undefined;
  private isMeasuring = false;

  constructor(private readonly folder: string) {
    void this.measure();
  }

  /** undefined: not known yet. */
  latest(): DiskSize | undefined {
    if (!this.isMeasuring) void this.measure();
    return this.last;
  }

  private async measure(): Promise<void> {
    this.isMeasuring = true;
    try {
      const { bsize, bavail, blocks } = await statfs(this.folder);
      this.last = { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
    } catch {
      // A folder that is gone has no size.
      this.last = undefined;
    }
    this.isMeasuring = false;
  }
}
