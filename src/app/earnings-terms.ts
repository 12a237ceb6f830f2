/** What estimates of earnings need beside events: the table of rewards, and the settings about power. */

import type { Config } from '../config/settings.ts';
import { formatDecimal } from '../ledger/decimal.ts';
import { rewardByTable } from '../ledger/reward.ts';
import { networkOf } from '../ledger/version-codes.ts';
import type { EarningsTerms } from '../report/earnings.ts';

export function earningsTerms({ node, power }: Pick<Config, 'node' | 'power'>): EarningsTerms {
  return {
    coinsAt: (version, height) => {
      // Another network may use the same number, and pay something else.
      if (node.network !== undefined && node.network !== networkOf(version)) return undefined;
      const reward = rewardByTable({ version, height });
      return reward === undefined ? undefined : Number(formatDecimal(reward));
    },
    powerWatts: power.watts,
    powerPrice: power.price,
  };
}
