import { wholeNumberHistogram, type Histogram } from '../../simulator/statistics/index.js';

/** What was answered in one stretch of time. */
export interface Window {
  /** Middle of the window, in seconds. */
  readonly atSeconds: number;
  readonly answers: number;
  readonly defaults: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Answers by the window in which they were given. Quantiles are exact to three digits. */
export class AnswerWindows {
  private readonly windows: { latencies: Histogram; answers: number; defaults: number }[] = [];

  constructor(private readonly windowNs: number) {}

  record(nowNs: number, latencyNs: number, isDefault: boolean): void {
    const at = Math.floor(nowNs / this.windowNs);
    while (this.windows.length <= at) {
      this.windows.push({
        latencies: wholeNumberHistogram(),
        answers: 0,
        defaults: 0,
      });
    }
    const window = this.windows[at];
    window.answers += 1;
    if (isDefault) window.defaults += 1;
    window.latencies.recordValue(Math.round(latencyNs / 1000));
  }

  list(): Window[] {
    return this.windows.map(({ latencies, answers, defaults }, at) => ({
      atSeconds: ((at + 0.5) * this.windowNs) / 1e9,
      answers,
      defaults,
      p50Ms: answers === 0 ? NaN : latencies.getValueAtPercentile(50) / 1000,
      p99Ms: answers === 0 ? NaN : latencies.getValueAtPercentile(99) / 1000,
    }));
  }
}
