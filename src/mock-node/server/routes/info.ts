/** Node information (document 1, "Node information model"), and whether the node is well. */

import type { ExactJsonObject } from '../../../ledger/exact-json.ts';
import { jsonInteger } from '../../../ledger/exact-json.ts';
import type { Message } from '../answer.ts';
import { NODE_VERSION } from '../answer.ts';
import { type Asked, JSON_TYPE, type Route } from '../route.ts';

export const infoRoutes: readonly Route[] = [
  {
    endpoint: 'info',
    side: 'service',
    method: 'GET',
    atRoot: true,
    path: /^\/info$/,
    gives: [JSON_TYPE],
    answer: info,
  },
  {
    endpoint: 'health',
    side: 'service',
    method: 'GET',
    atRoot: true,
    path: /^\/health-check$/,
    answer: () => ({ status: 200, text: 'Health check OK.' }),
  },
];

function info({ backend: { ledger } }: Asked): Message {
  const { graph } = ledger.chains;
  const chains = graph.map((_, chain) => String(chain));
  const adjacency = graph.map((neighbours, chain) => [jsonInteger(chain), neighbours.map(jsonInteger)]);
  const json: ExactJsonObject = {
    nodeNumberOfChains: jsonInteger(graph.length),
    nodeApiVersion: '0.0',
    nodeChains: chains,
    nodeVersion: ledger.settings.network,
    nodeGraphHistory: [[jsonInteger(0), adjacency]],
    nodePackageVersion: NODE_VERSION,
    nodeBlockDelay: jsonInteger(30_000_000),
  };
  return { status: 200, json };
}
