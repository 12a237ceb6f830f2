/** Examines a pool: connects to it once, as a miner does, and returns findings about it. */

import type { Finding } from '../../base/finding.ts';
import { BY_AUTHORITY, type Trust } from '../../base/net/tls-trust.ts';
import { pause } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { version } from '../../base/system/version.ts';
import { type PoolAddress, parsePoolUrl } from '../../base/text/addresses.ts';
import { plural } from '../../base/text/quantities.ts';
import { type PoolAccount, PoolSession, type SessionTimes } from '../../miner/source/pool/client-session.ts';
import { PoolHealth } from '../../miner/source/pool/pool-health.ts';
import { poolLimits } from '../../miner/source/pool/pool-limits.ts';
import { PoolError } from '../../miner/source/pool/pool-messages.ts';
import { openConnection } from '../../miner/source/pool/pool-source.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { withPrefix } from '../status/units.ts';

interface PoolQuestion {
  readonly url: string;
  /** The account to log in with. If absent, pickaxe only connects and sends nothing. */
  readonly account?: PoolAccount | undefined;
  /** How the certificate of a pool with TLS is checked. By default, an authority must have signed it. */
  readonly trust?: Trust;
}

export interface PoolExamination {
  readonly findings: readonly Finding[];
  /** The fingerprint of the pool's certificate. Present only if the certificate is not trusted. */
  readonly untrusted?: string;
  /** The work of the pool's first job; absent if no job came. */
  readonly work?: Work;
}

/** Time limit for the first job. Some pools send it only at the next block, which usually comes within this time. */
const JOB_MS = 15_000;

const WHY_POOL = 'work comes from the pool, and shares go there';
const WHY_JOB = 'without a job there is nothing to mine';

/** @throws Error when `url` is not the URL of a pool */
export async function examinePool({ url, account, trust = BY_AUTHORITY }: PoolQuestion): Promise<PoolExamination> {
  const address = parsePoolUrl(url);
  if (!address) throw new Error(`"${url}" is not a pool URL`);
  const beganMs = systemClock.monotonicMs();
  const options = { trust, timeoutMs: poolLimits.connectTimeoutMs, mustBePublic: false, clock: systemClock };
  try {
    const socket = await openConnection(address, options, new AbortController().signal);
    const reachedMs = systemClock.monotonicMs() - beganMs;
    const reached: Finding = { about: 'connection', state: 'ok', what: `can be reached, in ${ms(reachedMs)}` };
    if (!account) {
      socket.destroy();
      return { findings: [reached] };
    }
    const { why, work, times, messages } = await firstJob(socket, address, account);
    return { findings: [reached, ...findingsAbout(times, work, why), ...messages], ...(work && { work }) };
  } catch (fault) {
    if (!(fault instanceof PoolError)) throw fault;
    const { message: what, fingerprint: untrusted } = fault;
    const findings = [{ about: 'connection', state: 'fault', what, why: WHY_POOL }] as const;
    return { findings, ...(untrusted !== undefined && { untrusted }) };
  }
}

interface FirstJob {
  /** Why the connection ended before the first job; undefined if a job came, or if the time limit was reached. */
  readonly why: PoolError | undefined;
  readonly work: Work | undefined;
  readonly times: SessionTimes;
  readonly messages: readonly Finding[];
}

async function firstJob(
  socket: ConstructorParameters<typeof PoolSession>[0],
  address: PoolAddress,
  account: PoolAccount,
): Promise<FirstJob> {
  const messages: Finding[] = [];
  const done = new AbortController();
  let work: Work | undefined;
  const session = new PoolSession(socket, {
    account,
    userAgent: `pickaxe/${version}`,
    clock: systemClock,
    limits: poolLimits,
    address,
    allowReconnect: false,
    health: new PoolHealth(systemClock, Math.random, poolLimits, () => {}),
    onStale: () => {},
    onNote: (state, what) => messages.push({ about: 'message', state: state === 'warning' ? 'warning' : 'ok', what }),
    onWork: (given) => {
      work ??= given;
      done.abort();
    },
  });
  const ended = session.run();
  const why = await Promise.race([ended, pause(systemClock, JOB_MS, done.signal)]);
  done.abort();
  session.end(new PoolError('network', 'it was only examined.'));
  await ended;
  return { why: why instanceof PoolError ? why : undefined, work, times: session.times, messages };
}

function findingsAbout(
  { subscribedMs, authorizedMs, targetMs, jobMs }: SessionTimes,
  work: Work | undefined,
  why: PoolError | undefined,
): Finding[] {
  const answered = [
    subscribedMs !== undefined && `mining.subscribe in ${ms(subscribedMs)}`,
    authorizedMs !== undefined && `mining.authorize in ${ms(authorizedMs)}`,
  ].filter((one) => one !== false);
  const user: Finding[] =
    answered.length > 0 ? [{ about: 'user', state: 'ok', what: `answers ${answered.join(' and ')}` }] : [];
  if (why) return [...user, { about: 'user', state: 'fault', what: why.message, why: WHY_POOL }];
  if (!work) {
    const what = 'has sent no job yet. Some pools send the first one at the next block';
    return [...user, { about: 'work', state: 'warning', what, why: WHY_JOB }];
  }
  const [share, block] = [work.target, work.blockTarget].map((target) => withPrefix(difficultyOf(target)));
  const sent = `sends a job (chain ${work.chain}, height ${work.height}) in ${ms(jobMs ?? 0)}`;
  const target =
    targetMs === undefined
      ? `and no target, so only blocks count: ${block} hashes`
      : `and a target: ${share} hashes for a share, ${block} for a block`;
  const { bytes } = work.nonce1;
  const fixed = `; nonce1 has ${plural(bytes, 'byte')}`;
  return [...user, { about: 'work', state: 'ok', what: `${sent}, ${target}${fixed}` }];
}

function ms(time: number): string {
  return `${Math.max(1, Math.round(time))} ms`;
}
