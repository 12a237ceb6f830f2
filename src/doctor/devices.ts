/** Whether what was asked to mine can. */

import type { Gpu } from '../engine/gpu/list-gpus.ts';
import type { Finding } from './finding.ts';

/**
 * @param use the setting: `cpu`, `gpu`, `gpu0` …, or `all` for whatever there is
 * @param cpuWorks whether a CPU kernel can be used
 */
export function examineDevices(use: readonly string[] | 'all', cpuWorks: boolean, gpus: readonly Gpu[]): Finding {
  const usable = [...(cpuWorks ? ['cpu'] : []), ...gpus.filter((gpu) => gpu.usable).map(({ name }) => name)];
  const isThere = (name: string) => (name === 'gpu' ? usable.some((other) => other !== 'cpu') : usable.includes(name));
  const missing = use === 'all' ? [] : use.filter((name) => !isThere(name));
  const isAsked = (name: string) => use === 'all' || use.includes(name) || (name !== 'cpu' && use.includes('gpu'));
  const mining = usable.filter(isAsked);
  const about = 'devices';
  const mend = 'pickaxe devices lists what there is; name others (--devices), or mend what is said of them above';
  if (mining.length === 0) {
    const what = missing.length > 0 ? `${missing.join(', ')} cannot be used` : 'none can be used';
    return { about, state: 'fault', what, why: 'nothing is left to mine with', mend };
  }
  if (missing.length === 0) return { about, state: 'ok', what: `mines with ${mining.join(', ')}` };
  const what = `mines with ${mining.join(', ')}; ${missing.join(', ')} cannot be used`;
  return { about, state: 'warning', what, why: 'it was asked for', mend };
}
