import type { Operands } from '../transfer/operands.js';
import type { Findings } from './findings.js';
import type { Path } from './path.js';

/**
 * Notes that the divisor of a remainder must not be zero in this launch, where all threads share it: x mod d is told as
 * x − d · (x / d) everywhere, which is x for d = 0, but it is all ones. A launch that is sure not to come here may have it.
 */
export function noteDivisor(
  o: Operands,
  { findings, path }: { readonly findings: Findings | undefined; readonly path: Path },
): void {
  const { conditions, instruction } = o;
  if (findings === undefined || instruction.opcode !== 'rem' || !/^[su]\d+$/.test(o.type)) return;
  const divisor = o.integer(1);
  if (!divisor.uniform || divisor.op === 'constant' || divisor.lo > 0 || divisor.hi < 0) return;
  const reached = path.since().filter(({ uniform }) => uniform);
  findings.conditions.push({
    condition: conditions.or([
      conditions.not(conditions.isZero(divisor)),
      ...reached.map((each) => conditions.not(each)),
    ]),
    line: instruction.line,
    text: 'a remainder has a divisor that may be zero',
  });
}
