/** Waits that end before their time once it is stopped. */
export class Pauses {
  private readonly under = new Map<NodeJS.Timeout, () => void>();
  private isStopped = false;

  /** At once where it is stopped. */
  wait(ms: number): Promise<void> {
    if (this.isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.under.delete(timer);
        resolve();
      }, ms);
      timer.unref();
      this.under.set(timer, resolve);
    });
  }

  stop(): void {
    this.isStopped = true;
    for (const [timer, wake] of this.under) {
      clearTimeout(timer);
      wake();
    }
    this.under.clear();
  }
}
