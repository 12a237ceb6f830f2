/** Adds discovered nodes to those of the configuration, for failover: `--discover-nodes`. */

import { originOf } from '../config/setting-types/addresses.ts';
import type { Config } from '../config/settings.ts';
import { survey } from '../nodes/survey.ts';
import { systemClock } from '../system/clock.ts';
import { oneLine } from '../text/plain-text.ts';
import { NodeCandidates, type NodeSettings } from './node-watch.ts';

/** How many peers are looked at, and how many are used at most: the best ones. */
const MOST_LOOKED_AT = 32;
const MOST_USED = 4;

export interface WithDiscovered {
  /** The node settings with the URLs of discovered nodes after the configured ones, and their fingerprints. */
  readonly node: Config['node'];
  /** For the log. */
  readonly notes: readonly { readonly level: 'info' | 'warn'; readonly text: string }[];
}

/**
 * Only nodes are used that give work and have no fault. Nothing is changed when there are none.
 * @throws UsageError as NodeCandidates.open does
 */
export async function withDiscovered(settings: NodeSettings): Promise<WithDiscovered> {
  const { node } = settings;
  const candidates = await NodeCandidates.open(settings);
  try {
    const { configured, network } = candidates;
    const { nodes, faults } = await candidates.discover(MOST_LOOKED_AT);
    const surveyed = await survey([...configured, ...nodes], network, systemClock.nowUs());
    const good = nodes.filter((_, i) => {
      const { problems, givesWork } = surveyed[configured.length + i];
      return givesWork && problems.every(({ state }) => state !== 'fault');
    });
    // A certificate that nothing pins would be trusted as the configured nodes' are, perhaps by nothing.
    const used = good.filter(({ peer }) => peer.id !== null).slice(0, MOST_USED);
    const urls = await Promise.all(used.map(({ url }) => url()));
    const pins = used.map(({ peer }, i) => ({ origin: originOf(urls[i])!, value: peer.id! }));
    const found = used.length > 0 ? `: ${used.map(({ name }) => name).join(', ')}` : '';
    const text = `${used.length} of ${nodes.length} discovered nodes can be mined on${found}`;
    const warnings = faults.map((fault) => ({ level: 'warn', text: oneLine(fault) }) as const);
    return {
      node: {
        ...node,
        urls: [...(node.urls ?? []), ...urls],
        fingerprints: [...(node.fingerprints ?? []), ...pins],
      },
      notes: [...warnings, { level: used.length > 0 ? 'info' : 'warn', text }],
    };
  } finally {
    await candidates.close();
  }
}
