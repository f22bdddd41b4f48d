import type { IrInstruction, IrOperand, MatrixExchange, ScalarType } from '../../../ptx/index.js';
import type { FunctionBuilder } from '../../../wasm/index.js';
import type { FaultCode } from '../../types.js';
import {
  columnStep,
  matrixOperation,
  ROW_ALIGNMENT,
  rowsPerPart,
  type MatrixOperation,
} from '../../matrixExchanges/index.js';
import type { ThreadContext } from '../analysis/index.js';
import { AREA, RECORD, WARP_SIZE } from '../area/index.js';
import type { Library } from '../library/index.js';
import { tileFunction } from '../tiles/index.js';
import { WARP_GROUPS, type WarpValues } from '../vector/index.js';

/** What the emitter of exchanges lends it. */
export interface ExchangeSurroundings {
  readonly f: FunctionBuilder;
  readonly context: ThreadContext;
  /** Local with the address of the warp's contexts; with the lanes that have met. */
  readonly first: number;
  readonly mask: number;
  readonly library: Library;
  forEachLane(body: (lane: number, context: number) => void): void;
  /** Pushes an operand's value as a lane's context holds it. */
  read(operand: IrOperand, type: ScalarType, context: number): void;
  /** Leaves with a fault of a lane; the local holds its number. */
  fail(lane: number, code: FaultCode): void;
}

/** Bytes of a register of 32 bits, lane behind lane. */
const ROW = 4 * WARP_SIZE;

/**
 * Writes exchanges of matrices: registers of the lanes that have met go side by side to the area's tile, with noughts for
 * the others, and from there results go to the warp's contexts.
 */
export class MatrixExchangeEmitter {
  constructor(private readonly around: ExchangeSurroundings) {}

  /** @param values operands of the whole warp, where it may be done for all at once */
  emit(instruction: IrInstruction, opcode: MatrixExchange, values: WarpValues | undefined): void {
    const { f, mask } = this.around;
    const operation = matrixOperation(instruction, opcode);
    if (values !== undefined) {
      f.get(mask).i32(-1).op('i32Eq').if();
      this.gather(operation, values);
      f.else();
    }
    this.gatherByLanes(operation);
    if (values !== undefined) f.end();
    this.emitters[opcode](instruction, operation);
  }

  private readonly emitters: Readonly<
    Record<MatrixExchange, (instruction: IrInstruction, operation: MatrixOperation) => void>
  > = {
    mma: (_, { form }) => {
      const { f, first, context, library } = this.around;
      if (form === undefined) throw new RangeError('a product without a form');
      f.area().i32(AREA.tile).op('i32Add');
      f.get(first).i32(context.results).op('i32Add');
      f.area().i32(AREA.tileScratch).op('i32Add');
      f.call(tileFunction(form).index(library));
    },
    movmatrix: () => this.transpose(),
    matrixrows: (instruction, operation) => this.spreadRows(instruction, operation),
  };

  private gather({ inputs, isWide }: MatrixOperation, values: WarpValues): void {
    const { f } = this.around;
    inputs.forEach((operand, register) => {
      for (let group = 0; group < WARP_GROUPS; group++) {
        if (isWide) {
          for (const half of [0, 1] as const) {
            f.area();
            values.useHalf(operand, group, half);
            f.simdMemory('v128Store', AREA.tile + 2 * ROW * register + 16 * (2 * group + half));
          }
          continue;
        }
        f.area();
        values.use(operand, 'b32', group);
        f.simdMemory('v128Store', AREA.tile + ROW * register + 16 * group);
      }
    });
  }

  private gatherByLanes({ inputs, isWide }: MatrixOperation): void {
    const { around } = this;
    const { f } = around;
    const bytes = isWide ? 8 : 4;
    f.area()
      .i32(AREA.tile)
      .op('i32Add')
      .i32(0)
      .i32(inputs.length * bytes * WARP_SIZE)
      .memoryFill();
    around.forEachLane((lane, context) => {
      inputs.forEach((operand, register) => {
        f.get(lane).i32(bytes).op('i32Mul').area().op('i32Add');
        around.read(operand, isWide ? 'b64' : 'b32', context);
        f.memory(isWide ? 'i64Store' : 'i32Store', AREA.tile + bytes * WARP_SIZE * register);
      });
    });
  }

  /** A lane's half of each of two rows. */
  private transpose(): void {
    const { f, first, context } = this.around;
    for (let lane = 0; lane < WARP_SIZE; lane++) {
      const [row, column] = [lane >> 2, 2 * (lane & 3)];
      f.get(first);
      for (const half of [0, 1]) {
        const at = AREA.tile + 4 * ((column + half) * 4 + (row >> 1)) + 2 * (row & 1);
        f.area().memory('i32Load16U', at);
        if (half === 1) f.i32(16).op('i32Shl').op('i32Or');
      }
      f.memory('i32Store', context.results + 4 * lane);
    }
  }

  /** Gives each lane the places of its parts of rows that other lanes point to. */
  private spreadRows(instruction: IrInstruction, { outputs, pointing = 0 }: MatrixOperation): void {
    const { f, first, context } = this.around;
    this.checkRows(pointing);
    const each = rowsPerPart(instruction);
    const isTurned = each === 2;
    for (let part = 0; part < outputs.length; part++) {
      const rows = AREA.tile + 4 * 8 * Math.floor(part / each);
      for (let group = 0; group < WARP_GROUPS; group++) {
        f.get(first);
        if (isTurned) {
          f.area()
            .simdMemory('v128Load', rows)
            .area()
            .simdMemory('v128Load', rows + 16);
          if (part % 2 === 0) f.shuffleWords(0, 2, 4, 6);
          else f.shuffleWords(1, 3, 5, 7);
        } else
          f.area()
            .memory('i32Load', rows + 4 * group)
            .simd('i32x4Splat');
        const [a, b, c, d] = [0, 1, 2, 3].map((lane) => columnStep(4 * group + lane, isTurned)) as [
          number,
          number,
          number,
          number,
        ];
        f.v128(a, b, c, d).simd('i32x4Add');
        f.simdMemory('v128Store', context.results + ROW * part + 16 * group);
      }
    }
  }

  /** A row begins at a multiple of 16 bytes; absent lanes' rows, which are 0, do. */
  private checkRows(pointing: number): void {
    const { f } = this.around;
    for (let group = 0; group < pointing / 4; group++) {
      f.area().simdMemory('v128Load', AREA.tile + 16 * group);
      if (group > 0) f.simd('v128Or');
    }
    f.i32(ROW_ALIGNMENT - 1)
      .simd('i32x4Splat')
      .simd('v128And')
      .simd('v128AnyTrue')
      .if();
    this.around.forEachLane((lane) => {
      f.get(lane).i32(pointing).op('i32LtU');
      f.get(lane).i32(2).op('i32Shl').area().op('i32Add').memory('i32Load', AREA.tile);
      f.i32(ROW_ALIGNMENT - 1)
        .op('i32And')
        .i32(0)
        .op('i32Ne')
        .op('i32And')
        .if();
      f.area();
      f.get(lane).i32(2).op('i32Shl').area().op('i32Add').memory('i32Load', AREA.tile).op('i64ExtendI32U');
      f.memory('i64Store', RECORD.faultAddress);
      this.around.fail(lane, 'misalignedAddress');
      f.end();
    });
    f.end();
  }
}
