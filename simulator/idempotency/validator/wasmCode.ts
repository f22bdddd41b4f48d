/* eslint-disable @typescript-eslint/switch-exhaustiveness-check -- acorn's language is far larger than the part that is taken here */
import {
  parse,
  type AssignmentExpression,
  type BinaryExpression,
  type CallExpression,
  type Expression,
  type FunctionDeclaration,
  type MemberExpression,
  type ReturnStatement,
  type Statement,
  type VariableDeclarator,
} from 'acorn';
import { FunctionBuilder, ModuleBuilder, type OpName } from '../../wasm/index.js';

/** All that a WebAssembly memory may have, so that every launch's heap fits the import: its size is the heap's own. */
const MOST_PAGES = 65_536;
const TWO_32 = 2 ** 32;

type NumberType = 'i32' | 'f64';

const FLOAT_OPERATIONS: Readonly<Record<string, OpName>> = {
  '+': 'f64Add',
  '-': 'f64Sub',
  '*': 'f64Mul',
  '/': 'f64Div',
  '<': 'f64Lt',
  '<=': 'f64Le',
  '>': 'f64Gt',
  '>=': 'f64Ge',
  '==': 'f64Eq',
  '!=': 'f64Ne',
};
const INTEGER_OPERATIONS: Readonly<Record<string, OpName>> = {
  '+': 'i32Add',
  '-': 'i32Sub',
  '<': 'i32LtS',
  '<=': 'i32LeS',
  '>': 'i32GtS',
  '>=': 'i32GeS',
  '==': 'i32Eq',
  '!=': 'i32Ne',
  '&': 'i32And',
  '|': 'i32Or',
  '^': 'i32Xor',
  '<<': 'i32Shl',
  '>>': 'i32ShrS',
  '>>>': 'i32ShrU',
};
const COMPARISONS = new Set(['<', '<=', '>', '>=', '==', '!=']);
/** Of the engine's `Math`. */
const MATH: Readonly<Record<string, OpName>> = { abs: 'f64Abs', floor: 'f64Floor', ceil: 'f64Ceil' };
const LOADS: Readonly<Record<string, { readonly load: OpName; readonly type: NumberType }>> = {
  D: { load: 'f64Load', type: 'f64' },
  W: { load: 'i32Load', type: 'i32' },
  U: { load: 'i32Load8U', type: 'i32' },
};

/**
 * A module of the part of asm.js that verdicts are written in (asmText.ts): helpers of `foreign` are imported from `node` beside
 * the heap's memory, and the function `judge` is exported. Unlike the text, a module is compiled in one thread and used in
 * another: none that serves waits for it.
 * @throws TypeError where the text leaves that part, RangeError where it is too long for V8
 */
export function wasmCode(text: string): Uint8Array {
  const program = parse(text, { ecmaVersion: 5 });
  const module = new ModuleScope();
  for (const statement of program.body) {
    if (statement.type === 'VariableDeclaration')
      statement.declarations.forEach((each) => module.declare(each));
  }
  module.addToInt32();
  for (const statement of program.body) {
    if (statement.type === 'FunctionDeclaration') module.add(statement);
  }
  return module.builder.finish();
}

interface Callee {
  readonly index: number;
  readonly result: NumberType;
}

/** What stands outside functions. */
class ModuleScope {
  readonly builder = new ModuleBuilder(MOST_PAGES);
  readonly functions = new Map<string, Callee>();
  readonly constants = new Map<string, number>();
  toInt32 = -1;

  declare({ id, init }: VariableDeclarator): void {
    const name = nameOf(id);
    if (init?.type !== 'MemberExpression' || init.property.type !== 'Identifier') return;
    const of = init.object.type === 'Identifier' ? init.object.name : '';
    // One that returns nothing gives 0, as in asm.js.
    if (of === 'foreign')
      this.functions.set(name, { index: this.builder.importFunction(name, [], ['i32']), result: 'i32' });
    if (of === 'stdlib') this.constants.set(name, init.property.name === 'NaN' ? NaN : Infinity);
  }

  /** ECMAScript's `ToInt32`, exact of every number. */
  addToInt32(): void {
    const code = new FunctionBuilder(['f64'], ['i32']);
    const x = 0;
    code.get(x).op('f64Trunc').set(x);
    // Of an infinity it is no number, and of that 0.
    code
      .get(x)
      .get(x)
      .f64(1 / TWO_32)
      .op('f64Mul')
      .op('f64Floor')
      .f64(TWO_32)
      .op('f64Mul')
      .op('f64Sub');
    code.op('i64TruncSatF64S').op('i32WrapI64');
    this.toInt32 = this.builder.add(code);
  }

  add(declaration: FunctionDeclaration): void {
    const { name } = declaration.id;
    const code = new FunctionCode(this, declaration);
    const index = this.builder.add(code.builder, name === 'judge' ? name : undefined);
    this.functions.set(name, { index, result: code.result });
  }
}

class FunctionCode {
  readonly builder: FunctionBuilder;
  readonly result: NumberType;
  private readonly locals = new Map<string, { readonly index: number; readonly type: NumberType }>();

  constructor(
    private readonly module: ModuleScope,
    { params, body }: FunctionDeclaration,
  ) {
    this.result = resultOf(body.body);
    this.builder = new FunctionBuilder(
      params.map(() => 'f64'),
      [this.result],
    );
    params.forEach((param, index) => this.locals.set(nameOf(param), { index, type: 'f64' }));
    for (const statement of body.body) this.statement(statement);
    this.builder.op('unreachable');
  }

  private statement(statement: Statement): void {
    const { builder } = this;
    switch (statement.type) {
      case 'VariableDeclaration':
        for (const { id, init } of statement.declarations) {
          const type = literalType(init);
          this.locals.set(nameOf(id), { index: builder.local(type), type });
        }
        return;
      case 'ExpressionStatement':
        if (statement.expression.type === 'AssignmentExpression') this.assign(statement.expression);
        else {
          this.value(statement.expression);
          builder.op('drop');
        }
        return;
      case 'BlockStatement':
        for (const each of statement.body) this.statement(each);
        return;
      case 'IfStatement':
        this.integer(statement.test);
        builder.if();
        this.statement(statement.consequent);
        if (statement.alternate) {
          builder.else();
          this.statement(statement.alternate);
        }
        builder.end();
        return;
      case 'ReturnStatement':
        if (statement.argument) this.value(statement.argument);
        builder.op('return');
        return;
      case 'EmptyStatement':
        return;
      default:
        throw beyond(statement.type);
    }
  }

  private assign({ left, right }: AssignmentExpression): void {
    const { builder } = this;
    if (left.type === 'MemberExpression') {
      const { offset } = placeOf(left);
      builder.i32(0);
      this.value(right);
      builder.memory('f64Store', offset);
      return;
    }
    const local = this.local(nameOf(left));
    this.value(right);
    builder.set(local.index);
  }

  private integer(expression: Expression): void {
    if (this.value(expression) !== 'i32') throw beyond('a condition of floating point');
  }

  /** Leaves the value on the stack. */
  private value(expression: Expression): NumberType {
    const { builder } = this;
    switch (expression.type) {
      case 'Literal': {
        const type = literalType(expression);
        if (type === 'i32') builder.i32(Number(expression.value));
        else builder.f64(Number(expression.value));
        return type;
      }
      case 'Identifier': {
        const constant = this.module.constants.get(expression.name);
        if (constant !== undefined) {
          builder.f64(constant);
          return 'f64';
        }
        const { index, type } = this.local(expression.name);
        builder.get(index);
        return type;
      }
      case 'MemberExpression': {
        const { load, type, offset } = placeOf(expression);
        builder.i32(0).memory(load, offset);
        return type;
      }
      case 'UnaryExpression':
        return this.unary(expression.operator, expression.argument);
      case 'BinaryExpression':
        return this.binary(expression);
      case 'ConditionalExpression': {
        const { test, consequent, alternate } = expression;
        if (isPlain(consequent) && isPlain(alternate)) {
          const type = this.value(consequent);
          this.value(alternate);
          this.integer(test);
          builder.op('select');
          return type;
        }
        this.integer(test);
        builder.if('f64');
        this.value(consequent);
        builder.else();
        this.value(alternate);
        builder.end();
        return 'f64';
      }
      case 'CallExpression':
        return this.call(expression);
      default:
        throw beyond(expression.type);
    }
  }

  private unary(operator: string, argument: Expression): NumberType {
    const { builder } = this;
    if (operator === '~' && argument.type === 'UnaryExpression' && argument.operator === '~') {
      if (this.value(argument.argument) === 'f64') builder.call(this.module.toInt32);
      return 'i32';
    }
    const type = this.value(argument);
    switch (operator) {
      case '!':
        builder.op('i32Eqz');
        return 'i32';
      case '-':
        if (type === 'i32') builder.i32(-1).op('i32Mul');
        else builder.op('f64Neg');
        return type;
      case '+':
        if (type === 'i32') builder.op(isUnsigned(argument) ? 'f64ConvertI32U' : 'f64ConvertI32S');
        return 'f64';
      default:
        throw beyond(operator);
    }
  }

  private binary({ operator, left, right }: BinaryExpression): NumberType {
    if (left.type === 'PrivateIdentifier') throw beyond(left.type);
    const type = this.value(left);
    if (this.value(right) !== type) throw beyond(`${operator} of an integer and a number`);
    const operation = (type === 'f64' ? FLOAT_OPERATIONS : INTEGER_OPERATIONS)[operator];
    if (operation === undefined) throw beyond(`${operator} of ${type}`);
    this.builder.op(operation);
    return COMPARISONS.has(operator) ? 'i32' : type;
  }

  private call({ callee, arguments: given }: CallExpression): NumberType {
    const name = callee.type === 'Identifier' ? callee.name : '';
    for (const each of given) {
      if (each.type === 'SpreadElement') throw beyond(each.type);
      this.value(each);
    }
    const operation = MATH[name];
    if (operation !== undefined) {
      this.builder.op(operation);
      return 'f64';
    }
    const found = this.module.functions.get(name);
    if (found === undefined) throw beyond(`a call of ${name}`);
    this.builder.call(found.index);
    return found.result;
  }

  private local(name: string): { readonly index: number; readonly type: NumberType } {
    const found = this.locals.get(name);
    if (found === undefined) throw beyond(`${name} without a declaration`);
    return found;
  }
}

function beyond(what: string): TypeError {
  return new TypeError(`no code of verdicts: ${what}`);
}

function nameOf(node: { readonly type: string; readonly name?: string }): string {
  if (node.name === undefined) throw beyond(node.type);
  return node.name;
}

/** A point makes it one of floating point. */
function literalType(literal: Expression | null | undefined): NumberType {
  if (literal?.type !== 'Literal') throw beyond('a beginning that is no literal');
  return literal.raw?.includes('.') === true ? 'f64' : 'i32';
}

/** Heap elements are named by numbers: `D[32768 >> 3]`, `U[5]`. */
function placeOf({ object, property }: MemberExpression): {
  readonly load: OpName;
  readonly type: NumberType;
  readonly offset: number;
} {
  const view = LOADS[object.type === 'Identifier' ? object.name : ''];
  const index = property.type === 'BinaryExpression' && property.operator === '>>' ? property.left : property;
  if (view === undefined || index.type !== 'Literal') throw beyond('a place that no literal names');
  return { ...view, offset: Number(index.value) };
}

function isUnsigned(expression: Expression): boolean {
  return expression.type === 'BinaryExpression' && expression.operator === '>>>';
}

/** Costs nothing, also where it is not what is chosen. */
function isPlain(expression: Expression): boolean {
  return (
    expression.type === 'Literal' ||
    expression.type === 'Identifier' ||
    (expression.type === 'UnaryExpression' && expression.operator === '-' && isPlain(expression.argument))
  );
}

/** By the first return: `1.0 - x` and `+x` are numbers, `x | 0` and `1` integers. */
function resultOf(statements: readonly Statement[]): NumberType {
  const found = statements.map(returnIn).find((each) => each !== undefined)?.argument;
  if (!found) throw beyond('a function without a result');
  if (found.type === 'Literal') return literalType(found);
  return found.type === 'UnaryExpression' && found.operator === '+' ? 'f64' : 'i32';
}

function returnIn(statement: Statement): ReturnStatement | undefined {
  switch (statement.type) {
    case 'ReturnStatement':
      return statement;
    case 'BlockStatement':
      return statement.body.map(returnIn).find((each) => each !== undefined);
    case 'IfStatement':
      return (
        returnIn(statement.consequent) ?? (statement.alternate ? returnIn(statement.alternate) : undefined)
      );
    default:
      return undefined;
  }
}
