import type { TokenStream } from './tokenStream.js';

/**
 * `.file 1 "a.cu", 16627, 54` and `.loc 1 10 44, function_name $L__info, inlined_at 1 5 3`: where the text came from, which
 * nothing here needs. They end without a `;`, so that an instruction may follow on their line.
 */
export function skipDebugDirective(stream: TokenStream): void {
  const isFile = stream.next().text === '.file';
  stream.count('the number of a file');
  if (isFile) {
    if (stream.peek().kind !== 'string') stream.fail('the name of a file');
    stream.next();
    if (!stream.accept(',')) return;
    stream.count('the time of the file');
    stream.expect(',', 'after the time');
    stream.count('the size of the file');
    return;
  }
  stream.count('a line');
  stream.count('a column');
  while (stream.accept(',')) {
    if (stream.accept('inlined_at')) {
      stream.count('the number of a file');
      stream.count('a line');
      stream.count('a column');
      continue;
    }
    if (!stream.accept('function_name')) stream.fail("'function_name' or 'inlined_at'");
    stream.word('a label');
    if (stream.accept('+')) stream.count('an offset');
  }
}
