import { statSync, type Stats } from 'node:fs';
import { extname } from 'node:path';
import { reasonOf } from '../../../simulator/text/index.js';
import { modulePath, moduleRefusal } from './modulePath.js';
import type { OwnProcessSource } from './processSource.js';

/** Why a model cannot be started from what its source names, without running it; undefined when it may. */
export function sourceRefusal(source: OwnProcessSource): string | undefined {
  if (source.kind === 'python') return pythonRefusal(source.path, source.python);
  return source.kind === 'exec' ? execRefusal(source.path, source.command) : moduleRefusal(source.path);
}

function pythonRefusal(path: string, python: string | undefined): string | undefined {
  const found = statsOf(path);
  if (typeof found === 'string') return found;
  if (!found.isFile()) return `${path}: is no file; a model in Python is a module`;
  if (extname(path) !== '.py') return `${path}: is no Python module (.py)`;
  return python === undefined ? undefined : interpreterRefusal(python);
}

/** Whether it is there is found out where it is started, which may be another machine. */
function interpreterRefusal(python: string): string | undefined {
  if (python.startsWith('/') || /^[^/\s]+$/.test(python)) return undefined;
  return `python: '${python}' is neither a name that is looked for on PATH, such as python3.11, nor an absolute path`;
}

function execRefusal(path: string, command: string): string | undefined {
  const found = statsOf(path);
  if (typeof found === 'string') return found;
  if (!found.isDirectory())
    return `${path}: is no folder; a program is given with the folder that it runs in`;
  if (command.trim() === '') return 'command: is empty; give what starts the program, such as ./model';
  return command.includes('\0') ? 'command: has a zero byte' : undefined;
}

function statsOf(path: string): Stats | string {
  try {
    return statSync(modulePath(path));
  } catch (error) {
    return `${path}: cannot be read: ${reasonOf(error)}`;
  }
}
