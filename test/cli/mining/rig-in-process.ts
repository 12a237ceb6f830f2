/** Runs commands that mine in this process, with the engines of a test, for files that replace `choose-engines.js`. */

import { PassThrough } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import { chooseEngines } from '#pickaxe/app/composition/choose-engines.js';
import type { Engine } from '#pickaxe/miner/engine/engine.js';
import { pickaxeIn } from '../in-process.ts';

/** Gives the command that a test runs next these engines, and a standard input and output. */
export function rigOf(engines: readonly Engine[]) {
  vi.mocked(chooseEngines)
    .mockReset()
    .mockResolvedValue([...engines]);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let log = '';
  const spies = [
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as never),
    vi.spyOn(process, 'stdout', 'get').mockReturnValue(stdout as never),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      log += text;
      return true;
    }),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  /** The folder also has the user's files. */
  const run = (folder: string, args: string[]) => pickaxeIn(folder, args, { XDG_CONFIG_HOME: folder });
  return { stdin, stdout, log: () => log, run };
}
