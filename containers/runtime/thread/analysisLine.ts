import type { KernelAnalyst, UnknownKernel } from '../../../simulator/cluster/index.js';
import type { KernelAnalysis } from '../../../simulator/idempotency/index.js';
import type { AnalysisReport } from '../verdictReport.js';
import type { AnalysisReply, AnalysisRequest } from './analystMessages.js';

/** Where requests go: a port to the analyst's thread. */
interface RequestPort {
  postMessage(request: AnalysisRequest): void;
}

/** A node's side of its line to the analyst: what it has asked and what has come of it. */
export class AnalysisLine implements KernelAnalyst {
  /** Asked and not answered, in order: the analyst is at the first of them. */
  private readonly waiting = new Map<string, UnknownKernel>();
  private port: RequestPort | undefined;
  private analysed = 0;
  private remembered = 0;
  private failed = 0;
  private improved = 0;
  private unasked = 0;
  private broken = 0;
  private hostNs = 0;
  private mostHostNs = 0;

  /** @param wantPort called when there is something to ask and no port; `connect` is to follow */
  constructor(private readonly wantPort: () => void) {}

  onUnknownKernel(kernel: UnknownKernel): void {
    this.waiting.set(kernel.key, kernel);
    if (this.port !== undefined) this.port.postMessage(kernel);
    else if (this.waiting.size === 1) this.wantPort();
  }

  connect(port: RequestPort): void {
    this.port = port;
    for (const kernel of this.waiting.values()) port.postMessage(kernel);
  }

  /** The analyst has died: of what it was at, presumably, which is not tried again. */
  onGone(): void {
    this.port = undefined;
    const [key] = this.waiting.keys();
    if (key !== undefined) this.fail(key);
    if (this.waiting.size > 0) this.wantPort();
  }

  /** @returns what the node is to be given */
  onReply(reply: AnalysisReply): KernelAnalysis | undefined {
    if (reply.kind === 'failed') {
      this.fail(reply.key);
      return undefined;
    }
    if (reply.kind === 'proved') {
      this.charge(reply.hostNs);
      if (reply.isBroken) this.broken += 1;
      if (reply.analysis !== undefined) this.improved += 1;
      return reply.analysis;
    }
    const { analysis, hostNs, isRemembered, isUnasked } = reply;
    if (!this.waiting.delete(analysis.key)) return undefined;
    if (isRemembered) this.remembered += 1;
    else this.analysed += 1;
    if (isUnasked) this.unasked += 1;
    this.charge(hostNs);
    return analysis;
  }

  report(): AnalysisReport {
    const { analysed, remembered, failed, improved, unasked, broken } = this;
    const counts = { waiting: this.waiting.size, analysed, remembered, failed, improved, unasked, broken };
    return { ...counts, hostSeconds: this.hostNs / 1e9, mostHostSeconds: this.mostHostNs / 1e9 };
  }

  private charge(hostNs: number): void {
    this.hostNs += hostNs;
    this.mostHostNs = Math.max(this.mostHostNs, hostNs);
  }

  private fail(key: string): void {
    if (this.waiting.delete(key)) this.failed += 1;
  }
}
