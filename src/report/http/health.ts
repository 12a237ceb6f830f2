/** `/healthz` and `/readyz`: what supervisors ask. They need no token. */

import { rigState } from '../rig-state.ts';
import type { RigStats } from './rig-stats.ts';
import type { Route } from './route.ts';
import { Health, Readiness } from './schemas.ts';

export function healthRoutes({ tally }: RigStats): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      summary: 'whether the process lives, and which chains it has to poll',
      open: true,
      answers: { 200: Health },
      answer: () => ({
        status: 'ok',
        polledChains: [...tally.now().sources.values()].flatMap((source) => source.polledChains),
      }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'whether the rig mines, and if not, what it does instead',
      open: true,
      answers: { 200: Readiness, 503: Readiness },
      answer: (_, reply) => {
        const { name } = rigState(tally.now());
        const ready = name === 'mining';
        // The name alone: nobody needs a token for this, and a reason can have a node's or a pool's address in it.
        return reply.code(ready ? 200 : 503).send({ ready, reasons: ready ? [] : [name] });
      },
    },
  ];
}
