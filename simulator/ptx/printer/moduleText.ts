import type { IrModule, IrOperand } from '../ir.js';
import { headText, variableText } from './declarationText.js';
import { printFunction } from './functionText.js';

/**
 * A module as PTX: parsing the text gives the module again, source lines apart. Of a function that is refused a comment with
 * the reason stands there (and a declaration, when it can be called); texture references are declared again where they are
 * used.
 */
export function printModule(ir: IrModule): string {
  const items = [
    ...ir.declarations.map((each) => ({ line: each.line, text: `${headText(each)};\n` })),
    ...ir.variables.map((each) => ({ line: each.line, text: `${variableText(each)}\n` })),
    ...ir.functions.map((fn) => ({
      line: fn.line,
      text: fn.refusal === undefined ? printFunction(fn) : refused(fn),
    })),
  ].sort((a, b) => a.line - b.line);
  const header = [`.version ${ir.ptxVersion}`, `.target ${ir.targets.join(', ')}`, '.address_size 64'];
  const opaque = opaqueNames(ir).map((name) => `.global .texref ${name};`);
  return [...header, '', ...opaque, ...items.map(({ text }) => text)].join('\n');
}

function refused(fn: IrModule['functions'][number]): string {
  const { line, instruction, reason } = fn.refusal ?? { line: fn.line, instruction: '', reason: '' };
  const comment = `// ${fn.name} cannot run: line ${line}, '${instruction}': ${reason}`.replace(/\s+/g, ' ');
  return fn.isEntry ? `${comment}\n` : `${comment}\n${headText(fn)};\n`;
}

/** Names that instructions use and nothing declares: texture, sampler and surface references, which no memory stands behind. */
function opaqueNames(ir: IrModule): string[] {
  const declared = new Set([...ir.variables, ...ir.functions, ...ir.declarations].map(({ name }) => name));
  const found = new Set<string>();
  for (const fn of ir.functions) {
    const own = new Set(
      [...fn.variables, ...fn.parameters, ...fn.returns, ...fn.callParameters].map(({ name }) => name),
    );
    const visit = (operand: IrOperand): void => {
      const name =
        operand.kind === 'symbol' ? operand.name : operand.kind === 'address' ? operand.base : undefined;
      if (typeof name === 'string' && !own.has(name) && !declared.has(name)) found.add(name);
      if (operand.kind === 'vector') operand.elements.forEach(visit);
    };
    for (const { destinations, sources } of fn.instructions) [...destinations, ...sources].forEach(visit);
  }
  return [...found];
}
