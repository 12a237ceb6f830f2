/** The only node of a rig: there is no other one to change to, so what is found out about it is only reported. */

import type { Listener } from '../events/events.ts';
import type { WorkSource } from '../source/source.ts';
import type { JudgedSource } from './node-watch.ts';

export function loneNode({ name, kind = 'node' }: Pick<WorkSource, 'name' | 'kind'>, emit: Listener): JudgedSource {
  return {
    judge: (_rank, fault) => {
      const [state, reason] = fault === undefined ? (['healthy', 'is healthy again'] as const) : unhealthy(fault);
      emit({ type: 'source', source: name, kind, state, reason });
    },
  };
}

function unhealthy(fault: string) {
  return ['unhealthy', `${fault}. It is mined on all the same, because no other node is configured`] as const;
}
