/** Rejections of promises that nobody waits for: they say nothing of whose they are, and are no reason to end a process that answers others. */
export class StrayRejections {
  private readonly waiting = new Set<(reason: unknown) => void>();

  /** What a call gives; a stray rejection meanwhile fails it, since what it waits for may never come. */
  async during<T>(call: () => T | PromiseLike<T>): Promise<T> {
    let fail: (reason: unknown) => void = () => undefined;
    const stray = new Promise<never>((_, reject) => (fail = reject));
    this.waiting.add(fail);
    try {
      return await Promise.race([call(), stray]);
    } finally {
      this.waiting.delete(fail);
    }
  }

  onRejection(reason: unknown): void {
    for (const fail of this.waiting) fail(reason);
  }
}
