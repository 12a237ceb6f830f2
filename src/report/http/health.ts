/** `/healthz` and `/readyz`: what supervisors ask, without a token. */

import { whyNotReady } from '../ready.ts';
import type { Books } from './books.ts';
import type { Route } from './route.ts';
import { Health, Readiness } from './schemas.ts';

export function healthRoutes({ tally }: Books): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      summary: 'whether the process lives, and which chains it has to poll',
      open: true,
      answers: { 200: Health },
      answer: () => ({
        status: 'ok',
        polled_chains: [...tally.now().sources.values()].flatMap(({ polled }) => polled),
      }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'whether a device mines and a node is connected',
      open: true,
      answers: { 200: Readiness, 503: Readiness },
      answer: (_, reply) => {
        const reasons = whyNotReady(tally.now());
        return reply.code(reasons.length === 0 ? 200 : 503).send({ ready: reasons.length === 0, reasons });
      },
    },
  ];
}
