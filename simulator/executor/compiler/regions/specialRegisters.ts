import type { FunctionBuilder } from '../../../wasm/index.js';
import { RECORD, WARP_SIZE } from '../area/index.js';

/** Locals of the thread loop that special registers are made of. */
export interface ThreadLocals {
  readonly warp: number;
  readonly lane: number;
  readonly tid: readonly [number, number, number];
}

/** Locals that clocks are made of. */
export interface ClockLocals {
  /** i64: what the block may still spend. */
  readonly fuel: number;
}

const axes: Readonly<Record<string, number>> = { x: 0, y: 1, z: 2 };

/** Pushes a special register; @returns the type that it has. */
export function pushSpecialRegister(
  f: FunctionBuilder,
  name: string,
  thread: ThreadLocals,
  clock: ClockLocals,
): 'i32' | 'i64' {
  switch (name) {
    case 'clock64':
      pushCycles(f, clock);
      return 'i64';
    case 'clock':
      pushCycles(f, clock);
      f.op('i32WrapI64');
      return 'i32';
    case 'clock_hi':
      pushCycles(f, clock);
      f.i64(32).op('i64ShrU').op('i32WrapI64');
      return 'i32';
    case 'globaltimer':
      pushNanoseconds(f, clock);
      return 'i64';
    case 'globaltimer_lo':
      pushNanoseconds(f, clock);
      f.op('i32WrapI64');
      return 'i32';
    case 'globaltimer_hi':
      pushNanoseconds(f, clock);
      f.i64(32).op('i64ShrU').op('i32WrapI64');
      return 'i32';
    case 'gridid':
      f.area().memory('i64Load', RECORD.gridId);
      return 'i64';
    default:
      pushWord(f, name, thread);
      return 'i32';
  }
}

function pushWord(f: FunctionBuilder, name: string, thread: ThreadLocals): void {
  const [base = '', axis = ''] = name.split('.');
  const index = axes[axis] ?? 0;
  const record = (address: number): void => {
    f.area().memory('i32Load', address);
  };
  switch (base) {
    case 'tid':
      f.get(thread.tid[index] ?? thread.tid[0]);
      return;
    case 'ntid':
      record(RECORD.ntid + 4 * index);
      return;
    case 'clusterid':
      record(RECORD.ctaid + 4 * index);
      record(RECORD.clusterDim + 4 * index);
      f.op('i32DivU');
      return;
    case 'cluster_ctaid':
      pushPlaceInCluster(f, index);
      return;
    case 'cluster_ctarank':
      pushPlaceInCluster(f, 2);
      for (const axis of [1, 0]) {
        record(RECORD.clusterDim + 4 * axis);
        f.op('i32Mul');
        pushPlaceInCluster(f, axis);
        f.op('i32Add');
      }
      return;
    case 'cluster_nctaid':
      record(RECORD.clusterDim + 4 * index);
      return;
    case 'cluster_nctarank':
      for (const axis of [0, 1, 2]) record(RECORD.clusterDim + 4 * axis);
      f.op('i32Mul').op('i32Mul');
      return;
    case 'is_explicit_cluster':
      record(RECORD.isExplicitCluster);
      return;
    case 'ctaid':
      record(RECORD.ctaid + 4 * index);
      return;
    case 'nclusterid':
      record(RECORD.nctaid + 4 * index);
      record(RECORD.clusterDim + 4 * index);
      f.op('i32DivU');
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
    case 'smid':
      record(RECORD.sm);
      return;
    case 'nsmid':
      record(RECORD.smCount);
      return;
    case 'envreg1':
      record(RECORD.envreg1);
      return;
    case 'envreg2':
      record(RECORD.envreg2);
      return;
    case 'dynamic_smem_size':
      record(RECORD.dynamicSharedBytes);
      return;
    case 'aggr_smem_size':
    case 'total_smem_size':
      record(RECORD.sharedBytes);
      return;
    default:
      if (/^envreg\d+$/.test(base)) {
        f.i32(0);
        return;
      }
      throw new RangeError(`%${name} has no value here`);
  }
}

/** The block's place in its cluster, on one axis. */
function pushPlaceInCluster(f: FunctionBuilder, axis: number): void {
  f.area().memory('i32Load', RECORD.ctaid + 4 * axis);
  f.area()
    .memory('i32Load', RECORD.clusterDim + 4 * axis)
    .op('i32RemU');
}

/** Cycles: those of the block's start, one for each thread-instruction since, and one for each time anybody asked. */
function pushCycles(f: FunctionBuilder, clock: ClockLocals): void {
  countRead(f);
  f.area().memory('i64Load', RECORD.clockBase);
  f.area().memory('i64Load', RECORD.fuelPerBlock).get(clock.fuel).op('i64Sub').op('i64Add');
  f.area().memory('i64Load', RECORD.clockReads).op('i64Add');
}

function pushNanoseconds(f: FunctionBuilder, clock: ClockLocals): void {
  pushCycles(f, clock);
  f.op('f64ConvertI64S').area().memory('f64Load', RECORD.cyclesPerNs).op('f64Div').op('i64TruncSatF64S');
}

function countRead(f: FunctionBuilder): void {
  f.area()
    .area()
    .memory('i64Load', RECORD.clockReads)
    .i64(1)
    .op('i64Add')
    .memory('i64Store', RECORD.clockReads);
}

/** Sets %tid for a warp's first thread. */
export function startTid(f: FunctionBuilder, thread: ThreadLocals, firstThread: number): void {
  const [x, y, z] = thread.tid;
  f.get(firstThread).area().memory('i32Load', RECORD.ntid).op('i32RemU').set(x);
  f.get(firstThread).area().memory('i32Load', RECORD.ntid).op('i32DivU').tee(z);
  f.area()
    .memory('i32Load', RECORD.ntid + 4)
    .op('i32RemU')
    .set(y);
  f.get(z)
    .area()
    .memory('i32Load', RECORD.ntid + 4)
    .op('i32DivU')
    .set(z);
}

/** Sets %tid for the next thread: x fastest. */
export function advanceTid(f: FunctionBuilder, thread: ThreadLocals): void {
  const [x, y, z] = thread.tid;
  f.get(x).i32(1).op('i32Add').tee(x).area().memory('i32Load', RECORD.ntid).op('i32Eq').if();
  f.i32(0).set(x).get(y).i32(1).op('i32Add').tee(y);
  f.area()
    .memory('i32Load', RECORD.ntid + 4)
    .op('i32Eq')
    .if();
  f.i32(0).set(y).get(z).i32(1).op('i32Add').set(z).end().end();
}
