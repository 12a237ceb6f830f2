/** The panels of the balance and of the earnings. The balance is requested only when the user presses the button. */

import type { BalanceAnswer } from '../http/api-answers.ts';
import { livesOnRelays } from '../status/figures.ts';
import type { Status } from '../status/status.ts';
import { describePowerCost, formatChance, formatDuration, formatEstimate } from '../status/units.ts';
import { ApiError } from './api.ts';
import {
  announce,
  byId,
  cell,
  columnHead,
  hideFigure,
  makeTable,
  type Row,
  Rows,
  rowHead,
  setFigure,
  setText,
  tableRow,
} from './dom.ts';
import { clockSeconds, coins, known } from './format.ts';

type ChainBalance = BalanceAnswer['chains'][number];

/** Age after which a balance is shown as old, because a block may have been mined since. */
const OLD_SECONDS = 60;

export class BalancePanel {
  readonly #ask: () => Promise<BalanceAnswer>;
  readonly #button = byId<HTMLButtonElement>('balance-ask');
  readonly #rows: Rows<ChainBalance>;
  #shown: BalanceAnswer | undefined;

  /** @param ask rejects with an ApiError if the miner answers with an error */
  constructor(ask: () => Promise<BalanceAnswer>) {
    this.#ask = ask;
    const body = makeTable(byId('balance-table'), columnHead({}, 'chain'), columnHead({}, 'coins'));
    this.#rows = new Rows(body, chainRow);
    this.#button.addEventListener('click', () => this.#askNow());
  }

  /** Updates the panel. It is visible only for a rig that mines on nodes. */
  show({ sourceKind, timeMillis }: Status): void {
    byId('balance').hidden = sourceKind !== 'node';
    if (this.#shown) showAge(this.#shown, timeMillis);
  }

  /** Requests the balance. The button is marked as busy, not as disabled: a disabled button would lose the focus. */
  async #askNow(): Promise<void> {
    if (this.#button.getAttribute('aria-busy') === 'true') return;
    this.#button.setAttribute('aria-busy', 'true');
    setText(this.#button, 'Asking the node …');
    try {
      this.#show(await this.#ask());
      setText(byId('balance-fault'), '');
    } catch (fault) {
      const why = fault instanceof ApiError ? fault.message : 'the miner cannot be reached';
      setText(byId('balance-fault'), `No balance was read: ${why}`);
      announce(`balance: ${why}`);
    }
    setText(this.#button, this.#shown ? 'Ask the node again' : 'Ask the node for the balance');
    this.#button.removeAttribute('aria-busy');
  }

  #show(answer: BalanceAnswer): void {
    this.#shown = answer;
    const { account, total, chains } = answer;
    setText(byId('balance-total'), known(total, String));
    setText(byId('balance-now'), total === null ? '' : `${total} coins`);
    setText(byId('balance-account'), account);
    setText(byId('balance-unread'), describeUnread(chains));
    showAge(answer, answer.timeMillis);
    this.#rows.show(chains.map((each) => [String(each.chain), each]));
    byId('balance-answer').hidden = false;
    announce(total === null ? 'balance: not every chain answered' : `balance: ${total} coins in all`);
  }
}

/** @param nowMillis present time by the miner's clock, in ms since the UNIX epoch */
function showAge({ node, timeMillis }: BalanceAnswer, nowMillis: number): void {
  const seconds = Math.max(0, (nowMillis - timeMillis) / 1000);
  const isOld = seconds > OLD_SECONDS;
  const more = isOld ? ' It may have changed since.' : '';
  setText(
    byId('balance-said'),
    `${node} said so at ${clockSeconds(timeMillis)}, ${formatDuration(seconds)} ago.${more}`,
  );
  byId('balance-answer').classList.toggle('old', isOld);
}

function describeUnread(chains: readonly ChainBalance[]): string {
  const unread = chains.filter(({ fault }) => fault !== null);
  if (unread.length === 0) return '';
  const which = `${unread.length === 1 ? 'Chain' : 'Chains'} ${unread.map(({ chain }) => chain).join(', ')}`;
  return `${which} did not answer, so the sum is not known: ${unread[0].fault}`;
}

function chainRow(name: string): Row<ChainBalance> {
  const amount = cell({ class: 'number' });
  return {
    element: tableRow(rowHead(`chain ${name}`), amount),
    show({ balance, exists }) {
      amount.classList.toggle('quiet', !exists);
      setText(amount, balance === null ? 'no answer' : exists ? coins(balance) : 'no account');
    },
  };
}

/* The estimated earnings and the cost of power */

const ABOUT = 'On average, if rate, difficulty and rewards stay as they are. Fees and orphans are left out.';

/** Rewards depend on the network. The text mentions the network, because its number in a pool's jobs may be wrong. */
const OF_POOL =
  'A pool pays by its own rules: this is what the hashrate finds, before its fee, at the rewards of the network that its jobs name.';

const OF_FLEET = 'The coordinators of the fleet say whom the blocks pay, which need not be this rig’s owner.';

export class EarningsPanel {
  show(status: Status): void {
    const { sourceKind, earnings } = status;
    const { coinsPerDay, coinsPerBlock, chanceInDayRatio, chanceInMonthRatio, powerPrice, powerCostPerDay } = earnings;
    // A rig that mines for a parent earns nothing itself.
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

function about(status: Status): string {
  const { sourceKind, earnings } = status;
  const { blocksPerDay, coinsPerDay, powerPrice, powerCostPerDay } = earnings;
  return [
    ABOUT,
    sourceKind === 'pool' && OF_POOL,
    sourceKind === 'fleet' && OF_FLEET,
    blocksPerDay !== null && coinsPerDay === null && 'The rewards of this network are not known.',
    powerPrice !== null &&
      powerCostPerDay === null &&
      `${describePowerCost(earnings, !livesOnRelays(status)).replace('the', 'The')}.`,
  ]
    .filter((note) => note !== false)
    .join(' ');
}
