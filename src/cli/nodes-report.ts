/** What `pickaxe nodes --json` prints. */

import { z } from 'zod';

const count = z.int().nonnegative();

const NodeReport = z.object({
  name: z.string().meta({ description: 'the URL of the node, as it is shown' }),
  isDiscovered: z.boolean().meta({ description: 'whether other nodes have named it, and the settings have not' }),
  state: z.enum(['ok', 'warning', 'fault']),
  problems: z.array(z.object({ state: z.enum(['warning', 'fault']), what: z.string() })),
  network: z.string().nullable(),
  software: z.string().nullable().meta({ description: 'the version of its software' }),
  cutHeight: count.nullable(),
  blocksBehind: count.nullable().meta({ description: 'blocks of each chain behind the best configured node' }),
  newestBlockAgeSeconds: count.nullable(),
  clockAheadSeconds: z.number().nullable().meta({ description: 'how far its clock is ahead of ours' }),
  givesWork: z.boolean().nullable().meta({ description: 'null: it was not asked' }),
});
export type NodeReport = Readonly<z.infer<typeof NodeReport>>;

export const NodesReport = z.object({
  network: z.string().nullable().meta({ description: 'the wanted one; null where neither settings nor a URL name it' }),
  nodes: z.array(NodeReport),
});
export type NodesReport = Readonly<z.infer<typeof NodesReport>>;
