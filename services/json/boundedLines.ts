/**
 * The lines of a file or answer, without their ends, as they come; of a device or a file without line ends no more is held
 * than one line may have.
 * @param tooLong the error of a line, the first one is 1, that has more than `mostBytes`
 */
export async function* boundedLines(
  chunks: AsyncIterable<Uint8Array>,
  mostBytes: number,
  tooLong: (line: number) => Error,
): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  let line = 1;
  for await (const chunk of chunks) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(10, from);
      if (end === -1) break;
      if (bytes + end - from > mostBytes) throw tooLong(line);
      yield Buffer.concat([...held, chunk.subarray(from, end)]);
      held = [];
      bytes = 0;
      line += 1;
      from = end + 1;
    }
    // A file may overwrite the chunk with the next.
    if (from < chunk.length) held.push(Buffer.from(chunk.subarray(from)));
    bytes += chunk.length - from;
    if (bytes > mostBytes) throw tooLong(line);
  }
  if (bytes > 0) yield Buffer.concat(held);
}
