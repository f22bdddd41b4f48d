import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { packageRoot } from '../../../simulator/files/index.js';
import { TypeText } from './typeText.js';

const ENTRY = 'services/client/publicClient.ts';
export const DECLARATIONS = 'services/client/clientModule.d.ts';

const HEAD = `/**
 * Types of \`windjammer/client\`, for Node and browsers: they need AbortSignal and AsyncIterable, and no package.
 * Made of the sources by \`node dist/services/client/tests/writeDeclarations.js\`; a test holds it to them.
 */
`;

/** The declarations of everything that the public client exports or names, in one file that imports nothing. */
export async function clientDeclarations(): Promise<string> {
  const root = packageRoot();
  const text = HEAD + new RollUp(root).text();
  const options = await resolveConfig(join(root, DECLARATIONS));
  return format(text, { ...options, parser: 'typescript' });
}

class RollUp {
  private readonly program: ts.Program;
  private readonly checker: ts.TypeChecker;
  private readonly emitted = new Map<ts.SourceFile, ts.SourceFile>();
  /** By name, in the order in which they are found. */
  private readonly found = new Map<string, ts.Symbol>();
  /** Exported as what one can construct or extend. */
  private readonly values = new Set<ts.Symbol>();

  constructor(root: string) {
    const config = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path));
    const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
    delete options.tsBuildInfoFile;
    const settings = { ...options, declaration: true, incremental: false, sourceMap: false };
    this.program = ts.createProgram([join(root, ENTRY)], settings);
    this.checker = this.program.getTypeChecker();
    this.enter(join(root, ENTRY));
  }

  text(): string {
    // What a declaration names is appended while they are written.
    let text = '';
    for (const symbol of this.found.values()) text += `\n${this.declaration(symbol)}\n`;
    return text;
  }

  private enter(path: string): void {
    const entry = this.program.getSourceFile(path);
    const symbol = entry && this.checker.getSymbolAtLocation(entry);
    if (symbol === undefined) throw new Error(`${path} is no module`);
    for (const exported of this.checker.getExportsOfModule(symbol)) {
      const target = this.origin(exported);
      this.name(target);
      const specifier = exported.declarations?.find(ts.isExportSpecifier);
      if (specifier && !specifier.isTypeOnly && !specifier.parent.parent.isTypeOnly) this.values.add(target);
    }
  }

  private name(symbol: ts.Symbol): void {
    const before = this.found.get(symbol.name);
    if (before !== undefined && before !== symbol)
      throw new Error(`two different things of the client are called ${symbol.name}`);
    this.found.set(symbol.name, symbol);
  }

  private origin(symbol: ts.Symbol): ts.Symbol {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    return this.checker.getExportSymbolOfSymbol(isAlias ? this.checker.getAliasedSymbol(symbol) : symbol);
  }

  private declaration(symbol: ts.Symbol): string {
    const [source] = symbol.declarations ?? [];
    const file = source.getSourceFile();
    const node = this.emittedFile(file).statements.find((statement) => declares(statement, symbol.name));
    if (node === undefined) throw new Error(`${symbol.name} is not declared in ${file.fileName}`);
    const docs = docsOf(node);
    if (ts.isTypeAliasDeclaration(node) && isInferred(node)) {
      const type = this.checker.getDeclaredTypeOfSymbol(symbol);
      const printed = new TypeText(this.checker, (named) => this.name(named)).ofDeclaration(type);
      return `${docs}export ${printed.isObject ? `interface ${symbol.name} ` : `type ${symbol.name} = `}${printed.text}`;
    }
    if (ts.isClassDeclaration(node)) return docs + this.classText(node, symbol, file);
    this.nameReferences(node, file);
    const text = node.getText().replace(/^(export )?(declare )?/, '');
    return `${docs}export ${ts.isVariableStatement(node) ? 'declare ' : ''}${text}`;
  }

  /** Without what is private. A class of which only the type is exported can be neither made nor extended: an interface. */
  private classText(node: ts.ClassDeclaration, symbol: ts.Symbol, file: ts.SourceFile): string {
    const isValue = this.values.has(symbol) || this.isExtended(symbol);
    const members = node.members.filter((member) =>
      isValue && ts.isConstructorDeclaration(member)
        ? true
        : !ts.isConstructorDeclaration(member) && !isPrivate(member),
    );
    for (const part of [...members, ...(node.heritageClauses ?? [])]) this.nameReferences(part, file);
    const body = members.map((member) => member.getFullText()).join('');
    const abstract = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword);
    const heritage = (node.heritageClauses ?? []).map((clause) => clause.getText()).join(' ');
    const kind = isValue ? `declare ${abstract === true ? 'abstract ' : ''}class` : 'interface';
    return `export ${kind} ${symbol.name} ${heritage} {${body}\n}`;
  }

  private isExtended(symbol: ts.Symbol): boolean {
    return [...this.values].some((value) =>
      value.declarations?.some(
        (declaration) =>
          ts.isClassDeclaration(declaration) &&
          declaration.heritageClauses?.some((clause) =>
            clause.types.some(({ expression }) => expression.getText() === symbol.name),
          ),
      ),
    );
  }

  /** Everything of ours that a declaration names is declared, too. */
  private nameReferences(node: ts.Node, file: ts.SourceFile): void {
    const visit = (part: ts.Node): void => {
      if (ts.isTypeReferenceNode(part)) this.nameReference(part.typeName, file);
      else if (ts.isExpressionWithTypeArguments(part)) this.nameReference(part.expression, file);
      else if (ts.isTypeQueryNode(part) || ts.isImportTypeNode(part))
        throw new Error(`${part.getText()} in ${file.fileName} cannot stand alone: give the type a name`);
      ts.forEachChild(part, visit);
    };
    visit(node);
  }

  private nameReference(reference: ts.Node, file: ts.SourceFile): void {
    const [name] = reference.getText().split('.');
    const flags = ts.SymbolFlags.Type | ts.SymbolFlags.Alias | ts.SymbolFlags.Namespace;
    const inScope = this.checker.getSymbolsInScope(file, flags).find((symbol) => symbol.name === name);
    // A parameter of the type itself.
    if (inScope === undefined) return;
    const symbol = this.origin(inScope);
    const from = symbol.declarations?.[0]?.getSourceFile();
    if (from === undefined) return;
    if (!/node_modules/.test(from.fileName)) this.name(symbol);
    else if (inScope !== symbol || name === 'Buffer' || name === 'NodeJS')
      throw new Error(
        `${reference.getText()} in ${file.fileName} is of a package: the client's types stand alone`,
      );
  }

  private emittedFile(file: ts.SourceFile): ts.SourceFile {
    let emitted = this.emitted.get(file);
    if (emitted === undefined) {
      let text = '';
      this.program.emit(file, (_path, written) => (text = written), undefined, true);
      emitted = ts.createSourceFile(file.fileName, text, ts.ScriptTarget.Latest, true);
      this.emitted.set(file, emitted);
    }
    return emitted;
  }
}

function declares(statement: ts.Statement, name: string): boolean {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.some((one) => one.name.getText() === name);
  return (
    (ts.isClassDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement)) &&
    statement.name?.text === name
  );
}

/** Whether only the checker knows what it is: of a schema, or of a value. */
function isInferred({ type }: ts.TypeAliasDeclaration): boolean {
  return /\bz\.|\btypeof\b|\[["']/.test(type.getText());
}

function isPrivate(member: ts.ClassElement): boolean {
  return (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0;
}

function docsOf(node: ts.Node): string {
  const text = node.getSourceFile().text;
  const ranges = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
  const last = ranges.at(-1);
  return last === undefined ? '' : `${text.slice(last.pos, last.end)}\n`;
}
