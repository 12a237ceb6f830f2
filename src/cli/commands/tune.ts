/** `pickaxe bench --tune`: measures the CPU kernels again and remembers which one is the fastest. */

import { userCacheDirectory } from '../../cache.ts';
import { surveyKernels } from '../../engine/cpu/kernels/choose.ts';
import { EXIT } from '../exit-codes.ts';
import { kernelLines, kernelRows } from '../kernel-table.ts';
import { makeLog } from '../log.ts';
import { thisMachine } from '../machine.ts';

export async function runTune(threads: number, json: boolean): Promise<number> {
  const machine = thisMachine();
  const survey = await surveyKernels({ threads, cacheDirectory: userCacheDirectory() }, true);
  const kernels = kernelRows(survey);
  const kernel = kernels.find(({ chosen }) => chosen)?.name;
  if (survey.notRemembered !== undefined) {
    makeLog('info', 'auto').warn({ tag: 'cpu' }, `these speeds are not remembered: ${survey.notRemembered}`);
  }
  if (json) process.stdout.write(`${JSON.stringify({ machine, kernel, threads, kernels })}\n`);
  else process.stdout.write(`${[machine.cpu, ...kernelLines(kernels, threads)].join('\n')}\n`);
  return kernel ? EXIT.done : EXIT.noDevice;
}
