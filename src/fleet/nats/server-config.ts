/** The configuration of a fleet's NATS servers: where they listen, and who may connect. Pure. */

import { MOST_MESSAGE_BYTES } from '../messages.ts';
import { accountsBlock, COORDINATORS, type Member, mostConnections, quoted, SERVER_USER } from './server-accounts.ts';

export interface TlsFiles {
  /** Path of the certificate (PEM) on the server's machine. */
  readonly cert: string;
  /** Path of the private key (PEM) on the server's machine. */
  readonly key: string;
  /**
   * Path of the certificate (PEM) of the authority that has issued the other servers' certificates; undefined for the
   * authorities that the system trusts.
   */
  readonly ca?: string | undefined;
}

/**
 * Servers to connect to, and the secret with which a server proves that it belongs to the fleet. A server of the
 * cluster may send and receive all messages. A leaf node may send and receive only what rigs may.
 */
interface OtherServers {
  /** `HOST:PORT` of each server. */
  readonly servers: readonly string[];
  readonly secret: string;
}

export interface ServerTerms {
  /** First part of all subjects. */
  readonly subject: string;
  readonly members: readonly Member[];
  /** `HOST:PORT` on which the server listens for clients; the port -1 means any free port. */
  readonly listen: string;
  readonly tls?: TlsFiles | undefined;
  /** All servers of the cluster, with the ports on which they listen for each other. */
  readonly cluster?: (OtherServers & { readonly listen: string }) | undefined;
  /** Lets servers of other sites connect as leaf nodes, at the address `listen`. Absent if there are no leaf nodes. */
  readonly leaves?: { readonly listen: string; readonly secret: string } | undefined;
  /** Makes this server a leaf node of these servers. Their ports are those for leaf nodes. */
  readonly hub?: OtherServers | undefined;
}

/** The beginning of every configuration. It shows that pickaxe made the file. */
export const MADE_BY = '# Made by pickaxe fleet keys';

/**
 * Limits for clients. A client that does not read its messages is disconnected after `write_deadline`, or when more
 * than `max_pending` bytes wait for it. When it has connected again, it gets the latest work, so old works need not
 * wait. Bursts of messages are far below `max_pending`: the reports of a thousand rigs have about two megabytes.
 */
const LIMITS = [
  `max_payload: ${MOST_MESSAGE_BYTES}`,
  'max_pending: 16777216',
  'write_deadline: "2s"',
  '# A machine that has vanished is noticed within half a minute.',
  'ping_interval: "10s"',
  'ping_max: 2',
];
/** Maximum time, in seconds, until a client has proved its identity. A thousand rigs may connect at the same time. */
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
