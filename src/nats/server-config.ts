/** The configuration of a fleet's NATS servers: who may connect, and what each may say and hear. Pure. */

import { FALLBACK_QUEUE, FleetSubjects, MOST_MESSAGE_BYTES } from '../wire/fleet.ts';

export const ROLES = ['rig', 'coordinator', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export interface Account {
  readonly name: string;
  readonly role: Role;
  /** Of its nkey: 56 characters that begin with `U`. */
  readonly publicKey: string;
}

export interface TlsFiles {
  /** Paths of PEM files on the server's machine. */
  readonly cert: string;
  readonly key: string;
  /** The authority that signed the certificates of the other servers; undefined for those that the system knows. */
  readonly ca?: string | undefined;
}

/**
 * Other servers prove with this that they belong to the fleet. Those of a cluster may send and receive everything, and
 * a leaf node what rigs may.
 */
interface OtherServers {
  /** `HOST:PORT` of each. */
  readonly servers: readonly string[];
  readonly secret: string;
}

export interface ServerTerms {
  /** First part of the subjects. */
  readonly subject: string;
  readonly accounts: readonly Account[];
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

/** The first words of every configuration, by which it is known that pickaxe made it. */
export const MADE_BY = '# Made by pickaxe fleet keys';

/**
 * A client that takes nothing for so long is cut off, and comes back to the latest work: it is no use to feed it old
 * ones. Bursts are far below the bytes: a thousand rigs' reports have about two megabytes.
 */
const LIMITS = [
  `max_payload: ${MOST_MESSAGE_BYTES}`,
  'max_pending: 16777216',
  'write_deadline: "2s"',
  'max_connections: 65536',
  '# A machine that has vanished is noticed within half a minute.',
  'ping_interval: "10s"',
  'ping_max: 2',
];
/**
 * Subscriptions of one connection, which are kept in the server's memory. A member has less than ten. Between the
 * servers of two sites there are those of all members, which are up to 20,000 rigs with three each.
 */
const MOST_SUBSCRIPTIONS = { ofMember: 16, ofSite: 100_000 };
/** Seconds for the proof of a name: a thousand rigs may come back at once. */
const PROOF_SECONDS = 10;
const USER = 'server';

export function serverConfig(terms: ServerTerms): string {
  const { listen, tls, cluster, leaves, hub } = terms;
  const lines = [
    `${MADE_BY}, which writes it anew: change it there.`,
    `listen: ${quoted(listen)}`,
    ...LIMITS,
    `max_subscriptions: ${leaves || hub ? MOST_SUBSCRIPTIONS.ofSite : MOST_SUBSCRIPTIONS.ofMember}`,
    ...tlsBlock(tls),
    ...authorization(terms),
  ];
  if (cluster) {
    lines.push(
      'cluster {',
      '  name: "pickaxe"',
      `  listen: ${quoted(cluster.listen)}`,
      `  authorization { user: "${USER}", password: ${quoted(cluster.secret)}, timeout: ${PROOF_SECONDS} }`,
      '  # Clients use the servers that they are told of, and no others.',
      '  no_advertise: true',
      `  routes: [${cluster.servers.map((each) => quoted(`nats-route://${USER}:${cluster.secret}@${each}`)).join(', ')}]`,
      ...tlsBlock(tls, '  '),
      '}',
    );
  }
  if (leaves) {
    lines.push('leafnodes {', `  listen: ${quoted(leaves.listen)}`, ...tlsBlock(tls, '  '), '}');
  }
  if (hub) {
    const scheme = tls ? 'tls' : 'nats-leaf';
    const urls = hub.servers.map((each) => quoted(`${scheme}://${USER}:${hub.secret}@${each}`));
    const trust = tls?.ca === undefined ? '' : `, tls { ca_file: ${quoted(tls.ca)} }`;
    lines.push('leafnodes {', `  remotes: [{ urls: [${urls.join(', ')}]${trust} }]`, '}');
  }
  return `${lines.join('\n')}\n`;
}

function tlsBlock(tls: TlsFiles | undefined, indent = ''): string[] {
  if (!tls) return [];
  const ca = tls.ca === undefined ? '' : `, ca_file: ${quoted(tls.ca)}`;
  return [`${indent}tls { cert_file: ${quoted(tls.cert)}, key_file: ${quoted(tls.key)}${ca}, timeout: 10 }`];
}

function authorization({ accounts, subject, leaves }: ServerTerms): string[] {
  const subjects = new FleetSubjects(subject);
  const operators = accounts.flatMap(({ name, role }) => (role === 'operator' ? [name] : []));
  return [
    'authorization {',
    `  timeout: ${PROOF_SECONDS}`,
    '  users: [',
    ...accounts.map((account) => `    ${user(account, subjects, operators)}`),
    ...(leaves ? [`    ${leaf(leaves.secret, subjects, operators)}`] : []),
    // Without any user, the server would let everybody in.
    ...(accounts.length === 0 && !leaves ? ['    # No member may connect yet.', `    ${nobody()}`] : []),
    '  ]',
    '}',
  ];
}

function nobody(): string {
  // The hash of no password: nobody can prove to be this user.
  return '{ user: "nobody", password: "$2a$11$......................................................" }';
}

function user({ name, role, publicKey }: Account, subjects: FleetSubjects, operators: readonly string[]): string {
  return `{ nkey: ${publicKey}, ${permissions(PERMISSIONS[role](name, subjects, operators))} }`;
}

/** The user of leaf nodes, whose sites have only rigs: their secret permits what rigs may do, and no more. */
function leaf(secret: string, subjects: FleetSubjects, operators: readonly string[]): string {
  const { publish, subscribe } = subjects.ofAnyRig;
  const answers = operators.map((operator) => subjects.answersTo(operator));
  const may = permissions({ publish: [...publish, ...answers], subscribe });
  return `{ user: "${USER}", password: ${quoted(secret)}, ${may} }`;
}

function permissions({ publish, subscribe }: Permissions): string {
  return `permissions: { publish: { allow: ${list(publish)} }, subscribe: { allow: ${list(subscribe)} } }`;
}

interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * Answers are permitted by their subjects, not as responses to requests (`allow_responses`): a request may name any
 * subject for its answer, so an operator could let a rig publish work.
 */
const PERMISSIONS: Record<Role, (name: string, subjects: FleetSubjects, operators: readonly string[]) => Permissions> =
  {
    rig: (name, subjects, operators) => ({
      publish: [
        subjects.hellosBy(name),
        subjects.solutionsBy(name),
        subjects.fallback(name),
        subjects.report(name),
        ...operators.map((operator) => subjects.answersTo(operator)),
      ],
      subscribe: [subjects.allWork, subjects.allBeats, subjects.controlsTo(name), inboxOf(name, subjects)],
    }),
    // It may have devices of its own, and is then a rig, too.
    coordinator: (name, subjects) => ({
      publish: [
        subjects.work(name),
        subjects.beat(name),
        subjects.hellosBy(name),
        subjects.inboxes,
        subjects.report(name),
      ],
      subscribe: [
        subjects.allWork,
        subjects.allBeats,
        subjects.hellosTo(name),
        subjects.solutionsTo(name),
        `${subjects.fallbacks} ${FALLBACK_QUEUE}`,
        subjects.reports,
        subjects.controlsTo(name),
        inboxOf(name, subjects),
      ],
    }),
    operator: (name, subjects) => ({
      publish: [subjects.controlsBy(name)],
      subscribe: [subjects.reports, subjects.allWork, subjects.allBeats, inboxOf(name, subjects)],
    }),
  };

function inboxOf(name: string, subjects: FleetSubjects): string {
  return `${subjects.inbox(name)}.>`;
}

function list(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}

/** @throws RangeError for control characters, which no text here has */
function quoted(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new RangeError('a control character in a configuration');
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
