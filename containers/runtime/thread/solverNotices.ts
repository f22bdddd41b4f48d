import type { AnalysisReport } from '../verdictReport.js';

type Notice = (message: string, details: Readonly<Record<string, unknown>>) => void;

/** Says once that there is no solver for what analysis leaves open, and once that it broke. */
export class SolverNotices {
  private isMissingTold = false;
  private isBrokenTold = false;

  constructor(
    private readonly node: string,
    private readonly onNotice: Notice = () => undefined,
  ) {}

  look(report: AnalysisReport | undefined): void {
    if (report === undefined) return;
    const { node } = this;
    if (report.unasked > 0 && !this.isMissingTold) {
      this.isMissingTold = true;
      this.onNotice(
        'kernels are analysed without z3, with which more of their launches may turn out idempotent: npm install --include=optional',
        { node },
      );
    }
    if (report.broken > 0 && !this.isBrokenTold) {
      this.isBrokenTold = true;
      this.onNotice('z3 broke on a kernel: what was found of it without z3 stands', { node });
    }
  }
}
