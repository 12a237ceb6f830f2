/** What is known about the CPU once it is open. Pure. */

import type { CoreInfo } from '../device.ts';
import type { EngineInfo } from '../engine.ts';
import type { CoreGroup } from './core-groups.ts';
import type { KernelChoice } from './kernels/choose.ts';
import type { ThreadChoice } from './threads.ts';

/**
 * @param kernels the kernel of each group of threads
 * @param sensors what the sensors tell, in words
 */
export function describeCpu(
  model: string,
  kernels: readonly KernelChoice[],
  choice: ThreadChoice,
  sensors: string,
): EngineInfo {
  const { threads, groups, why } = choice;
  const cores = groups.flatMap(({ kind, places }, i): CoreInfo[] =>
    kind === undefined ? [] : [{ kind, threads: places.length, kernel: kernels[i].name }],
  );
  const details = kernels.map(({ name, detail }, i) => `${prefixOf(groups[i])}kernel ${name}: ${detail}`);
  return {
    model,
    kernel: [...new Set(kernels.map(({ name }) => name))].join('+'),
    threads,
    ...(cores.length > 0 && { cores }),
    why: kernels.map(({ name, why }, i) => `${prefixOf(groups[i], `: ${name}, `)}${why}`).join('; '),
    detail: `${details.join('; ')}; ${threads} ${threads === 1 ? 'thread' : 'threads'}: ${why}; sensors: ${sensors}`,
  };
}

/** @returns `performance cores: `; nothing where all cores are alike */
function prefixOf({ kind }: CoreGroup, then = ': '): string {
  return kind === undefined ? '' : `${kind} cores${then}`;
}
