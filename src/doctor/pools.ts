/** Connects to a pool once, as a miner does, and reports what it finds: for `pickaxe doctor` and `pickaxe init`. */

import { insecureTlsRisk, poolAccount } from '../app/choose-source.ts';
import { UsageError } from '../app/exit.ts';
import { poolTrust } from '../app/node-api.ts';
import { difficultyOf } from '../chain/target.ts';
import type { Work } from '../chain/work.ts';
import type { Config } from '../config/settings.ts';
import { BY_AUTHORITY, type Trust } from '../net/trust.ts';
import { withPrefix } from '../report/units.ts';
import { type PoolLimits, poolLimits } from '../source/pool/limits.ts';
import { PoolError } from '../source/pool/messages.ts';
import { openConnection } from '../source/pool/pool-source.ts';
import { type PoolAccount, PoolSession, type SessionTimes } from '../source/pool/session.ts';
import { PoolHealth } from '../source/pool/shares.ts';
import { pause } from '../system/abort.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import { version } from '../system/version.ts';
import { type PoolAddress, parsePoolUrl } from '../text/addresses.ts';
import { plural } from '../text/quantities.ts';
import { type Finding, softened } from './finding.ts';
import type { OnWork } from './nodes.ts';

interface PoolQuestion {
  readonly url: string;
  /** Without an account the pool is only connected to, and nothing is sent to it. */
  readonly account?: PoolAccount | undefined;
  /** What makes the certificate of a pool with TLS trusted: by default, that an authority has signed it. */
  readonly trust?: Trust;
  readonly userAgent: string;
}

interface PoolFinding extends Finding {
  readonly about: 'connection' | 'user' | 'work' | 'message';
}

export interface PoolExamination {
  readonly findings: readonly PoolFinding[];
  /** The fingerprint of the certificate that the pool has shown, where that is not trusted. */
  readonly untrusted?: string;
  /** The work of its first job. */
  readonly work?: Work;
}

/** Some pools give a new miner its first job only at the next block, which rarely takes longer. */
const JOB_MS = 15_000;

const WHY_POOL = 'work comes from the pool, and shares go there';
const WHY_JOB = 'without a job there is nothing to mine';

/** @throws Error when the URL is not a pool's */
export async function examinePool(
  { url, account, trust = BY_AUTHORITY, userAgent }: PoolQuestion,
  context: { readonly clock?: Clock; readonly limits?: Partial<PoolLimits>; readonly jobMs?: number } = {},
): Promise<PoolExamination> {
  const { clock = systemClock, jobMs = JOB_MS } = context;
  const limits = { ...poolLimits, ...context.limits };
  const address = parsePoolUrl(url);
  if (!address) throw new Error(`"${url}" is not a pool URL`);
  const beganMs = clock.monotonicMs();
  const never = new AbortController().signal;
  try {
    const socket = await openConnection(
      address,
      { trust, timeoutMs: limits.connectTimeoutMs, mustBePublic: false },
      never,
    );
    const reachedMs = clock.monotonicMs() - beganMs;
    const reached: PoolFinding = { about: 'connection', state: 'ok', what: `can be reached, in ${ms(reachedMs)}` };
    if (!account) {
      socket.destroy();
      return { findings: [reached] };
    }
    const findings: PoolFinding[] = [];
    const session = sessionOn(socket, address, { account, userAgent, clock, limits, told: findings });
    const why = await session.firstJob(jobMs);
    const { work } = session;
    return { findings: [reached, ...findingsAbout(session, why), ...findings], ...(work && { work }) };
  } catch (fault) {
    if (!(fault instanceof PoolError)) throw fault;
    const { message: what, fingerprint: untrusted } = fault;
    const findings = [{ about: 'connection', state: 'fault', what, why: WHY_POOL }] as const;
    return { findings, ...(untrusted !== undefined && { untrusted }) };
  }
}

interface Examined {
  readonly times: SessionTimes;
  work: Work | undefined;
}

type PoolContext = Pick<PoolQuestion, 'userAgent'> & {
  readonly account: PoolAccount;
  readonly clock: Clock;
  readonly limits: PoolLimits;
  readonly told: PoolFinding[];
};

function sessionOn(
  socket: ConstructorParameters<typeof PoolSession>[0],
  address: PoolAddress,
  { told, ...options }: PoolContext,
): Examined & { firstJob: (withinMs: number) => Promise<PoolError | undefined> } {
  let hasWork: () => void = () => {};
  const given = new Promise<void>((resolve) => {
    hasWork = resolve;
  });
  const session = new PoolSession(socket, {
    ...options,
    address,
    allowReconnect: false,
    health: new PoolHealth(options.clock, Math.random, options.limits, () => {}),
    onStale: () => {},
    onNote: (state, what) => told.push({ about: 'message', state: state === 'warning' ? 'warning' : 'ok', what }),
    onWork: (work) => {
      examined.work ??= work;
      hasWork();
    },
  });
  const examined = {
    times: session.times,
    work: undefined as Work | undefined,
    /**
     * @returns why the connection has ended before the first job; undefined when there was a job, or the time was up
     */
    firstJob: async (withinMs: number) => {
      const done = new AbortController();
      const ended = session.run();
      const why = await Promise.race([ended, given, pause(withinMs, done.signal)]);
      done.abort();
      session.end(new PoolError('network', 'it was only examined.'));
      await ended;
      return why instanceof PoolError ? why : undefined;
    },
  };
  return examined;
}

function findingsAbout({ times, work }: Examined, why: PoolError | undefined): PoolFinding[] {
  const { subscribedMs, authorizedMs, targetMs, jobMs } = times;
  const answered = [
    subscribedMs !== undefined && `mining.subscribe in ${ms(subscribedMs)}`,
    authorizedMs !== undefined && `mining.authorize in ${ms(authorizedMs)}`,
  ].filter((one) => one !== false);
  const user: PoolFinding[] =
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

/* Examines all pools that are configured. */

/** @returns findings, with faults only if no pool is left to mine on */
export async function examinePools(
  { node, pool }: Pick<Config, 'node' | 'pool'>,
  onWork: OnWork = () => {},
): Promise<Finding[]> {
  let account: PoolAccount;
  try {
    account = poolAccount(pool);
  } catch (fault) {
    return [refusal(fault)];
  }
  const each = await Promise.all((pool.urls ?? []).map((url) => findingsOf(url, { node, pool }, account, onWork)));
  const canMine = each.some((findings) => findings.every(({ state }) => state !== 'fault'));
  const findings = each.flat().map((finding) => (canMine ? softened(finding) : finding));
  const risk = insecureTlsRisk({ node, pool });
  return [...findings, ...(risk ? [{ about: 'pool', state: 'warning', ...risk } satisfies Finding] : [])];
}

async function findingsOf(
  url: string,
  { node, pool }: Pick<Config, 'node' | 'pool'>,
  account: PoolAccount,
  onWork: OnWork,
): Promise<Finding[]> {
  try {
    const trust = poolTrust(url, pool, node);
    const { findings, work } = await examinePool({ url, account, trust, userAgent: `pickaxe/${version}` });
    if (work) onWork(work);
    return findings.map(({ about, what, ...rest }) => ({ ...rest, about: 'pool', what: `${url} ${about}: ${what}` }));
  } catch (fault) {
    return [refusal(fault)];
  }
}

/** @throws what is no UsageError */
function refusal(fault: unknown): Finding {
  if (!(fault instanceof UsageError)) throw fault;
  const why = 'pickaxe mine does not start until this is corrected';
  return { about: 'pool', state: 'fault', what: fault.message, why };
}
