/** Makes the source of work from the settings, and changes the source when the settings change. */

import { version } from '../../base/system/version.ts';
import type { Events } from '../../miner/events/events.ts';
import type { Outcome } from '../../miner/events/vocabulary.ts';
import { FailoverSource } from '../../miner/source/failover.ts';
import { NodeSource } from '../../miner/source/node/node-source.ts';
import type { PoolAccount } from '../../miner/source/pool/client-session.ts';
import { PoolSource } from '../../miner/source/pool/pool-source.ts';
import { namedNetwork, type Verdict, type WorkSource } from '../../miner/source/source.ts';
import { minerIdentity } from '../../node/client/miner-identity.ts';
import { nodeAddress, numberRepeated, shownUrl } from '../../node/http/url.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import { minerContradictions } from '../config/contradictions.ts';
import type { Config } from '../config/settings.ts';
import { nodeTrust, poolTrust, secretIn } from '../nodes/node-clients.ts';
import { orUsageError, refuse, UsageError } from '../process/exit.ts';
import type { RigContext } from './context.ts';

type SourceSettings = Pick<Config, 'node' | 'pool' | 'miner'> & Partial<Pick<Config, 'stratum'>>;

/** Time for which a standby pool stays connected after a preferred pool is back, for verdicts on the last shares. */
const STANDBY_MS = 2_000;

type SourcesContext = RigContext & Pick<Events, 'emit'>;

/** A source that may be kept when the settings change. */
interface Member {
  readonly source: WorkSource;
  /** A text that is equal for two sources with equal settings. */
  readonly key: string;
}

export class ChosenSource {
  readonly source: FailoverSource;
  readonly #context: SourcesContext;
  #members: readonly Member[] = [];

  /**
   * @param isForFleet whether a fleet's rigs mine this source's work. The rigs leave the coordinator when the source is
   *   unhealthy. So the health of the source is checked even if there is only one node or pool
   * @throws UsageError that names the setting that is missing or wrong
   */
  constructor(settings: SourceSettings, { emit }: Events, context: RigContext, isForFleet = false) {
    this.#context = { ...context, emit };
    this.#members = this.#membersOf(settings);
    const standbyMs = settings.pool.urls === undefined ? {} : { standbyMs: STANDBY_MS };
    const { clock } = context;
    const options = { sources: this.#sources, emit, clock, isWatched: isForFleet, ...standbyMs };
    this.source = new FailoverSource(options);
  }

  /** The nodes in order of preference; empty when mining on pools. */
  get nodes(): readonly NodeSource[] {
    return this.#sources.filter((source) => source instanceof NodeSource);
  }

  /**
   * Prepares new settings. A node or pool with unchanged settings is kept. If `prepare` throws, nothing has changed.
   * @returns a function that applies the new settings
   * @throws UsageError in the same cases as the constructor
   */
  prepare(settings: SourceSettings): () => void {
    const members = this.#membersOf(settings);
    return () => {
      this.#members = members;
      this.source.change(this.#sources);
    };
  }

  /** Submits a solution of another coordinator's work to all nodes that the miner has not left. */
  submitElsewhere(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const nodes = this.nodes.filter((node) => !this.source.hasLeft(node));
    return submitToAll(nodes, solution, stop);
  }

  get #sources(): WorkSource[] {
    return this.#members.map(({ source }) => source);
  }

  #membersOf(settings: SourceSettings): Member[] {
    const left = [...this.#members];
    const plansOf = settings.pool.urls === undefined ? nodesOf : poolsOf;
    return plansOf(settings, this.#context).map(({ key, open }) => {
      const at = left.findIndex((member) => member.key === key);
      return at < 0 ? { key, source: open() } : left.splice(at, 1)[0];
    });
  }
}

/**
 * Outcomes, from the most to the least important. `unknown` precedes the refusals, because in that case the source may
 * have accepted the solution.
 */
const BY_WEIGHT: readonly Outcome[] = ['accepted', 'delivered', 'unknown', 'rejected', 'stale'];

/**
 * Submits a solution to all sources at once, because any of them may have given the solution's work. The other sources
 * answer that they do not know the work, which does no harm.
 * @returns the first acceptance, or else the most important verdict by `BY_WEIGHT`; `stale` without sources
 */
export async function submitToAll(
  sources: readonly Pick<WorkSource, 'name' | 'submit'>[],
  solution: Solution,
  stop: AbortSignal,
): Promise<Verdict> {
  const verdicts = sources.map(async (source) => ({ by: source.name, ...(await source.submit(solution, stop)) }));
  const accepted = verdicts.map(async (pending) => {
    const verdict = await pending;
    if (verdict.outcome !== 'accepted') throw verdict;
    return verdict;
  });
  try {
    return await Promise.any(accepted);
  } catch {
    const all = await Promise.all(verdicts);
    const [first] = all.sort((a, b) => BY_WEIGHT.indexOf(a.outcome) - BY_WEIGHT.indexOf(b.outcome));
    return first ?? { outcome: 'stale', reason: 'there is no node to send it to' };
  }
}

interface Plan {
  readonly key: string;
  readonly open: () => WorkSource;
}

function nodesOf(settings: SourceSettings, context: SourcesContext): Plan[] {
  const { node } = settings;
  const { urls = [], network = '' } = node;
  const miner = minerIdentity(settings.miner);
  if (urls.length === 0) {
    const { user, password, passwordFile } = settings.pool;
    const flag = user === undefined ? '--password' : '--user';
    if ((user ?? password ?? passwordFile) !== undefined) {
      throw new UsageError(
        `${flag} is for a pool, and none is configured. Give its URL with --pool stratum+tcp://HOST:PORT.`,
      );
    }
    throw new UsageError(
      'No node is configured. To write one to a file, run: pickaxe init\n' +
        'To give it here: pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY\n' +
        'To mine on a pool: pickaxe mine --pool stratum+tcp://HOST:PORT --user NAME.WORKER\n' +
        'To mine for a fleet: pickaxe mine --nats nats://HOST:4222\n' +
        'To try pickaxe on a mock node: pickaxe demo',
    );
  }
  if (!miner) {
    const user = settings.pool.user === undefined ? '' : ' --user is for a pool.';
    throw new UsageError(
      `No key is configured.${user} Give your public key with --public-key HEX, or make a new one with: pickaxe keygen pickaxe-key.json`,
    );
  }
  refuse(minerContradictions(sourcesOf(settings)).map(({ message }) => message));
  const names = orUsageError(() => numberRepeated(urls.map((url) => nodeAddress(url, network).name)));
  return names.map((name, index) => {
    const url = urls[index];
    const trust = nodeTrust(url, node);
    const options = { url, name, network, miner, trust, userAgent: `pickaxe/${version}` };
    const open = () => new NodeSource(options, context);
    return { key: JSON.stringify(options), open };
  });
}

/**
 * @returns the settings without the NATS servers. A coordinator publishes work at these servers, but gets no work
 *   there.
 */
function sourcesOf({ node, pool, miner, stratum }: SourceSettings) {
  return { node, pool, miner, ...(stratum && { stratum }) };
}

function poolsOf(settings: SourceSettings, context: SourcesContext): Plan[] {
  refuse(minerContradictions(sourcesOf(settings)).map(({ message }) => message));
  const { pool, node } = settings;
  const { urls = [] } = pool;
  const account = poolAccount(pool);
  const { difficulty, allowReconnect } = pool;
  return urls.map((url) => {
    const trust = poolTrust(url, pool, node);
    const options = { url, ...account, trust, difficulty, allowReconnect, userAgent: `pickaxe/${version}` };
    const network = namedNetwork(node.network);
    const open = () => new PoolSource({ ...options, network }, context);
    return { key: JSON.stringify([options, node.network]), open };
  });
}

/** Miners usually send this password, and most pools ignore it. */
export const USUAL_PASSWORD = 'x';

/** @throws UsageError when the password's file cannot be used */
export function poolAccount({ user = '', password, passwordFile }: Config['pool']): PoolAccount {
  if (passwordFile !== undefined) return { user, password: secretIn(passwordFile, '--password-file') };
  return { user, password: password ?? USUAL_PASSWORD };
}

/** @returns the risk of `--insecure-tls` and its remedy; undefined when every TLS connection is checked */
export function insecureTlsRisk({ node, pool }: Pick<Config, 'node' | 'pool'>) {
  const kind = pool.urls === undefined ? 'node' : 'pool';
  const unchecked = pool.urls ?? node.urls?.map(shownUrl) ?? [];
  const shown = unchecked.filter((url) => /^(https|stratum\+ssl):/i.test(url));
  if (!node.insecureTls || shown.length === 0) return undefined;
  return {
    what: `--insecure-tls accepts any certificate from ${shown.join(', ')}`,
    why: 'somebody in between can read and change everything that is sent',
    remedy: `give the fingerprint of the ${kind}’s certificate with --${kind}-fingerprint instead`,
  };
}
