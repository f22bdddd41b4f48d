import ts from 'typescript';

const PLAIN =
  ts.TypeFlags.StringLike |
  ts.TypeFlags.NumberLike |
  ts.TypeFlags.BigIntLike |
  ts.TypeFlags.BooleanLike |
  ts.TypeFlags.Null |
  ts.TypeFlags.Undefined |
  ts.TypeFlags.Unknown |
  ts.TypeFlags.Never;

/**
 * Writes what a type is, as the checker has found it out: for types of schemas, which nobody has written down. Everything is
 * read-only: callers may hand in more so, and change no answer.
 */
export class TypeText {
  constructor(
    private readonly checker: ts.TypeChecker,
    /** Told of every type that is written by its name. */
    private readonly onName: (symbol: ts.Symbol) => void,
  ) {}

  /** Of a type that is about to get a name: not by the one that it has. */
  ofDeclaration(type: ts.Type): { readonly isObject: boolean; readonly text: string } {
    const isObject = this.isRecord(type);
    return { isObject, text: isObject ? this.members(type) : this.structure(type) };
  }

  private of(type: ts.Type): string {
    const alias = type.aliasSymbol;
    if (alias !== undefined && type.aliasTypeArguments === undefined && isOurs(alias)) {
      this.onName(alias);
      return alias.name;
    }
    return this.structure(type);
  }

  private structure(type: ts.Type): string {
    if ((type.flags & PLAIN) !== 0)
      return this.checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
    if (type.isUnion()) return this.union(type);
    if (this.checker.isArrayType(type)) {
      const [element] = this.checker.getTypeArguments(type as ts.TypeReference);
      return `readonly (${this.of(element)})[]`;
    }
    const index = this.checker.getIndexInfoOfType(type, ts.IndexKind.String);
    if (index !== undefined) return `Readonly<Record<string, ${this.of(index.type)}>>`;
    if (this.isRecord(type)) return this.members(type);
    throw new Error(`${this.checker.typeToString(type)}: this kind of type is not written yet`);
  }

  /** `boolean` is a union of two. */
  private union(type: ts.UnionType): string {
    const isBoolean = (part: ts.Type) => (part.flags & ts.TypeFlags.BooleanLiteral) !== 0;
    const isLast = ({ flags }: ts.Type) => (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)) !== 0;
    const others = type.types.filter((part) => !isBoolean(part) && !isLast(part));
    const booleans = type.types.filter(isBoolean);
    const texts = others.map((part) => this.of(part));
    if (booleans.length === 2) texts.push('boolean');
    else texts.push(...booleans.map((part) => this.of(part)));
    texts.push(...type.types.filter(isLast).map((part) => this.of(part)));
    return [...new Set(texts)].map((text) => (text.includes('readonly (') ? `(${text})` : text)).join(' | ');
  }

  private members(type: ts.Type): string {
    const lines = this.checker.getPropertiesOfType(type).map((property) => {
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      const [declaration] = property.declarations ?? [];
      const found = this.checker.getTypeOfSymbol(property);
      const text = this.of(found) + (isOptional && !this.hasUndefined(found) ? ' | undefined' : '');
      return `${this.docs(property, declaration)}readonly ${property.name}${isOptional ? '?' : ''}: ${text};`;
    });
    return `{\n${lines.join('\n')}\n}`;
  }

  private hasUndefined(type: ts.Type): boolean {
    const parts = type.isUnion() ? type.types : [type];
    return parts.some(({ flags }) => (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Unknown)) !== 0);
  }

  private isRecord(type: ts.Type): boolean {
    const isObject = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;
    return (
      isObject &&
      !this.checker.isArrayType(type) &&
      this.checker.getIndexInfosOfType(type).length === 0 &&
      this.checker.getSignaturesOfType(type, ts.SignatureKind.Call).length === 0
    );
  }

  /** Its comment, or what its schema says of it. */
  private docs(property: ts.Symbol, declaration: ts.Declaration | undefined): string {
    const comment = ts.displayPartsToString(property.getDocumentationComment(this.checker));
    const text = comment || described(declaration);
    return text === '' ? '' : `/** ${text} */\n`;
  }
}

/** The text of `.describe('…')` at the end of a field of a schema. */
function described(declaration: ts.Declaration | undefined): string {
  if (declaration === undefined || !ts.isPropertyAssignment(declaration)) return '';
  const call = declaration.initializer;
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return '';
  const [text] = call.arguments;
  const isText = call.expression.name.text === 'describe' && ts.isStringLiteralLike(text);
  return isText ? text.text : '';
}

function isOurs(symbol: ts.Symbol): boolean {
  const [declaration] = symbol.declarations ?? [];
  if (/node_modules/.test(declaration.getSourceFile().fileName)) return false;
  return (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Export) !== 0;
}
