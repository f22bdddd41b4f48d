import type { DimensionName, ThreadVariable } from '../../summary.js';
import type { Expression } from '../expressions/expression.js';
import type { KernelContext } from './operands.js';

/** Special registers as expressions. What two runs of a launch may read differently is tainted. */
export function specialValue(context: KernelContext, name: string, line: number): Expression {
  const { table, arithmetic } = context;
  if (/^(tid|ctaid)\.[xyz]$/.test(name)) return table.thread(name as ThreadVariable);
  if (/^(ntid|nctaid)\.[xyz]$/.test(name)) return table.dimension(name as DimensionName);
  if (name === 'laneid') return arithmetic.modulo(linearThread(context), 32);
  const source = { cause: 'NA' as const, line, text: `%${name}` };
  if (/^lanemask_/.test(name)) return table.unknown([-(2 ** 31), 2 ** 32 - 1], { source });
  if (/^(total_smem_size|dynamic_smem_size|aggr_smem_size|envreg)/.test(name)) {
    return table.unknown([0, 2 ** 32 - 1], { source });
  }
  // The same in both runs; where a block is in its cluster differs from block to block.
  if (/^(n?clusterid|cluster_|is_explicit_cluster)/.test(name)) {
    return table.unknown([0, 2 ** 31 - 1], { source });
  }
  const isWide = /64$|^globaltimer$|^gridid$/.test(name);
  return table.unknown(isWide ? [-Infinity, Infinity] : [-(2 ** 31), 2 ** 32 - 1], { source, tainted: true });
}

/** Number of the thread in its block, by which lanes are counted. */
function linearThread({ table, arithmetic }: KernelContext): Expression {
  const rows = arithmetic.add(
    table.thread('tid.y'),
    arithmetic.multiply(table.dimension('ntid.y'), table.thread('tid.z')),
  );
  return arithmetic.add(table.thread('tid.x'), arithmetic.multiply(table.dimension('ntid.x'), rows));
}
