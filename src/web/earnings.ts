/** What the rig earns on average, and what its power costs. */

import { livesOnRelays } from '../report/figures.ts';
import type { Status } from '../report/http/schemas.ts';
import { describePowerCost, formatChance, formatEstimate } from '../report/units.ts';
import { byId, hideFigure, setFigure, setText } from './dom.ts';
import { known } from './format.ts';

const ABOUT = 'On average, if rate, difficulty and rewards stay as they are. Fees and orphans are left out.';

/** A pool's jobs name the network only by a number, which nobody else confirms. */
const OF_POOL =
  'A pool pays by its own rules: this is what the hashrate finds, before its fee, at the rewards of the network that its jobs name.';

export class Earnings {
  show(status: Status): void {
    const { sourceKind, earnings } = status;
    const { coinsPerDay, coinsPerBlock, chanceInDayRatio, chanceInMonthRatio, powerPrice, powerCostPerDay } = earnings;
    // A rig that mines for another process earns nothing by itself.
    byId('earnings').hidden = sourceKind === 'parent';
    setFigure('coins-per-day', known(coinsPerDay, formatEstimate));
    setFigure('coins-per-block', known(coinsPerBlock, formatEstimate));
    setFigure('chance-in-day', known(chanceInDayRatio, formatChance));
    setFigure('chance-in-month', known(chanceInMonthRatio, formatChance));
    setFigure('power-cost', known(powerCostPerDay, formatEstimate));
    hideFigure('power-cost', powerPrice === null);
    setText(byId('earnings-about'), about(status));
  }
}

/** What the figures leave out, and why some are not known. */
function about(status: Status): string {
  const { sourceKind, earnings } = status;
  const { blocksPerDay, coinsPerDay, powerPrice, powerCostPerDay } = earnings;
  return [
    ABOUT,
    sourceKind === 'pool' && OF_POOL,
    blocksPerDay !== null && coinsPerDay === null && 'The rewards of this network are not known.',
    powerPrice !== null &&
      powerCostPerDay === null &&
      `${describePowerCost({ powerPrice }, !livesOnRelays(status)).replace('the', 'The')}.`,
  ]
    .filter((note) => note !== false)
    .join(' ');
}
