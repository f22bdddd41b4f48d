import { CodeBuffer } from './codeBuffer.js';
import type { FunctionBuilder } from './functionBuilder.js';
import { typeByte, type WasmType } from './opcodes.js';

const SECTION = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const;
const FUNCTION_FORM = 0x60;
const KIND_FUNCTION = 0;
const KIND_MEMORY = 2;
const KIND_GLOBAL = 3;
const IMMUTABLE = 0;
/** Limits flag of a shared memory with a maximum. */
const SHARED_LIMITS = 3;

interface FunctionImport {
  readonly name: string;
  readonly type: number;
}

/**
 * A module with one imported shared memory, imported functions and functions of its own. Imports must be declared
 * before the first function, since they take the first indices.
 */
export class ModuleBuilder {
  private readonly types: { readonly key: string; readonly bytes: Uint8Array }[] = [];
  private readonly imports: FunctionImport[] = [];
  private readonly functions: { readonly builder: FunctionBuilder; readonly type: number }[] = [];
  private readonly exports: { readonly name: string; readonly index: number }[] = [];

  /**
   * @param memoryPages the maximum that the imported memory was made with.
   * @param isThreaded whether several threads run instances at once: each is told where its area begins, by an imported
   * global; otherwise it is at 0.
   */
  constructor(
    private readonly memoryPages: number,
    readonly isThreaded = false,
  ) {}

  /** @returns the index to call it by. */
  importFunction(name: string, params: readonly WasmType[], results: readonly WasmType[]): number {
    if (this.functions.length > 0) throw new RangeError('imports come before functions');
    this.imports.push({ name, type: this.typeIndex(params, results) });
    return this.imports.length - 1;
  }

  /** @returns the index to call it by. The builder may be filled later. */
  add(builder: FunctionBuilder, exportName?: string): number {
    const index = this.imports.length + this.functions.length;
    this.functions.push({ builder, type: this.typeIndex(builder.params, builder.results) });
    if (exportName !== undefined) this.exports.push({ name: exportName, index });
    return index;
  }

  finish(): Uint8Array {
    const out = new CodeBuffer();
    out.uint32(0x6d736100);
    out.uint32(1);
    section(out, SECTION.type, (body) => {
      body.unsigned(this.types.length);
      for (const type of this.types) body.append(type.bytes);
    });
    section(out, SECTION.import, (body) => {
      body.unsigned(this.imports.length + (this.isThreaded ? 2 : 1));
      body.name('node');
      body.name('memory');
      body.byte(KIND_MEMORY);
      body.byte(SHARED_LIMITS);
      body.unsigned(1);
      body.unsigned(this.memoryPages);
      if (this.isThreaded) {
        body.name('node');
        body.name('area');
        body.byte(KIND_GLOBAL);
        body.byte(typeByte.i32);
        body.byte(IMMUTABLE);
      }
      for (const each of this.imports) {
        body.name('node');
        body.name(each.name);
        body.byte(KIND_FUNCTION);
        body.unsigned(each.type);
      }
    });
    section(out, SECTION.function, (body) => {
      body.unsigned(this.functions.length);
      for (const each of this.functions) body.unsigned(each.type);
    });
    section(out, SECTION.export, (body) => {
      body.unsigned(this.exports.length);
      for (const each of this.exports) {
        body.name(each.name);
        body.byte(KIND_FUNCTION);
        body.unsigned(each.index);
      }
    });
    section(out, SECTION.code, (body) => {
      body.unsigned(this.functions.length);
      for (const each of this.functions) {
        const bytes = each.builder.finish(this.isThreaded);
        body.unsigned(bytes.length);
        body.append(bytes);
      }
    });
    return out.bytes();
  }

  private typeIndex(params: readonly WasmType[], results: readonly WasmType[]): number {
    const key = `${params.join()}>${results.join()}`;
    const found = this.types.findIndex((type) => type.key === key);
    if (found >= 0) return found;
    const body = new CodeBuffer();
    body.byte(FUNCTION_FORM);
    for (const list of [params, results]) {
      body.unsigned(list.length);
      for (const type of list) body.byte(typeByte[type]);
    }
    this.types.push({ key, bytes: body.bytes() });
    return this.types.length - 1;
  }
}

function section(out: CodeBuffer, id: number, write: (body: CodeBuffer) => void): void {
  const body = new CodeBuffer();
  write(body);
  out.byte(id);
  out.unsigned(body.length);
  out.append(body.bytes());
}
