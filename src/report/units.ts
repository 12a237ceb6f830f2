/** Figures for people: SI prefixes, three or four digits, fixed to one locale. */

import type { Outcome, PolledChain, SourceKind } from '../source/vocabulary.ts';
import type { AcceptedBlocks, Earnings, RelayStatus, RigState, Sensors } from './status.ts';

const YEAR_SECONDS = 365 * 86_400;
/** How many decimal places coins have. */
const COIN_PLACES = 12;
/** Beyond these, a figure has no name that people know. */
const MOST_ESTIMATED = 1e21;
const MOST_YEARS = 1e6;
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

export const formatCelsius = (celsius: number): string => `${celsius.toFixed(0)} °C`;
export const formatWatts = (watts: number): string => `${watts.toFixed(0)} W`;
/** `58.1 MH/J` */
export const formatEfficiency = (hashesPerJoule: number): string => `${withPrefix(hashesPerJoule)}H/J`;

/** `61 °C 412 W 45 % fan 58.1 MH/J`, as far as it is known. */
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

/** `12.34 MH/s` */
export function formatHashrate(hashesPerSecond: number): string {
  return `${withPrefix(hashesPerSecond)}H/s`;
}

/** `101.3 MH/s (95 %: 97.0 … 105.8)`: a rate and its 95 % interval. */
export function formatInterval(hashesPerSecond: number, low: number, high: number): string {
  const { step, digits } = scaleOf(hashesPerSecond);
  const [from, to] = [low, high].map((limit) => (limit / 1000 ** step).toFixed(digits));
  return `${formatHashrate(hashesPerSecond)} (95 %: ${from} … ${to})`;
}

/** `1.05 G`, `17.2 k`, `0` and a space before the unit. */
export function withPrefix(value: number): string {
  const { step, digits } = scaleOf(value);
  return `${(value / 1000 ** step).toFixed(digits)} ${PREFIXES[step]}`;
}

/** `17.2 M`, `0`: a number of hashes, such as a difficulty. */
export function formatAmount(value: number): string {
  return withPrefix(value).trimEnd();
}

/** The power of 1000 that a value is shown in, and with how many digits after the point. */
function scaleOf(value: number): { step: number; digits: number } {
  const step = value < 1 ? 0 : Math.min(PREFIXES.length - 1, Math.floor(Math.log10(value) / 3));
  const scaled = value / 1000 ** step;
  return { step, digits: step === 0 ? 0 : scaled < 10 ? 3 : scaled < 100 ? 2 : 1 };
}

/** `34 %`, or with a digit after the point `34.1 %` */
export function formatPercent(part: number, digits = 0): string {
  return `${(100 * part).toFixed(digits)} %`;
}

/** `12.3`, `0.42`, `0.00000042`, `86.4 G`, `more than 1000 E`: an estimate, with three digits that count */
export function formatEstimate(value: number): string {
  if (value >= MOST_ESTIMATED) return 'more than 1000 E';
  if (value >= 1e6) return formatAmount(value);
  if (value < 5 * 10 ** -(COIN_PLACES + 1)) return '0';
  const places = Math.max(0, 2 - Math.floor(Math.log10(value)));
  const text = value.toFixed(Math.min(places, COIN_PLACES));
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** `~12.3` of `12.3`; what is only known to be `more than` something is no approximation */
export function approximately(figure: string): string {
  return figure.startsWith('more than') ? figure : `~${figure}`;
}

/** `34 %`, `2.4 %`, `0.031 %`, `99.4 %`; beyond what matters, `less than 0.0001 %` and `more than 99.9 %` */
export function formatChance(ratio: number): string {
  if (ratio < 1e-6) return 'less than 0.0001 %';
  if (ratio > 0.999) return 'more than 99.9 %';
  if (ratio > 0.99) return formatPercent(ratio, 1);
  // Two digits that count: rounding may add one before the point, as in 9.99 %.
  const rounded = Number((100 * ratio).toPrecision(2));
  return formatPercent(ratio, Math.max(0, 1 - Math.floor(Math.log10(rounded))));
}

/** `42 s`, `3 min 20 s`, `5 h 12 min`, `3 d 4 h`, `2 y 40 d`, `12300 y`, `more than 1 M y` */
export function formatDuration(seconds: number): string {
  if (seconds > MOST_YEARS * YEAR_SECONDS) return 'more than 1 M y';
  // Beside centuries, days mean nothing.
  if (seconds >= 100 * YEAR_SECONDS) return `${Number((seconds / YEAR_SECONDS).toPrecision(3))} y`;
  const units = [
    { name: 'y', seconds: YEAR_SECONDS },
    { name: 'd', seconds: 86_400 },
    { name: 'h', seconds: 3_600 },
    { name: 'min', seconds: 60 },
    { name: 's', seconds: 1 },
  ];
  const whole = Math.round(seconds);
  const first = units.findIndex((unit) => whole >= unit.seconds);
  if (first < 0) return `${seconds < 0.95 ? seconds.toFixed(1) : whole} s`;
  const major = Math.floor(whole / units[first].seconds);
  const text = `${major} ${units[first].name}`;
  const next = units[first + 1];
  const minor = next ? Math.floor((whole - major * units[first].seconds) / next.seconds) : 0;
  return next && minor > 0 ? `${text} ${minor} ${next.name}` : text;
}

/** `12 accepted, 0 rejected, 1 stale`, and what is rarer where there is some of it. */
export function describeOutcomes(counts: Readonly<Record<Outcome, number>>): string {
  const { accepted, rejected, stale } = counts;
  const rare = (['unknown', 'delivered'] as const).filter((outcome) => counts[outcome] > 0);
  return [
    `${accepted} accepted, ${rejected} rejected, ${stale} stale`,
    ...rare.map((one) => `${counts[one]} ${one}`),
  ].join(', ');
}

/**
 * `3 won (2 settled), 1 pending, 0 orphaned`: every accepted block is one of the three. What is rarer follows where
 * there is some.
 */
export function describeAcceptedBlocks(counts: AcceptedBlocks): string {
  const { won, settled, pending, orphaned } = counts;
  const rare = (['unanswered', 'lost'] as const).filter((fate) => counts[fate] > 0);
  return [
    `${won} won (${settled} settled), ${pending} pending, ${orphaned} orphaned`,
    ...rare.map((fate) => `${counts[fate]} ${fate}`),
  ].join(', ');
}

/** `workers 12 ~1.400 TH/s`: how many are connected, and their estimated hashrate. */
export function describeWorkers({
  workersConnected,
  hashesPerSecond,
}: Pick<RelayStatus, 'workersConnected' | 'hashesPerSecond'>): string {
  return `workers ${workersConnected} ~${formatHashrate(hashesPerSecond)}`;
}

/** `~0.42 coins a day (0.975 coins a block)`, or why that is not known */
export function describeCoins({ coinsPerDay, coinsPerBlock, chanceInDayRatio }: Earnings): string {
  if (coinsPerDay !== null && coinsPerBlock !== null) {
    return `${approximately(formatEstimate(coinsPerDay))} coins a day (${formatEstimate(coinsPerBlock)} coins a block)`;
  }
  return chanceInDayRatio === null ? 'not known yet' : 'the rewards of this network are not known';
}

/** `2.4 % for a block in a day, 52 % in 30 days` */
export function describeChance({ chanceInDayRatio: day, chanceInMonthRatio: month }: Earnings): string {
  if (day === null || month === null) return 'not known yet';
  return `${formatChance(day)} for a block in a day, ${formatChance(month)} in 30 days`;
}

/**
 * `412 W cost 2.97 a day`; or why that is not known; empty while nobody has named a price
 * @param hasDevices whether the rig has devices, whose sensors could measure the watts
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

/**
 * What a rig does, in words for people: `waiting for work`; `no pool` where it has no source and mines on pools.
 */
export function describeState(state: RigState, sourceKind: SourceKind): string {
  return state === 'no-source' ? `no ${sourceKind}` : inWords(state);
}

/** Why a rig has no source before there is news of any. */
export function noneYet(sourceKind: SourceKind): string {
  return `none has ${sourceKind === 'parent' ? 'connected' : 'answered'} yet`;
}

/** A value of a closed set, as public JSON has it, in words for people: `no-device` is `no device`. */
export function inWords(value: string): string {
  return value.replaceAll('-', ' ');
}

/** A phrase about chains whose update streams cannot be relied on; empty without any. */
export function describePolled(chains: readonly PolledChain[]): string {
  if (chains.length === 0) return '';
  const each = chains.map(({ chain, reason }) => `${chain} (${inWords(reason)})`).join(', ');
  return `is polled for work every few seconds on ${chains.length === 1 ? 'chain' : 'chains'} ${each}`;
}
