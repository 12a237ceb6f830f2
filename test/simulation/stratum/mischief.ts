/** What ASICs do that they should not, or rarely do, each at once. */

import { type Random, randomBytes } from '#pickaxe/mock-node/random.js';
import type { SimulatedAsic } from '../asic.ts';

export interface Mischief {
  readonly act: (asic: SimulatedAsic, random: Random) => void;
  /** Whether the server may end the connection because of it, and whether many of them ban its address. */
  readonly costs: 'nothing' | 'the connection' | 'points';
}

const below = (random: Random, count: number) => Math.floor(random() * count);
const randomNonce = (random: Random) => randomBytes(random, 8).readBigUInt64LE();
const hex = (random: Random, bytes: number) => randomBytes(random, bytes).toString('hex');

function wrongShares(asic: SimulatedAsic, random: Random, count: number): void {
  const job = asic.jobs.at(-1);
  for (let at = 0; job && at < count; at++) asic.submit('wrong', job.id, randomNonce(random));
}

/** By name. The names are those of faults: “ASICs …”. */
export const MISCHIEF: Readonly<Record<string, Mischief>> = {
  'send shares again': {
    costs: 'nothing',
    act: (asic) => {
      for (const { job, nonce } of [...asic.found]) asic.submit('duplicate', job.id, nonce);
    },
  },
  'send shares for other jobs': {
    costs: 'nothing',
    act: (asic) => {
      const jobs = asic.jobs.slice(-4);
      for (const { nonce } of [...asic.found].slice(-4)) for (const { id } of jobs) asic.submit('duplicate', id, nonce);
    },
  },
  'send shares of unknown jobs': {
    costs: 'nothing',
    act: (asic, random) => {
      const ids = ['', '0', hex(random, 4), 'ffffffff', 'nothing', hex(random, 9), '00000001'];
      for (const id of ids) asic.submit('wrong', id, randomNonce(random));
    },
  },
  'send unreadable nonces': {
    costs: 'nothing',
    act: (asic, random) => {
      const job = asic.jobs.at(-1);
      if (!job) return;
      for (const nonce2 of ['', 'xyz', hex(random, 7), '-1', '0x']) asic.submitText('wrong', job.id, nonce2);
    },
  },
  'send wrong nonces': { costs: 'nothing', act: (asic, random) => wrongShares(asic, random, 5) },
  'send malformed lines': {
    costs: 'the connection',
    act: (asic) => {
      for (const line of ['GET / HTTP/1.1', '{"method":', '[]', '', '  ']) asic.write(`${line}\n`);
    },
  },
  'send too many malformed lines': { costs: 'points', act: (asic) => asic.write('hello?\n'.repeat(15)) },
  'send a line without an end': { costs: 'points', act: (asic) => asic.write('x'.repeat(5_000)) },
  'send a flood of wrong shares': { costs: 'points', act: (asic, random) => wrongShares(asic, random, 250) },
  'suggest difficulties': {
    costs: 'nothing',
    act: (asic, random) => {
      asic.request('mining.suggest_difficulty', [(20 + below(random, 200)) / 2 ** 32]);
      asic.request('mining.suggest_difficulty', ['none']);
      asic.request('mining.suggest_target', [`0${'f'.repeat(63)}`]);
    },
  },
  'authorize other users': {
    costs: 'nothing',
    act: (asic, random) => {
      const user = `farm.other${below(random, 8)}`;
      asic.request('mining.authorize', [user, 'd=5']);
      const job = asic.jobs.at(-1);
      if (job) asic.submit('wrong', job.id, randomNonce(random), user);
      if (job) asic.submit('wrong', job.id, randomNonce(random), 'nobody');
    },
  },
  'authorize too many users': {
    costs: 'nothing',
    act: (asic) => {
      for (let at = 0; at < 20; at++) asic.request('mining.authorize', [`farm.many${at}`, 'x']);
    },
  },
  'subscribe again': {
    costs: 'nothing',
    act: (asic) => {
      asic.request('mining.subscribe', ['again/1', asic.nonce1]);
      asic.request('mining.extranonce.subscribe', []);
      asic.request('mining.configure', [['version-rolling'], {}]);
      asic.request('mining.nothing', []);
    },
  },
};
