/**
 * The NATS accounts of a fleet's servers: the subjects that each member may use, and limits on connections. A message
 * stays in its account unless another account imports its subject. A server limits the number of connections for an
 * account, not for a key. So rigs, operators and leaf nodes have other accounts than coordinators, and their keys
 * cannot use up the connections of coordinators. Pure.
 */

import { FALLBACK_QUEUE, FleetSubjects, token } from '../subjects.ts';

export const ROLES = ['rig', 'coordinator', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export interface Member {
  readonly name: string;
  readonly role: Role;
  /** The public nkey: 56 characters, of which the first is `U`. */
  readonly publicKey: string;
  /** Unique among all members, including revoked ones. It never changes, and determines the account of a rig. */
  readonly number: number;
}

/** The account of coordinators. A leaf node's connection to the servers of the cluster has this account, too. */
export const COORDINATORS = 'coordinators';
const OPERATORS = 'operators';
/** The account of leaf nodes, on the servers to which they connect. */
const SITES = 'sites';
/** The user name with which the fleet's servers connect to each other. */
export const SERVER_USER = 'server';

/**
 * Maximum number of accounts of rigs. If a fleet has had no more members than this, each rig has an account of its own.
 * Otherwise, several rigs may share an account. More accounts would delay the start of a server, which compares the
 * imports of all accounts with each other: nats-server 2.9.10 takes 1 s for 250 accounts, and 30 s for 4,000.
 */
const MOST_RIG_ACCOUNTS = 200;
/**
 * Maximum number of connections of an account for each of its rigs. A rig needs one connection, and `pickaxe doctor`
 * another one. The server still counts a lost connection for up to half a minute. A second machine with the same key
 * must be able to connect, too, because otherwise operators would not see that two machines have this key.
 */
const CONNECTIONS_OF_RIG = 4;
/**
 * Maximum number of connections for each operator: for the fleet's page, and for commands that run at the same time.
 */
const CONNECTIONS_OF_OPERATOR = 16;
const MOST_LEAF_NODES = 256;
/**
 * Maximum number of subscriptions of one connection, because the server keeps them in memory. A member usually has less
 * than ten. The connection of a leaf node has the subscriptions of all rigs of its site: up to 20,000 rigs with three
 * subscriptions each.
 */
const SUBSCRIPTIONS = { ofMember: 16, ofSite: 100_000 };
/** Number of connections to a server for coordinators, and for clients that have not proved a key yet. */
const FURTHER_CONNECTIONS = 4_096;
/** Minimum of a server's limit on connections. */
const LEAST_CONNECTIONS = 65_536;

interface AccountTerms {
  /** First part of all subjects. */
  readonly subject: string;
  readonly members: readonly Member[];
  /** The secret with which leaf nodes prove that they belong to the fleet; undefined if none may connect. */
  readonly leafSecret: string | undefined;
  /** Whether the server itself is a leaf node. */
  readonly isLeaf: boolean;
}

interface NatsAccount {
  readonly name: string;
  /** The users, each as a line of the configuration. */
  readonly users: readonly string[];
  readonly limits: readonly string[];
  /** Subjects of messages of this account that members of other accounts may receive. */
  readonly exports: readonly string[];
  readonly imports: readonly { readonly from: string; readonly subjects: readonly string[] }[];
}

/** @returns the lines of the configuration's `accounts` block */
export function accountsBlock(terms: AccountTerms): string[] {
  return ['accounts {', ...accountsOf(terms).flatMap(linesOf), '}'];
}

/** @returns the maximum number of connections to one server, which is above the sum of the accounts' limits */
export function mostConnections(members: readonly Member[]): number {
  const limits = members.map(({ role }) =>
    role === 'rig' ? CONNECTIONS_OF_RIG : role === 'operator' ? CONNECTIONS_OF_OPERATOR : 0,
  );
  return Math.max(
    LEAST_CONNECTIONS,
    limits.reduce((sum, each) => sum + each, FURTHER_CONNECTIONS),
  );
}

function accountsOf({ subject, members, leafSecret, isLeaf }: AccountTerms): NatsAccount[] {
  const subjects = new FleetSubjects(subject);
  const ofRigs = subjects.ofAnyRig;
  const of = (role: Role) => members.filter((member) => member.role === role);
  const usersOf = (some: readonly Member[]) => some.map((member) => user(member, subjects));
  const ofMember = `max_subscriptions: ${SUBSCRIPTIONS.ofMember}`;

  /** The common part of the accounts of rigs and sites. */
  const outer = {
    exports: ofRigs.publish,
    // The sites' account needs these imports, too: requests of operators reach the rigs of a leaf node over this
    // server.
    imports: [
      { from: COORDINATORS, subjects: ofRigs.subscribe },
      { from: OPERATORS, subjects: [subjects.controls] },
    ],
  };
  const ofRigAccounts = [...groupedRigs(of('rig'))].map(([number, rigs]): NatsAccount => {
    const limits = [`max_connections: ${CONNECTIONS_OF_RIG * rigs.length}`, ofMember];
    return { name: `rigs-${number}`, users: usersOf(rigs), limits, ...outer };
  });
  const sites: NatsAccount[] = [];
  if (leafSecret !== undefined) {
    const limits = [`max_leafnodes: ${MOST_LEAF_NODES}`, `max_subscriptions: ${SUBSCRIPTIONS.ofSite}`];
    sites.push({ name: SITES, users: [leafUser(leafSecret, subjects)], limits, ...outer });
  }
  const outside = [...ofRigAccounts, ...sites].map(({ name }) => name);
  const coordinators: NatsAccount = {
    name: COORDINATORS,
    // If no account had a user, the server would accept every client.
    users: members.length > 0 || leafSecret !== undefined ? usersOf(of('coordinator')) : [nobody()],
    limits: [isLeaf ? `max_subscriptions: ${SUBSCRIPTIONS.ofSite}` : ofMember],
    // A coordinator with devices also reports and gets operators' requests, as a rig does.
    exports: [...ofRigs.subscribe, subjects.reports, subjects.operatorAnswers],
    imports: [
      ...outside.map((from) => ({ from, subjects: ofRigs.publish })),
      { from: OPERATORS, subjects: [subjects.controls] },
    ],
  };
  const operators: NatsAccount = {
    name: OPERATORS,
    users: usersOf(of('operator')),
    limits: [`max_connections: ${CONNECTIONS_OF_OPERATOR * Math.max(1, of('operator').length)}`, ofMember],
    exports: [subjects.controls],
    imports: [
      { from: COORDINATORS, subjects: [subjects.allWork, subjects.allBeats] },
      ...[COORDINATORS, ...outside].map((from) => ({ from, subjects: [subjects.reports, subjects.operatorAnswers] })),
    ],
  };
  return [coordinators, operators, ...ofRigAccounts, ...sites];
}

/**
 * Groups rigs by the number of their account. This number depends only on the rig's own number. If a rig's account
 * changed because of other members, the rig's connection would end.
 */
function groupedRigs(rigs: readonly Member[]): Map<number, Member[]> {
  const groups = new Map<number, Member[]>();
  for (const rig of rigs) {
    const number = rig.number % MOST_RIG_ACCOUNTS;
    const group = groups.get(number);
    if (group) group.push(rig);
    else groups.set(number, [rig]);
  }
  return groups;
}

function linesOf({ name, users, limits, exports, imports }: NatsAccount): string[] {
  const imported = imports.flatMap(({ from, subjects }) =>
    subjects.map((subject) => `{ stream: { account: "${from}", subject: ${quoted(subject)} } }`),
  );
  const exported = exports.map((subject) => `{ stream: ${quoted(subject)} }`);
  return [
    `  ${name} {`,
    `    limits { ${limits.join(', ')} }`,
    '    users: [',
    ...users.map((each) => `      ${each}`),
    '    ]',
    `    exports: [${exported.join(', ')}]`,
    '    imports: [',
    ...imported.map((each) => `      ${each}`),
    '    ]',
    '  }',
  ];
}

/**
 * @returns the text as a string of a NATS server's configuration
 * @throws RangeError for control characters, which no such text should have
 */
export function quoted(text: string): string {
  if (/\p{Cc}/u.test(text)) throw new RangeError('a control character in a configuration');
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function nobody(): string {
  // No password has this hash, so nobody can connect as this user.
  return '{ user: "nobody", password: "$2a$11$......................................................" }';
}

/** @returns the line for a member. It ends with the name in a comment, because the server's logs show only the key */
function user(member: Member, subjects: FleetSubjects): string {
  const { name, role, publicKey } = member;
  return `{ nkey: ${publicKey}, ${permissions(PERMISSIONS[role](name, subjects))} } # ${token(name)}`;
}

/** @returns the line for the user of leaf nodes. Their sites have only rigs, so this user has only rigs' permissions */
function leafUser(secret: string, subjects: FleetSubjects): string {
  return `{ user: "${SERVER_USER}", password: ${quoted(secret)}, ${permissions(subjects.ofAnyRig)} }`;
}

function permissions({ publish, subscribe }: Permissions): string {
  return `permissions: { publish: { allow: ${list(publish)} }, subscribe: { allow: ${list(subscribe)} } }`;
}

interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/**
 * The subjects on which a member may publish its answers are listed. The option `allow_responses` is not used: it would
 * permit an answer on any subject that a request names, so an operator could make a rig publish work.
 */
const PERMISSIONS: Record<Role, (name: string, subjects: FleetSubjects) => Permissions> = {
  rig: (name, subjects) => ({
    publish: [
      subjects.hellosBy(name),
      subjects.solutionsBy(name),
      subjects.fallback(name),
      subjects.report(name),
      subjects.operatorAnswers,
    ],
    subscribe: [subjects.allWork, subjects.allBeats, subjects.controlsTo(name), `${subjects.inbox(name)}.>`],
  }),
  // A coordinator with devices also reports as a rig does.
  coordinator: (name, subjects) => ({
    publish: [
      subjects.work(name),
      subjects.beat(name),
      subjects.hellosBy(name),
      subjects.inboxes,
      subjects.report(name),
      subjects.operatorAnswers,
    ],
    subscribe: [
      subjects.allWork,
      subjects.allBeats,
      subjects.hellosTo(name),
      subjects.solutionsTo(name),
      `${subjects.fallbacks} ${FALLBACK_QUEUE}`,
      subjects.reports,
      subjects.controlsTo(name),
      `${subjects.inbox(name)}.>`,
    ],
  }),
  operator: (name, subjects) => ({
    publish: [subjects.controlsBy(name)],
    subscribe: [subjects.reports, subjects.allWork, subjects.allBeats, `${subjects.operatorInbox(name)}.>`],
  }),
};

function list(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}
