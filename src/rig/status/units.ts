/** Figures as text for people, with SI prefixes and few digits. The texts are the same in all locales. */

import type { Outcome, PolledChain, SourceKind } from '../../miner/events/vocabulary.ts';
import type { AcceptedBlocks, Earnings, RelayStatus, RigState, Sensors } from './status.ts';

const YEAR_SECONDS = 365 * 86_400;
/** Decimal places of a coin amount. */
const COIN_PLACES = 12;
/** An estimate of at least this size is shown as `more than 1000 E`, because there is no usual prefix after E. */
const MOST_ESTIMATED = 1e21;
/** A longer duration is shown as `more than 1 M y`. */
const MOST_YEARS = 1e6;
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

export const formatCelsius = (celsius: number): string => `${celsius.toFixed(0)} °C`;
export const formatWatts = (watts: number): string => `${watts.toFixed(0)} W`;
export const formatEfficiency = (hashesPerJoule: number): string => `${withPrefix(hashesPerJoule)}H/J`;

/** @returns `61 °C 412 W 45 % fan 58.10 MH/J`, without the readings that are not known */
export function formatSensors(
  { temperatureCelsius, powerWatts, fanRatio }: Sensors,
  hashesPerJoule: number | null,
): string {
  return [
    temperatureCelsius !== null && formatCelsius(temperatureCelsius),
    powerWatts !== null && formatWatts(powerWatts),
    fanRatio !== null && `${formatPercent(fanRatio)} fan`,
    hashesPerJoule !== null && formatEfficiency(hashesPerJoule),
  ]
    .filter(Boolean)
    .join(' ');
}

export function formatHashrate(hashesPerSecond: number): string {
  return `${withPrefix(hashesPerSecond)}H/s`;
}

/** `101.3 MH/s (95 %: 97.0 … 105.8)`: a rate, and the limits of its 95 % interval in the same unit. */
export function formatInterval(hashesPerSecond: number, low: number, high: number): string {
  const { step, digits } = scaleOf(hashesPerSecond);
  const [from, to] = [low, high].map((limit) => (limit / 1000 ** step).toFixed(digits));
  return `${formatHashrate(hashesPerSecond)} (95 %: ${from} … ${to})`;
}

/** @returns the number, a space and the prefix, such as `1.050 G` or `17.20 k`. Callers append a unit. 0 is `0 ` */
export function withPrefix(value: number): string {
  const { step, digits } = scaleOf(value);
  return `${(value / 1000 ** step).toFixed(digits)} ${PREFIXES[step]}`;
}

/** `17.20 M`, `0`: a number of hashes, such as a difficulty. */
export function formatAmount(value: number): string {
  return withPrefix(value).trimEnd();
}

/** @returns `step`, the exponent of the power of 1000 to divide by, and `digits`, the number of decimal places */
function scaleOf(value: number): { step: number; digits: number } {
  const step = value < 1 ? 0 : Math.min(PREFIXES.length - 1, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** step;
  return { step, digits: step === 0 ? 0 : scaled < 10 ? 3 : scaled < 100 ? 2 : 1 };
}

/** `34 %`, or `34.1 %`. @param part 1 is 100 % @param digits number of decimal places */
export function formatPercent(part: number, digits = 0): string {
  return `${(100 * part).toFixed(digits)} %`;
}

/** Formats an estimate: `12.3`, `0.42`, `0.00000042`, `86.40 G`, `more than 1000 E`. */
export function formatEstimate(value: number): string {
  if (value >= MOST_ESTIMATED) return 'more than 1000 E';
  if (value >= 1e6) return formatAmount(value);
  if (value < 5 * 10 ** -(COIN_PLACES + 1)) return '0';
  const places = Math.max(0, 2 - Math.floor(Math.log10(value)));
  const text = value.toFixed(Math.min(places, COIN_PLACES));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** @returns `~12.3` for `12.3`. A figure that begins with `more than` stays as it is */
export function approximately(figure: string): string {
  return figure.startsWith('more than') ? figure : `~${figure}`;
}

/**
 * Formats a probability: `34 %`, `2.4 %`, `0.031 %`, `99.4 %`. Very small and very large ones become
 * `less than 0.0001 %` and `more than 99.9 %`.
 */
export function formatChance(ratio: number): string {
  if (ratio < 1e-6) return 'less than 0.0001 %';
  if (ratio > 0.999) return 'more than 99.9 %';
  if (ratio > 0.99) return formatPercent(ratio, 1);
  // Two significant digits. The number is rounded before its digits are counted, because 9.99 rounds to 10.
  const rounded = Number((100 * ratio).toPrecision(2));
  return formatPercent(ratio, Math.max(0, 1 - Math.floor(Math.log10(rounded))));
}

/** `0.4 s`, `42 s`, `3 min 20 s`, `5 h 12 min`, `3 d 4 h`, `2 y 40 d`, `12300 y`, `more than 1 M y`. */
export function formatDuration(seconds: number): string {
  if (seconds > MOST_YEARS * YEAR_SECONDS) return 'more than 1 M y';
  // From 100 years on, days are left out: such a long time is an estimate, which is not exact to days.
  if (seconds >= 100 * YEAR_SECONDS) return `${Number((seconds / YEAR_SECONDS).toPrecision(3))} y`;
  const units = [
    { name: 'y', seconds: YEAR_SECONDS },
    { name: 'd', seconds: 86_400 },
    { name: 'h', seconds: 3_600 },
    { name: 'min', seconds: 60 },
    { name: 's', seconds: 1 },
  ];
  if (seconds < 0.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const first = units.findIndex((unit) => whole >= unit.seconds);
  const major = Math.floor(whole / units[first].seconds);
  const text = `${major} ${units[first].name}`;
  const next = units[first + 1];
  const minor = next ? Math.floor((whole - major * units[first].seconds) / next.seconds) : 0;
  return next && minor > 0 ? `${text} ${minor} ${next.name}` : text;
}

/** `12 accepted, 0 rejected, 1 stale`. The outcomes `unknown` and `delivered` follow only if they have occurred. */
export function describeOutcomes(counts: Readonly<Record<Outcome, number>>): string {
  const { accepted, rejected, stale } = counts;
  const rare = (['unknown', 'delivered'] as const).filter((outcome) => counts[outcome] > 0);
  return [
    `${accepted} accepted, ${rejected} rejected, ${stale} stale`,
    ...rare.map((one) => `${counts[one]} ${one}`),
  ].join(', ');
}

/** `3 won (2 settled), 1 pending, 0 orphaned`. `unanswered` and `lost` blocks follow only if there are any. */
export function describeAcceptedBlocks(counts: AcceptedBlocks): string {
  const { won, settled, pending, orphaned } = counts;
  const rare = (['unanswered', 'lost'] as const).filter((fate) => counts[fate] > 0);
  return [
    `${won} won (${settled} settled), ${pending} pending, ${orphaned} orphaned`,
    ...rare.map((fate) => `${counts[fate]} ${fate}`),
  ].join(', ');
}

/** `workers 12 ~1.400 TH/s`: the number of connected workers and the estimate of their total hashrate. */
export function describeWorkers({
  workersConnected,
  hashesPerSecond,
}: Pick<RelayStatus, 'workersConnected' | 'hashesPerSecond'>): string {
  return `workers ${workersConnected} ~${formatHashrate(hashesPerSecond)}`;
}

/** @returns `~0.42 coins a day (0.975 coins a block)`, or why these figures are not known */
export function describeCoins({ coinsPerDay, coinsPerBlock, chanceInDayRatio }: Earnings): string {
  if (coinsPerDay !== null && coinsPerBlock !== null) {
    return `${approximately(formatEstimate(coinsPerDay))} coins a day (${formatEstimate(coinsPerBlock)} coins a block)`;
  }
  return chanceInDayRatio === null ? 'not known yet' : 'the rewards of this network are not known';
}

/** @returns `2.4 % for a block in a day, 52 % in 30 days`, or `not known yet` */
export function describeChance({ chanceInDayRatio: day, chanceInMonthRatio: month }: Earnings): string {
  if (day === null || month === null) return 'not known yet';
  return `${formatChance(day)} for a block in a day, ${formatChance(month)} in 30 days`;
}

/**
 * @param hasDevices whether the rig has devices. Without a device, no sensor can measure the power
 * @returns `412 W cost 2.97 a day`, or why the cost is not known; an empty text if the price of power is not configured
 */
export function describePowerCost({ powerWatts, powerPrice, powerCostPerDay }: Earnings, hasDevices = true): string {
  if (powerPrice === null) return '';
  if (powerWatts === null || powerCostPerDay === null) {
    const why = hasDevices
      ? 'not every device that mines has a sensor; give the watts with --power-watts'
      : 'this rig has no devices; give --power-watts';
    return `the cost of power is not known: ${why}`;
  }
  return `${formatWatts(powerWatts)} cost ${formatEstimate(powerCostPerDay)} a day`;
}

/** @returns the state in words, such as `waiting for work`. `no-source` names the kind of source, as in `no pool` */
export function describeState(state: RigState, sourceKind: SourceKind): string {
  if (state !== 'no-source') return inWords(state);
  return sourceKind === 'fleet' ? 'no coordinator' : `no ${sourceKind}`;
}

const SIGNS = { node: 'answered', pool: 'answered', parent: 'connected', fleet: 'sent a message' } as const;

export function noneYet(sourceKind: SourceKind): string {
  return `none has ${SIGNS[sourceKind]} yet`;
}

/** @returns a kebab-case value of public JSON in words: `no device` for `no-device` */
export function inWords(value: string): string {
  return value.replaceAll('-', ' ');
}

/**
 * @param chains the chains whose work is polled because they have no reliable update stream
 * @returns `is polled for work every few seconds on chain 2 (no stream)`; an empty text without chains
 */
export function describePolled(chains: readonly PolledChain[]): string {
  if (chains.length === 0) return '';
  const each = chains.map(({ chain, reason }) => `${chain} (${inWords(reason)})`).join(', ');
  return `is polled for work every few seconds on ${chains.length === 1 ? 'chain' : 'chains'} ${each}`;
}
