import { LOCAL_WINDOW_HIGH, SHARED_WINDOW_HIGH } from '../../memory/index.js';
import { FunctionBuilder } from '../../../wasm/index.js';
import { AREA, CACHE, faultNumber, LANES, RECORD } from '../area/index.js';
import type { Library } from './library.js';

/** Where addresses that `reachLanes` is given lie. */
export const REACH = { global: 0, generic: 1, shared: 2, local: 3 } as const;

/** What `reachLanes` returns when every lane's access is allowed. */
export const NO_LANE = -1;

/** What `reachLanes` does with the bytes of a lane that it may reach. */
export const REACH_TO = {
  /** From memory to the area. */
  load: 0,
  /** From the area to memory. */
  store: 1,
  /** Nothing: the address in the node's memory goes to the area, an i32 for each lane, to be written at. */
  update: 2,
} as const;

/** In place of a distance between the addresses of neighbouring lanes: they are in the area, each by itself. */
export const NO_STRIDE = -0x80000000;

/**
 * (lanes as bits, address of lane 0, distance from lane to lane or NO_STRIDE, what the addresses are, place of the access
 * cache, size, what to do, local memory of lane 0, bytes of a lane's local memory) → the first lane whose access faults, or
 * NO_LANE. One lane after another: checks the address of the lane and moves its bytes between memory and the lane's place
 * in the area. A fault is left in the launch record.
 */
export function reachLanes(library: Library): FunctionBuilder {
  const f = new FunctionBuilder(['i32', 'i64', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], ['i32']);
  const [bits, first, stride, kind, cache, bytes, to, localBase, localBytes] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const [lane, space, at, limit, code] = [0, 1, 2, 3, 4].map(() => f.local('i32')) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const [address, offset] = [f.local('i64'), f.local('i64')];
  f.area().i32(0).memory('i32Store', LANES.inShared).area().i32(0).memory('i32Store', LANES.inGlobal);
  const again = f.loop();
  f.get(bits).op('i32Eqz').if();
  f.i32(NO_LANE).op('return').end();
  f.get(bits).op('i32Ctz').set(lane).get(bits).get(bits).i32(1).op('i32Sub').op('i32And').set(bits);
  f.get(stride).i32(NO_STRIDE).op('i32Eq').if('i64');
  f.get(lane).i32(8).op('i32Mul').area().op('i32Add').memory('i64Load', LANES.addresses).else();
  f.get(lane).get(stride).op('i32Mul').op('i64ExtendI32S').get(first).op('i64Add').end().set(address);
  spaceOfLane();
  const isReached = f.block();
  f.get(space).i32(REACH.global).op('i32Eq').if();
  reachGlobal();
  f.br(isReached).end();
  f.get(space).i32(REACH.shared).op('i32Eq').if();
  addOne(LANES.inShared);
  f.i32(faultNumber('sharedOutOfBounds')).set(code);
  f.area().memory('i32Load', RECORD.sharedBytes).set(limit);
  f.area().i32(AREA.shared).op('i32Add').set(at).else();
  f.i32(faultNumber('localOutOfBounds')).set(code).get(localBytes).set(limit);
  f.get(lane).get(localBytes).op('i32Mul').get(localBase).op('i32Add').set(at).end();
  reachWindow();
  f.end();
  f.get(to).i32(REACH_TO.update).op('i32Eq').if();
  f.get(lane).i32(4).op('i32Mul').area().op('i32Add').get(at).memory('i32Store', LANES.bytes).else();
  moveBytes(f, { lane, at, bytes, isStore: to });
  f.end();
  f.br(again).end().op('unreachable');
  return f;

  function spaceOfLane(): void {
    const high = limit;
    f.get(kind).i32(REACH.generic).op('i32Eq').if('i32');
    f.get(address).i64(32).op('i64ShrU').op('i32WrapI64').set(high);
    f.i32(REACH.shared).i32(REACH.local).i32(REACH.global);
    f.get(high).i32(LOCAL_WINDOW_HIGH).op('i32Eq').op('select');
    f.get(high).i32(SHARED_WINDOW_HIGH).op('i32Eq').op('select');
    f.else().get(kind).end().set(space);
  }

  function addOne(place: number): void {
    f.area().area().memory('i32Load', place).i32(1).op('i32Add').memory('i32Store', place);
  }

  function reachGlobal(): void {
    addOne(LANES.inGlobal);
    f.get(address).get(cache).memory('i64Load', CACHE.base).op('i64Sub').tee(offset);
    f.get(bytes).op('i32Ctz').op('i64ExtendI32U').op('i64Rotr');
    f.get(cache).memory('i64Load', CACHE.limit).op('i64GeU').if();
    // What `locate` returns for a fault is negative.
    f.get(address)
      .get(cache)
      .get(bytes)
      .get(to)
      .i32(REACH_TO.load)
      .op('i32Ne')
      .call(library.index('locate'))
      .tee(offset);
    f.i64(0).op('i64LtS').if();
    f.get(lane).op('return').end().end();
    f.get(offset).op('i32WrapI64').get(cache).memory('i32Load', CACHE.offset).op('i32Add').set(at);
  }

  /** The lower word of the address is an offset from `at`; out of bounds goes before misaligned. */
  function reachWindow(): void {
    const place = space;
    f.get(address).op('i32WrapI64').set(place);
    f.get(limit).get(bytes).op('i32Ctz').op('i32ShrU').set(limit);
    f.get(place).get(bytes).op('i32Ctz').op('i32Rotr').get(limit).op('i32GeU').if();
    f.area().get(code).i32(faultNumber('misalignedAddress'));
    f.get(place).get(bytes).op('i32Ctz').op('i32ShrU').get(limit).op('i32GeU').op('select');
    f.memory('i32Store', RECORD.faultCode);
    f.area().get(place).op('i64ExtendI32U').memory('i64Store', RECORD.faultAddress);
    f.get(lane).op('return').end();
    f.get(at).get(place).op('i32Add').set(at);
  }
}

/** Between memory at `at` and the lane's place in the area. */
function moveBytes(
  f: FunctionBuilder,
  { lane, at, bytes, isStore }: Readonly<Record<'lane' | 'at' | 'bytes' | 'isStore', number>>,
): void {
  const [from, to, end] = [f.local('i32'), f.local('i32'), f.local('i32')];
  f.get(lane).get(bytes).op('i32Mul').area().op('i32Add').i32(LANES.bytes).op('i32Add').set(from);
  f.get(at).set(to);
  f.get(isStore).op('i32Eqz').if();
  f.get(from).set(to).get(at).set(from).end();
  f.get(from).get(bytes).op('i32Add').set(end);
  f.get(bytes).i32(4).op('i32Eq').if();
  f.get(to).get(from).memory('i32Load', 0).memory('i32Store', 0).else();
  const again = f.loop();
  f.get(bytes).i32(8).op('i32GeU').if();
  f.get(to).get(from).memory('i64Load', 0).memory('i64Store', 0);
  f.get(to).i32(8).op('i32Add').set(to).get(from).i32(8).op('i32Add').set(from).else();
  f.get(to).get(from).memory('i32Load8U', 0).memory('i32Store8', 0);
  f.get(to).i32(1).op('i32Add').set(to).get(from).i32(1).op('i32Add').set(from).end();
  f.get(from).get(end).op('i32LtU').brIf(again).end().end();
}
