import type { FunctionBuilder } from '../wasm/index.js';
import { RECORD, WARP_SIZE } from './executorArea.js';

/** Locals of the thread loop that special registers are made of. */
export interface ThreadLocals {
  readonly warp: number;
  readonly lane: number;
  readonly tid: readonly [number, number, number];
}

const axes: Readonly<Record<string, number>> = { x: 0, y: 1, z: 2 };

/** Pushes a special register as i32. */
export function pushSpecialRegister(f: FunctionBuilder, name: string, thread: ThreadLocals): void {
  const [base = '', axis = ''] = name.split('.');
  const index = axes[axis] ?? 0;
  const record = (address: number): void => {
    f.i32(0).memory('i32Load', address);
  };
  switch (base) {
    case 'tid':
      f.get(thread.tid[index] ?? thread.tid[0]);
      return;
    case 'ntid':
      record(RECORD.ntid + 4 * index);
      return;
    case 'ctaid':
      record(RECORD.ctaid + 4 * index);
      return;
    case 'nctaid':
      record(RECORD.nctaid + 4 * index);
      return;
    case 'laneid':
      f.get(thread.lane);
      return;
    case 'warpid':
      f.get(thread.warp);
      return;
    case 'nwarpid':
      record(RECORD.threads);
      f.i32(WARP_SIZE - 1)
        .op('i32Add')
        .i32(5)
        .op('i32ShrU');
      return;
    case 'lanemask_eq':
      f.i32(1).get(thread.lane).op('i32Shl');
      return;
    case 'lanemask_le':
      f.i32(-2).get(thread.lane).op('i32Shl').i32(-1).op('i32Xor');
      return;
    case 'lanemask_lt':
      f.i32(-1).get(thread.lane).op('i32Shl').i32(-1).op('i32Xor');
      return;
    case 'lanemask_ge':
      f.i32(-1).get(thread.lane).op('i32Shl');
      return;
    case 'lanemask_gt':
      f.i32(-2).get(thread.lane).op('i32Shl');
      return;
    case 'dynamic_smem_size':
      record(RECORD.dynamicSharedBytes);
      return;
    case 'total_smem_size':
      record(RECORD.sharedBytes);
      return;
    default:
      throw new RangeError(`%${name} has no value here`);
  }
}

/** Sets %tid for a warp's first thread. */
export function startTid(f: FunctionBuilder, thread: ThreadLocals, firstThread: number): void {
  const [x, y, z] = thread.tid;
  f.get(firstThread).i32(0).memory('i32Load', RECORD.ntid).op('i32RemU').set(x);
  f.get(firstThread).i32(0).memory('i32Load', RECORD.ntid).op('i32DivU').tee(z);
  f.i32(0)
    .memory('i32Load', RECORD.ntid + 4)
    .op('i32RemU')
    .set(y);
  f.get(z)
    .i32(0)
    .memory('i32Load', RECORD.ntid + 4)
    .op('i32DivU')
    .set(z);
}

/** Sets %tid for the next thread: x fastest. */
export function advanceTid(f: FunctionBuilder, thread: ThreadLocals): void {
  const [x, y, z] = thread.tid;
  f.get(x).i32(1).op('i32Add').tee(x).i32(0).memory('i32Load', RECORD.ntid).op('i32Eq').if();
  f.i32(0).set(x).get(y).i32(1).op('i32Add').tee(y);
  f.i32(0)
    .memory('i32Load', RECORD.ntid + 4)
    .op('i32Eq')
    .if();
  f.i32(0).set(y).get(z).i32(1).op('i32Add').set(z).end().end();
}
