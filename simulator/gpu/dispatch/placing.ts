import { alike, type BlockWork } from '../timing/index.js';
import { numbered } from './residentGroup.js';

export interface PlacedBlocks {
  readonly work: BlockWork;
  readonly firstBlock: number;
  /** SM of each block from `firstBlock` on. */
  readonly sms: readonly number[];
}

/** Blocks that make one group. */
export interface PlacedTogether {
  readonly work: BlockWork;
  readonly sms: readonly number[];
  readonly perSm: number;
  readonly firstBlock: number;
  readonly numbers: readonly number[] | undefined;
}

/** Works that differ by less count as one: a wave of nearly uniform blocks is then one group and one event. */
const ALIKE = 0.01;

/** Sorts blocks that start at one moment into groups: those of alike work that are in equal number on their SMs. */
export function grouped(placed: readonly PlacedBlocks[]): PlacedTogether[] {
  return mergeAlike(placed).flatMap((kind) => {
    const bySm = new Map<number, number[]>();
    for (const { firstBlock, sms } of kind) {
      sms.forEach((sm, index) => {
        const blocks = bySm.get(sm);
        if (blocks === undefined) bySm.set(sm, [firstBlock + index]);
        else blocks.push(firstBlock + index);
      });
    }
    const byCount = new Map<number, { sms: number[]; blocks: number[] }>();
    for (const [sm, blocks] of bySm) {
      const group = byCount.get(blocks.length) ?? { sms: [], blocks: [] };
      group.sms.push(sm);
      group.blocks.push(...blocks);
      byCount.set(blocks.length, group);
    }
    return [...byCount].map(([perSm, { sms, blocks }]) => {
      const { firstBlock, neighbours } = numbered(blocks);
      return { work: kind[0].work, sms, perSm, firstBlock, numbers: neighbours ? undefined : blocks };
    });
  });
}

function mergeAlike(placed: readonly PlacedBlocks[]): PlacedBlocks[][] {
  const kinds: PlacedBlocks[][] = [];
  for (const blocks of placed) {
    const kind = kinds.find((known) => alike(known[0].work, blocks.work, ALIKE));
    if (kind === undefined) kinds.push([blocks]);
    else kind.push(blocks);
  }
  return kinds;
}
