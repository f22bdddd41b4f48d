import { join } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import { echoTag } from './echoAnswers.js';
import { compiled } from './probed.js';

const FOLDER = join(packageRoot(), 'loadtest/soak/echo');

/** What runs a version of the echo model: users' processes of every kind in turn, all with the same answers. */
export function echoContainer(version: number): object {
  const tag = echoTag(version);
  switch (version % 3) {
    case 1:
      return {
        container_name: 'windjammer/process',
        model_data_path: compiled(`soak/${tag}Echo.js`),
      };
    case 2:
      return { container_name: 'windjammer/python', model_data_path: join(FOLDER, `${tag}.py`) };
    default:
      return {
        container_name: 'windjammer/exec',
        model_data_path: FOLDER,
        command: `python3 program.py ${tag}`,
      };
  }
}

/** So many versions have all kinds. */
export const ECHO_KINDS = 3;
