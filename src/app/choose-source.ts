/** Makes the source of work that the settings ask for. */

import { minerContradictions } from '../config/contradictions.ts';
import type { Config } from '../config/settings.ts';
import type { Events } from '../events/events.ts';
import { nodeAddress, numberRepeated, shownUrl } from '../node/url.ts';
import { FailoverSource } from '../source/failover.ts';
import { NodeSource } from '../source/node/node-source.ts';
import { PoolSource } from '../source/pool/pool-source.ts';
import type { PoolAccount } from '../source/pool/session.ts';
import { RevocableSource } from '../source/shared-source.ts';
import type { WorkSource } from '../source/source.ts';
import { version } from '../system/version.ts';
import { refuse, UsageError } from './exit.ts';
import { nodeTrust, poolTrust, secretIn } from './node-api.ts';

/** The settings that name the nodes to mine on and the miner to mine for, or the pools. */
type SourceSettings = Pick<Config, 'node' | 'pool' | 'miner'> & Partial<Pick<Config, 'stratum'>>;

/**
 * A standby of several pools is closed so long after a preferred pool has taken over again: then that one is back for
 * good, and the standby's last shares have their answers.
 */
const STANDBY_MS = 2_000;

export interface ChosenSource {
  readonly source: WorkSource;
  /** The nodes of which it consists, in order of preference; none where pools are mined on. */
  readonly nodes: readonly RevocableSource[];
}

/** @throws UsageError that says which setting is missing or wrong. */
export function chooseSource(settings: SourceSettings, events: Events): ChosenSource {
  if (settings.pool.urls !== undefined) return { source: choosePools(settings, events), nodes: [] };
  const nodes = chooseNodes(settings, events);
  return { source: nodes.length === 1 ? nodes[0] : new FailoverSource({ sources: nodes, emit: events.emit }), nodes };
}

function chooseNodes(settings: SourceSettings, { emit }: Events): RevocableSource[] {
  const { node, miner: identity } = settings;
  const { urls = [], network } = node;
  const { predicate, publicKeys = [] } = identity;
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
        'To try pickaxe on a mock node: pickaxe demo',
    );
  }
  if (publicKeys.length === 0) {
    const user = settings.pool.user === undefined ? '' : ' --user is for a pool.';
    throw new UsageError(
      `No key is configured.${user} Give your public key with --public-key HEX, or make a new one with: pickaxe keygen pickaxe-key.json`,
    );
  }
  refuse(minerContradictions(settings).map(({ says }) => says));
  const miner = { account: minerAccount(identity), predicate, publicKeys };
  return namesOf(urls, network ?? '').map((name, index) => {
    const url = urls[index];
    const trust = nodeTrust(url, node);
    const options = { url, name, network: network ?? '', miner, trust, userAgent: `pickaxe/${version}` };
    return new RevocableSource(new NodeSource(options, { emit }), emit);
  });
}

function choosePools(settings: SourceSettings, { emit }: Events): WorkSource {
  refuse(minerContradictions(settings).map(({ says }) => says));
  const { pool, node } = settings;
  const { urls = [] } = pool;
  const account = poolAccount(pool);
  const { difficulty, allowReconnect } = pool;
  const sources = urls.map((url) => {
    const trust = poolTrust(url, pool, node);
    const options = { url, ...account, trust, difficulty, allowReconnect, userAgent: `pickaxe/${version}` };
    return new PoolSource(options, { emit });
  });
  return sources.length === 1 ? sources[0] : new FailoverSource({ sources, emit, standbyMs: STANDBY_MS });
}

/** What most pools ignore, and what miners send to them. */
export const USUAL_PASSWORD = 'x';

/** @throws UsageError when the file with the password cannot be used */
export function poolAccount({ user = '', password, passwordFile }: Config['pool']): PoolAccount {
  if (passwordFile !== undefined) return { user, password: secretIn(passwordFile, '--password-file') };
  return { user, password: password ?? USUAL_PASSWORD };
}

function namesOf(urls: readonly string[], network: string): string[] {
  try {
    return numberRepeated(urls.map((url) => nodeAddress(url, network).name));
  } catch (fault) {
    throw new UsageError((fault as Error).message);
  }
}

/**
 * @returns what `--insecure-tls` risks and what to use instead; undefined when no node or pool with TLS is left
 *   unchecked
 */
export function insecureTlsRisk({ node, pool }: Pick<Config, 'node' | 'pool'>) {
  const kind = pool.urls === undefined ? 'node' : 'pool';
  const unchecked = pool.urls ?? node.urls?.map(shownUrl) ?? [];
  const shown = unchecked.filter((url) => /^(https|stratum\+ssl):/i.test(url));
  if (!node.insecureTls || shown.length === 0) return undefined;
  return {
    what: `--insecure-tls accepts any certificate from ${shown.join(', ')}`,
    why: 'somebody in between can read and change everything that is sent',
    mend: `give the fingerprint of the ${kind}’s certificate with --${kind}-fingerprint instead`,
  };
}

/** @param miner with at least one key or an account @returns the account that is mined for */
export function minerAccount({ account, publicKeys = [] }: Config['miner']): string {
  return account ?? defaultAccount(publicKeys);
}

/** @returns the account that belongs to the first key: `k:` and the key */
export function defaultAccount([publicKey]: readonly string[]): string {
  return `k:${publicKey}`;
}
