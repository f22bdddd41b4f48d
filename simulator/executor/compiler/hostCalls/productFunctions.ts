import type { IrFunction } from '../../../ptx/index.js';
import type { TileForm } from '../../../tensor/index.js';
import type { FunctionBuilder, ModuleBuilder } from '../../../wasm/index.js';
import { PRODUCT_IMPORT, productNumber } from '../../matrixExchanges/index.js';

/** Functions of a module that compute products of matrices: of words in memory, those of the result. */
export class ProductFunctions {
  private imported = -1;

  constructor(private readonly module: ModuleBuilder) {}

  /** Declares what a kernel needs, before the module's first own function. */
  declare({ instructions }: IrFunction): void {
    if (!instructions.some(({ opcode }) => opcode === 'mma')) return;
    this.imported = this.module.importFunction(PRODUCT_IMPORT, ['i32', 'i32', 'i32'], []);
  }

  /** @param pushAddresses pushes where the words are, and where those of the result go */
  call(f: FunctionBuilder, form: TileForm, pushAddresses: () => void): void {
    f.i32(productNumber(form.name));
    pushAddresses();
    f.call(this.imported);
  }
}
