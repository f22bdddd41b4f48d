import { isaRows, laterFamilies, type InstructionForm, type Row } from '../../ptx/index.js';
import { alternatives, countVectors, grouped, typeListsOf } from './formCoverage.js';

const HEAD = `# PTX instructions

What kernels may consist of: every form that runs, and what it is held to. The page is written from the table of instructions,
\`simulator/ptx/isa\`, by \`node dist/simulator/laboratory/instructions/writeReference.js\`.

- **Form**: modifiers that must be there, others in braces, of which most exclude each other; then the types. \`|\` separates what stands for one another.
- **Operands**: \`T\` is the last type, \`T1\` the first, \`W\` twice as wide as T; \`i\` any 32 bits, \`p\` a predicate, \`a\` an address in brackets,
  \`l\` a label; \`vT\` may be a vector in braces, \`T|p\` may have a predicate beside it; braces mark what may be absent.
- **Since**: the first PTX version and target that have the form, some of whose modifiers came later. Texts of PTX 1.0 to 9.5 are read as the newest.
- **Held to**: how many vectors hold the form bit by bit to what an H200 answered (\`simulator/laboratory/instructions\`); elsewhere kernels of
  the laboratory and random ones (\`kernels\`), or tests.

An instruction that is not here is refused by name when the module is loaded, with the line; other kernels of the module run.

Texts of any compiler are read: nvcc, clang and what else writes through LLVM (Rust, Julia, Triton, numba, Halide, OpenCL C), GCC's nvptx
(\`simulator/laboratory/compilers\`). What they leave to a library must be linked in when they compile: \`__nv_…\` of libdevice,
\`get_global_id\` and its kind of libclc; a kernel that calls what is not there is refused with its name.
`;

const EFFECTS: Readonly<Record<Row['effects']['kind'], string>> = {
  pure: 'Computes',
  address: 'Converts and tests addresses',
  load: 'Loads',
  store: 'Stores',
  atomic: 'Atomic operations',
  reduction: 'Atomic operations without a result',
  copy: 'Copies',
  discard: 'Gives up contents',
  hint: 'Hints',
  fence: 'Orders accesses',
  wait: 'Waits',
  barrier: 'Barriers',
  exchange: 'Lanes tell each other',
  matrix: 'Matrices',
  fetch: 'Fetches of textures',
  query: 'Questions about textures and surfaces',
  surface: 'Accesses of surfaces',
  branch: 'Branches',
  switch: 'Branches by an index',
  return: 'Ends',
  exit: 'Ends',
  trap: 'Ends',
  breakpoint: 'Ends',
  call: 'Calls',
  host: 'Calls of the device runtime',
  unknown: 'Others',
};

/** The text of docs/reference/ptx.md. */
export function instructionReference(): string {
  const running = [...isaRows].filter(([, { forms }]) => forms.length > 0);
  const sections = grouped(running, ([, { effects }]) => EFFECTS[effects.kind]);
  return [
    HEAD,
    ...[...sections].map(([title, rows]) => `## ${title}\n\n${tableOf(rows)}\n`),
    `## Read by rules of their own\n\n${formlessTable('parsed')}\n`,
    `## Replaced by others when they are read\n\n${formlessTable('replaced')}\n`,
    `## Functions of the device runtime\n\nA call of one of these becomes an instruction.\n\n${formlessTable('lowered')}\n`,
    `## Refused by name\n\n${refusedTable()}\n`,
    `## Refused: no card before sm_100 has it\n\n${laterTable()}\n`,
  ].join('\n');
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function tableOf(rows: readonly (readonly [string, Row])[]): string {
  const lines = rows.flatMap(([opcode, row]) =>
    row.forms.map((form) => [
      code(`${opcode}${modifiersText(form)}${typesText(form)}`),
      code(operandsText(form)),
      `${form.since.ptx}, sm_${form.since.target}`,
      heldText(opcode, row, form),
    ]),
  );
  return table(['form', 'operands', 'since', 'held to'], lines);
}

function heldText(opcode: string, { heldBy }: Row, form: InstructionForm): string {
  if (heldBy !== 'vectors') return heldBy;
  const vectors = countVectors(opcode, form);
  return vectors === 1 ? '1 vector' : `${vectors} vectors`;
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``;
}

function modifiersText({ allowed, required }: InstructionForm): string {
  const needed = required.map((each) => alternatives(each));
  const rest = alternatives(allowed).filter((each) => !needed.flat().includes(each));
  const any = (words: readonly string[]): string => words.map(word).join('|');
  const must = needed.map((words) => (words[0] === '\\w+' ? '' : `.${any(words)}`)).join('');
  return `${must}${rest.length === 0 ? '' : `{.${any(rest)}}`}`;
}

/** What stands for a class of words. */
function word(pattern: string): string {
  return pattern.replace('\\w+', '…').replace(/\(\?:|\)/g, '');
}

/** Types as a product where they are one: `.u16|u32.f32|f64`. */
function typesText(form: InstructionForm): string {
  const lists = typeListsOf(form).map((list) => list.split('.'));
  const [first = []] = lists;
  if (first[0] === '') return '';
  const columns = first.map((_, at) => [...new Set(lists.map((list) => list[at] ?? ''))]);
  const isProduct = columns.reduce((count, column) => count * column.length, 1) === lists.length;
  return isProduct
    ? columns.map((column) => `.${column.join('|')}`).join('')
    : ` of ${lists.map((list) => `.${list.join('.')}`).join(' or ')}`;
}

function operandsText({ destinations, sources }: InstructionForm): string {
  const to = destinations.join(', ');
  return [to, sources.join(', ')].filter((side) => side !== '').join(' <- ');
}

function formlessTable(kind: 'parsed' | 'replaced' | 'lowered'): string {
  const rows = [...isaRows].flatMap(([opcode, { formless, heldBy }]) =>
    formless?.kind === kind ? [[code(opcode), code(formless.text), heldBy]] : [],
  );
  return table(['opcode', 'text', 'held to'], rows);
}

function refusedTable(): string {
  const reasons = new Map<string, string[]>();
  for (const [opcode, { formless }] of isaRows) {
    if (formless?.kind !== 'refused') continue;
    reasons.set(formless.reason, [...(reasons.get(formless.reason) ?? []), code(opcode)]);
  }
  return table(
    ['opcodes', 'reason'],
    [...reasons].map(([reason, opcodes]) => [opcodes.join(' '), reason]),
  );
}

function laterTable(): string {
  return table(
    ['such as', 'what it is', 'targets that have it', 'instead'],
    laterFamilies.map(({ example, what, targets, instead }) => [code(example), what, targets, instead]),
  );
}
