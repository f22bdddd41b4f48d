import type { Declared, VariableShape } from './declarations.js';
import type { IrVariable } from './ir.js';
import type { Token } from './lexer.js';
import type { TokenStream } from './tokenStream.js';

/** What a file's constants may take, each at its alignment. */
const mostConstantBytes = 65536;

/** The variables of a module, and the names of its textures, samplers and surfaces. */
export class ModuleVariables {
  private readonly variables = new Map<string, IrVariable>();
  /** Textures, samplers and surfaces: names that no memory stands behind, and whether another module defines them. */
  private readonly opaque = new Map<string, { readonly isExtern: boolean }>();
  private readonly shapes = new Map<string, VariableShape>();
  private constantBytes = 0;

  constructor(private readonly stream: TokenStream) {}

  has(name: string): boolean {
    return this.variables.has(name) || this.opaque.has(name);
  }

  isOpaque(name: string): boolean {
    return this.opaque.has(name);
  }

  get(name: string): IrVariable | undefined {
    return this.variables.get(name);
  }

  values(): Iterable<IrVariable> {
    return this.variables.values();
  }

  /** A texture, sampler or surface. */
  addOpaque({ token, name, isExtern }: Pick<Declared, 'token' | 'name' | 'isExtern'>): void {
    const isDefined = this.variables.has(name) || this.opaque.get(name)?.isExtern === false;
    if (isDefined && !(isExtern && this.opaque.has(name)))
      this.stream.fail(`a name other than ${name}, which is declared already`, token);
    this.opaque.set(name, { isExtern });
  }

  /**
   * Adds a declaration. One name may be declared `.extern` and defined, in either order, of one type and shape; what is
   * declared `.extern` first is defined for others to see.
   */
  declare(declared: Declared): void {
    const { token, name, shape, variable } = declared;
    if (variable === undefined) {
      this.addOpaque(declared);
      return;
    }
    if (this.opaque.has(name)) this.stream.fail(`a name other than ${name}, which is no variable`, token);
    const previous = this.variables.get(name);
    if (previous === undefined) {
      this.shapes.set(name, shape);
      this.add(token, name, variable);
      return;
    }
    if (!previous.isExtern && !variable.isExtern)
      this.stream.fail(`one definition of ${name}, not two`, token);
    if (!agrees(this.shapes.get(name), shape))
      this.stream.fail(`${name} as it was declared before, in type and extents`, token);
    if (variable.isExtern) return;
    if (variable.linkage === undefined)
      this.stream.fail(`.visible or .weak before ${name}, which was declared .extern`, token);
    this.shapes.set(name, shape);
    this.variables.delete(name);
    this.add(token, name, variable);
  }

  /** Adds a variable whose name nothing else in the text has. */
  add(token: Token, name: string, variable: IrVariable): void {
    if (variable.space === 'const') {
      const { bytes, align } = variable;
      this.constantBytes = Math.ceil(this.constantBytes / align) * align + bytes;
      if (this.constantBytes > mostConstantBytes)
        this.stream.fail(
          `at most ${mostConstantBytes} bytes of .const variables (a table of more goes in .global)`,
          token,
          'unsupported',
        );
    }
    this.variables.set(name, variable);
  }
}

function agrees(one: VariableShape | undefined, other: VariableShape): boolean {
  if (one?.text !== other.text) return false;
  return one.extent === other.extent || (one.extent === 0 && (other.extent ?? 0) > 0);
}
