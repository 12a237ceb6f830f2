/** The type of `--simulate`. */

import { formatHttpAddress, type HttpAddress, isLoopback, parseHttpAddress } from '../../text/http-address.ts';
import { formatHashrate, parseHashrate, parseTime } from '../../text/quantities.ts';
import { parsed } from './setting-type.ts';

/** What is simulated: devices of a hashrate, a constant time between blocks of a chain, or blocks on demand. */
export type Simulation =
  | { readonly kind: 'hashrate'; readonly hashesPerSecond: number }
  | { readonly kind: 'delay'; readonly seconds: number }
  | { readonly kind: 'on-demand'; readonly address: HttpAddress };

const HOW = /^(hashrate|delay|on-demand)=(.+)$/;
/** A day; blocks that come more seldom test nothing. */
const MOST_SECONDS = 86_400;
/** Twenty chains then get a block in a millisecond, which is as fast as they come. */
const LEAST_SECONDS = 0.02;

export const simulation = parsed<Simulation>({
  says: 'Write hashrate=100M, delay=5s (from 0.02 s to a day), or on-demand=PORT with a port or loopback address and port.',
  pattern: HOW,
  parse: (text) => {
    const [, kind, value = ''] = HOW.exec(text) ?? [];
    if (kind === 'hashrate') {
      const hashesPerSecond = parseHashrate(value) ?? 0;
      return hashesPerSecond > 0 ? { kind, hashesPerSecond } : undefined;
    }
    if (kind === 'delay') {
      const seconds = parseTime(value) ?? 0;
      return seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS ? { kind, seconds } : undefined;
    }
    const address = kind === 'on-demand' ? parseHttpAddress(value) : undefined;
    if (!address) return undefined;
    if (!isLoopback(address.host)) throw new RangeError(`${address.host} is no address of this machine alone.`);
    return { kind: 'on-demand', address };
  },
  print: (how) => {
    if (how.kind === 'hashrate') return `hashrate=${formatHashrate(how.hashesPerSecond)}`;
    if (how.kind === 'delay') return `delay=${how.seconds}s`;
    return `on-demand=${formatHttpAddress(how.address)}`;
  },
});
