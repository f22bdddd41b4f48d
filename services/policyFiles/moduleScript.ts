import { parse, type AnyNode, type Program } from 'acorn';
import { PolicyFileError } from './policyFileError.js';

/** What a policy file may import; types are no import. */
export const POLICY_LIBRARY = 'windjammer/policy';
export const LIBRARY_NAMES: readonly string[] = ['PolicyError', 'lossOf', 'sameOutput'];

/**
 * An ES module as a function `(exports, library) => void` that a script can hold, line by line the same: Node loads modules into
 * contexts of their own only behind an experimental flag.
 * @param name of the file, for messages
 * @throws PolicyFileError with the line of what is no JavaScript, or reaches outside the file
 */
export function moduleScript(name: string, text: string): string {
  const refuse = (node: AnyNode, message: string): PolicyFileError =>
    new PolicyFileError('file', `${name}:${node.loc?.start.line ?? 1}: ${message}`);
  const program = parsed(name, text);
  refuseOutside(program, refuse);
  let [head, body, tail, end] = ['', '', '', 0];
  /** Up to `node` as it is, and `code` in its place; lines stay where they are. */
  const replace = ({ start, end: nodeEnd }: { start: number; end: number }, code: string): void => {
    const lines = text.slice(start, nodeEnd).split('\n').length - code.split('\n').length;
    body += text.slice(end, start) + code + '\n'.repeat(Math.max(0, lines));
    end = nodeEnd;
  };
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') {
      const names = node.specifiers.map((one) => {
        if (node.source.value !== POLICY_LIBRARY)
          throw refuse(
            node,
            `imports '${String(node.source.value)}': a policy is one file, bundle what it needs into it; only '${POLICY_LIBRARY}' is there`,
          );
        const imported =
          one.type === 'ImportSpecifier' && one.imported.type === 'Identifier' ? one.imported.name : '';
        if (LIBRARY_NAMES.includes(imported)) return `${imported}: ${one.local.name}`;
        throw refuse(one, `'${POLICY_LIBRARY}' has ${LIBRARY_NAMES.join(', ')}, by these names`);
      });
      head += `const {${names.join(', ')}} = library; `;
      replace(node, '');
    } else if (node.type === 'ExportAllDeclaration') {
      throw refuse(node, 'exports what another file has: a policy is one file');
    } else if (node.type === 'ExportDefaultDeclaration') {
      const { declaration } = node;
      const named =
        (declaration.type === 'FunctionDeclaration' || declaration.type === 'ClassDeclaration') &&
        declaration.id !== null;
      if (named) tail += `exports.default = ${(declaration.id as { name: string }).name}; `;
      replace({ start: node.start, end: declaration.start }, named ? '' : 'exports.default = ');
      body += text.slice(end, node.end) + (named ? '' : ';');
      end = node.end;
    } else if (node.type === 'ExportNamedDeclaration') {
      const { declaration } = node;
      if (declaration === null || declaration === undefined) {
        if (node.source !== null && node.source !== undefined)
          throw refuse(node, 'exports what another file has: a policy is one file');
        for (const { local, exported } of node.specifiers)
          tail += `exports[${JSON.stringify(nameOf(exported))}] = ${nameOf(local)}; `;
        replace(node, '');
      } else {
        for (const one of declaration.type === 'VariableDeclaration'
          ? declaration.declarations
          : [declaration])
          if (one.id.type === 'Identifier') tail += `exports.${one.id.name} = ${one.id.name}; `;
          else throw refuse(one, 'export single names, not patterns');
        replace({ start: node.start, end: declaration.start }, '');
      }
    }
  }
  body += text.slice(end);
  return `(exports, library) => { "use strict"; ${head}${body}\n${tail}}`;
}

function nameOf(node: AnyNode): string {
  return node.type === 'Identifier' ? node.name : String((node as { readonly value?: unknown }).value);
}

function parsed(name: string, text: string): Program {
  try {
    return parse(text, { ecmaVersion: 2022, sourceType: 'module', locations: true, allowHashBang: false });
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new PolicyFileError('file', `${name}: is nested deeper than can be read`, { cause });
    if (!(cause instanceof SyntaxError)) throw cause;
    // "Unexpected token (3:7)"
    const [, message = cause.message, line = '1'] = /^(.*) \((\d+):\d+\)$/s.exec(cause.message) ?? [];
    const hint = /import|export/.test(message)
      ? ''
      : ': a policy file is an ES module in JavaScript, to which TypeScript is compiled before';
    throw new PolicyFileError('file', `${name}:${line}: ${message}${hint}`, { cause });
  }
}

/** Nothing is loaded while it runs, and nothing is waited for while it is loaded. */
function refuseOutside(node: AnyNode, refuse: (node: AnyNode, message: string) => PolicyFileError): void {
  // Not by recursion: a file may nest as deep as it likes.
  const open = [{ one: node, isTop: true }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { one } = next;
    if (one.type === 'ImportExpression' || (one.type === 'MetaProperty' && one.meta.name === 'import'))
      throw refuse(one, 'import() and import.meta are not there: a policy is one file');
    const isTop = next.isTop && !one.type.includes('Function');
    if (isTop && (one.type === 'AwaitExpression' || (one.type === 'ForOfStatement' && one.await)))
      throw refuse(one, 'awaits while it is loaded: a policy is there at once, without async and await');
    for (const value of Object.values(one) as unknown[]) {
      for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
        if (typeof child === 'object' && child !== null && 'type' in child)
          open.push({ one: child as AnyNode, isTop });
    }
  }
}
