/** The configuration of a fleet's NATS servers: where they listen, and who may connect. Pure. */

import { MOST_MESSAGE_BYTES } from '../messages.ts';
import { accountsBlock, COORDINATORS, type Member, mostConnections, quoted, SERVER_USER } from './server-accounts.ts';

export interface TlsFiles {
  /** Paths of PEM files on the server's machine. */
  readonly cert: string;
  readonly key: string;
  /** The authority of the other servers' certificates; undefined for the system's authorities. */
  readonly ca?: string | undefined;
}

/**
 * A secret with which other servers prove that they belong to the fleet. Servers of a cluster may send and receive
 * everything, a leaf node only what rigs may.
 */
interface OtherServers {
  /** `HOST:PORT` of each server. */
  readonly servers: readonly string[];
  readonly secret: string;
}

export interface ServerTerms {
  /** First part of the subjects. */
  readonly subject: string;
  readonly members: readonly Member[];
  /** `HOST:PORT` for clients; the port -1 means any free one. */
  readonly listen: string;
  readonly tls?: TlsFiles | undefined;
  /** All servers of the cluster, with the ports for each other. */
  readonly cluster?: (OtherServers & { readonly listen: string }) | undefined;
  /** Lets servers of other sites connect as leaf nodes. */
  readonly leaves?: { readonly listen: string; readonly secret: string } | undefined;
  /** Makes this server a leaf node of others, with their ports for leaf nodes. */
  readonly hub?: OtherServers | undefined;
}

/** The beginning of every configuration, which shows that pickaxe made the file. */
export const MADE_BY = '# Made by pickaxe fleet keys';

/**
 * Limits for clients. A client that takes no messages is cut off after a time, or when too many bytes wait for it. It
 * connects again and gets the latest work, so old works need not wait. Bursts are far below `max_pending`: the reports
 * of a thousand rigs have about two megabytes.
 */
const LIMITS = [
  `max_payload: ${MOST_MESSAGE_BYTES}`,
  'max_pending: 16777216',
  'write_deadline: "2s"',
  '# A machine that has vanished is noticed within half a minute.',
  'ping_interval: "10s"',
  'ping_max: 2',
];
/** Maximum time for a client to prove its name, in seconds: a thousand rigs may come back at once. */
const PROOF_SECONDS = 10;

export function serverConfig(terms: ServerTerms): string {
  const { subject, members, listen, tls, cluster, leaves, hub } = terms;
  const lines = [
    `${MADE_BY}, which writes it anew: change it there.`,
    `listen: ${quoted(listen)}`,
    ...LIMITS,
    `max_connections: ${mostConnections(members)}`,
    ...tlsBlock(tls),
    `authorization { timeout: ${PROOF_SECONDS} }`,
    ...accountsBlock({ subject, members, leafSecret: leaves?.secret, isLeaf: hub !== undefined }),
  ];
  if (cluster) {
    lines.push(
      'cluster {',
      '  name: "pickaxe"',
      `  listen: ${quoted(cluster.listen)}`,
      `  authorization { user: "${SERVER_USER}", password: ${quoted(cluster.secret)}, timeout: ${PROOF_SECONDS} }`,
      '  # Clients use the servers that they are told of, and no others.',
      '  no_advertise: true',
      `  routes: [${cluster.servers.map((each) => quoted(`nats-route://${SERVER_USER}:${cluster.secret}@${each}`)).join(', ')}]`,
      ...tlsBlock(tls, '  '),
      '}',
    );
  }
  if (leaves) {
    lines.push('leafnodes {', `  listen: ${quoted(leaves.listen)}`, ...tlsBlock(tls, '  '), '}');
  }
  if (hub) {
    const scheme = tls ? 'tls' : 'nats-leaf';
    const urls = hub.servers.map((each) => quoted(`${scheme}://${SERVER_USER}:${hub.secret}@${each}`));
    const trust = tls?.ca === undefined ? '' : `, tls { ca_file: ${quoted(tls.ca)} }`;
    lines.push('leafnodes {', `  remotes: [{ account: "${COORDINATORS}", urls: [${urls.join(', ')}]${trust} }]`, '}');
  }
  return `${lines.join('\n')}\n`;
}

function tlsBlock(tls: TlsFiles | undefined, indent = ''): string[] {
  if (!tls) return [];
  const ca = tls.ca === undefined ? '' : `, ca_file: ${quoted(tls.ca)}`;
  return [`${indent}tls { cert_file: ${quoted(tls.cert)}, key_file: ${quoted(tls.key)}${ca}, timeout: 10 }`];
}
