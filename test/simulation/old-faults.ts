/**
 * Faults that pickaxe once had, as changes of the built code that put them back. `node scripts/old-faults.mjs` shows
 * which of them the simulation finds, and with how many seeds.
 */

interface Edit {
  /** A file of the built code, below `dist/`. */
  readonly file: string;
  /** Text that the file has exactly once. */
  readonly from: string;
  readonly to: string;
}

export interface OldFault {
  /** What goes wrong. */
  readonly name: string;
  /** The worlds in which it can happen. */
  readonly worlds: readonly string[];
  /** Text in the names of the faults of the simulation that show it when they come alone. By default, all happen. */
  readonly shownBy?: string;
  readonly edits: readonly Edit[];
}

const FLEETS = ['fleet', 'fleet-own-nodes'];
const POOLS = ['pool', 'pool-and-fleet'];

const NODE_SOURCE = 'miner/source/node/node-source.js';
const FETCH_SCHEDULE = 'miner/source/node/fetch-schedule.js';
const STREAM_TRUST = 'miner/source/node/stream-trust.js';
const DELIVERY = 'miner/source/delivery.js';
const POOL_SHARES = 'miner/source/pool/pool-shares.js';
const POOL_HEALTH = 'miner/source/pool/pool-health.js';
const POOL_WORKS = 'miner/source/pool/pool-works.js';
const DIALOGUE = 'miner/source/pool/dialogue.js';
const SHARES = 'miner/relay/stratum/shares.js';
const SOLUTIONS = 'fleet/coordinator/solutions.js';
const RIG_REQUESTS = 'fleet/coordinator/rig-requests.js';
const FLEET_RELAY = 'fleet/coordinator/fleet-relay.js';
const SOLUTION_DELIVERY = 'fleet/rig/solution-delivery.js';
const COORDINATOR_SOURCE = 'fleet/rig/coordinator-source.js';
const COORDINATOR_STATE = 'fleet/rig/coordinator-state.js';
const FLEET_SOURCE = 'fleet/rig/fleet-source.js';

export const OLD_FAULTS: readonly OldFault[] = [
  {
    name: 'an update stream that is open but announces nothing is trusted',
    worlds: ['solo', 'fleet'],
    shownBy: 'deaf',
    edits: [
      { file: STREAM_TRUST, from: 'found.push(chain);', to: '' },
      { file: STREAM_TRUST, from: 'if (silentMs < usualMs)', to: 'if (true)' },
      { file: 'node/http/request-limits.js', from: 'refreshMs: 20_000,', to: 'refreshMs: 120_000,' },
    ],
  },
  {
    name: 'a New Cut ends neither the pause after a failed fetch nor a fetch that hangs',
    worlds: ['solo', 'fleet'],
    shownBy: 'a node gives no work',
    edits: [
      {
        file: NODE_SOURCE,
        from: `this.#schedule.newCut(chain, nowMs);
        this.#reportStale('new-cut');
        this.#replan.ring();
        this.#impatience.signOfLife();`,
        to: `this.#schedule.newCut(chain, nowMs);
        this.#reportStale('new-cut');
        this.#replan.ring();`,
      },
    ],
  },
  {
    name: 'work on the parent that a New Cut has just replaced is mined until the next refresh',
    worlds: ['solo', 'fleet'],
    edits: [
      {
        file: FETCH_SCHEDULE,
        from: 'this.#repeatAtMs = ended ? nowMs + FIRST_REPEAT_MS * 2 ** ended.repeats++ : Number.NEGATIVE_INFINITY;',
        to: 'this.#repeatAtMs = Number.NEGATIVE_INFINITY;',
      },
    ],
  },
  {
    name: 'a solution counts as sent only when its answer has come, so its work is mined on',
    worlds: ['solo', 'fleet'],
    edits: [
      {
        file: DELIVERY,
        from: 'const takesLong = options.clock.setTimeout(onSent, options.limits.solvedAfterMs);',
        to: 'const takesLong = { cancel: () => { } };',
      },
    ],
  },
  {
    name: 'a refusal after a lost answer counts as the verdict',
    worlds: ['solo', 'fleet'],
    edits: [{ file: DELIVERY, from: 'answerLost ||= answer.mayHaveBeenTaken;', to: '' }],
  },
  {
    name: 'a solution is given up when its work ends, although the node may have it already',
    worlds: ['solo', 'fleet'],
    edits: [
      {
        file: DELIVERY,
        from: 'const why = answerLost ? undefined : options.whyOutdated();',
        to: 'const why = options.whyOutdated();',
      },
    ],
  },
  {
    name: 'a creation time may be later than the clock of a node that was set back by a second',
    worlds: ['solo', 'fleet'],
    edits: [{ file: 'miner/source/source.js', from: 'const MARGIN_US = 1500000n;', to: 'const MARGIN_US = 500000n;' }],
  },
  {
    name: 'a node that refuses every solution is mined on, although another one is configured',
    worlds: ['solo', 'fleet'],
    shownBy: 'a node refuses solutions',
    edits: [{ file: NODE_SOURCE, from: 'this.#judge(verdict, this.#schedule.isOutdated(work));', to: ';' }],
  },
  {
    name: 'a node that is frozen is mined on, because nothing probes it',
    worlds: ['solo', 'fleet', 'fleet-own-nodes'],
    shownBy: 'a node is frozen',
    edits: [
      {
        file: 'miner/source/failover.js',
        from: 'if (this.#standbys.length > 1 || this.#isWatched)\n            this.#probing',
        to: 'if (false)\n            this.#probing',
      },
    ],
  },
  {
    name: 'a node that breaks every connection is never reported as lost',
    worlds: ['solo', 'fleet'],
    shownBy: 'a node closes every connection',
    edits: [{ file: NODE_SOURCE, from: "again = !again && kind === 'broken';", to: "again = kind === 'broken';" }],
  },
  {
    name: 'after a suspension, old work is mined on',
    worlds: ['solo', 'fleet'],
    shownBy: 'suspended',
    edits: [
      {
        file: NODE_SOURCE,
        from: 'const endWatch = watchSuspension(this.#clock, (ms) => this.#resumed(ms));',
        to: 'const endWatch = () => { };',
      },
      { file: FLEET_SOURCE, from: 'watchSuspension(this.#clock, (ms) => this.#resumed(ms)),', to: '' },
    ],
  },
  {
    name: 'solutions that wait for a busy node print warnings of a leak',
    worlds: ['solo', 'fleet'],
    shownBy: 'a node takes no solutions',
    edits: [{ file: 'base/system/abort.js', from: '    setMaxListeners(0, controller.signal);\n', to: '' }],
  },
  {
    name: 'a rig that is stopped leaves a timer',
    worlds: ['solo', 'fleet'],
    edits: [{ file: NODE_SOURCE, from: '            endWatch();\n', to: '' }],
  },
  {
    name: 'a restarted coordinator refuses the solutions of the works that it gave before',
    worlds: FLEETS,
    shownBy: 'all coordinators are killed',
    edits: [{ file: SOLUTIONS, from: 'if (!this.#elsewhere || latestUs === 0n)', to: 'if (true)' }],
  },
  {
    name: 'a coordinator’s refusal of a solution of another one’s work is final',
    worlds: FLEETS,
    edits: [
      { file: RIG_REQUESTS, from: "if (isElsewhere && outcome !== 'accepted') {", to: 'if (false) {' },
      { file: SOLUTION_DELIVERY, from: "if (to === 'fallback' && outcome !== 'accepted') {", to: 'if (false) {' },
    ],
  },
  {
    name: 'a coordinator whose node stands still keeps its rigs',
    worlds: ['fleet-own-nodes'],
    edits: [
      {
        file: FLEET_RELAY,
        from: 'publish(link, subject, this.#own.state(isWhole, this.#fault()));',
        to: 'publish(link, subject, this.#own.state(isWhole, undefined));',
      },
    ],
  },
  {
    name: 'a valid solution counts as wrong if the coordinator that gave its work had sent its last state late',
    worlds: FLEETS,
    edits: [{ file: SOLUTIONS, from: 'claimedUs > ownUs ? claimedUs : ownUs', to: 'claimedUs' }],
  },
  {
    name: 'a message that comes late revives a work that has ended',
    worlds: FLEETS,
    edits: [
      {
        file: COORDINATOR_STATE,
        from: 'if (this.#known.has(name) || this.#ended.has(name))',
        to: 'if (this.#known.has(name))',
      },
    ],
  },
  {
    name: 'rigs take the states of a coordinator in any order',
    worlds: FLEETS,
    edits: [{ file: COORDINATOR_STATE, from: 'if (number < this.#run.number)', to: 'if (false)' }],
  },
  {
    name: 'a restarted coordinator is not recognized until a minute has passed',
    worlds: FLEETS,
    shownBy: 'all coordinators are killed',
    edits: [
      {
        file: COORDINATOR_STATE,
        from: 'if (nowMs - this.#lastStateMs < this.#replacedAfterMs) {',
        to: 'if (nowMs - this.#lastStateMs < 60_000) {',
      },
    ],
  },
  {
    name: 'a rig loses all coordinators at each interruption of its connection',
    worlds: FLEETS,
    edits: [
      {
        file: FLEET_SOURCE,
        from: 'if (isAnyResponsive || nowMs - this.#linkSinceMs < this.#limits.lostAfterMs)',
        to: 'if (isAnyResponsive)',
      },
    ],
  },
  {
    name: 'a rig asks only the coordinator that gave the work',
    worlds: FLEETS,
    edits: [
      {
        file: SOLUTION_DELIVERY,
        from: "this.#next = to === 'issuer' ? 'fallback' : 'issuer';",
        to: "this.#next = 'issuer';",
      },
      { file: SOLUTION_DELIVERY, from: "this.#issuer.isUnresponsive ? 'fallback' : this.#next", to: 'this.#next' },
    ],
  },
  {
    name: 'a rig does not ask the coordinator again whose answer was lost',
    worlds: FLEETS,
    edits: [{ file: SOLUTION_DELIVERY, from: 'const isAgain = this.#isAskedAgain;', to: 'const isAgain = false;' }],
  },
  {
    name: 'a rig never asks for a work of which it knows only the name',
    worlds: FLEETS,
    edits: [{ file: COORDINATOR_SOURCE, from: 'if (this.#states.isCurrentUnknown)\n            this.#ask();', to: '' }],
  },
  {
    name: 'a pool that answers shares no more, but sends jobs, is mined on',
    worlds: POOLS,
    shownBy: 'a pool does not answer shares',
    edits: [
      {
        file: POOL_HEALTH,
        from: 'const late = () => answers === this.#answers && this.#unanswered();',
        to: 'const late = () => { };',
      },
    ],
  },
  {
    name: 'a pool that refuses every share is mined on',
    worlds: POOLS,
    shownBy: 'a pool refuses all shares',
    edits: [
      {
        file: POOL_SHARES,
        from: 'settled(verdict && answerOf(verdict, works.isCurrent(work)));',
        to: "settled(verdict && { kind: 'other' });",
      },
    ],
  },
  {
    name: 'one line that cannot be read ends the connection to a pool',
    worlds: POOLS,
    edits: [
      {
        file: DIALOGUE,
        from: `if (!message) {
            this.#skip(`,
        to: `if (!message) {
            throw new PoolError('refused', 'a line cannot be read');
            this.#skip(`,
      },
    ],
  },
  {
    name: 'an easier target counts at once, also for shares of the earlier job',
    worlds: POOLS,
    edits: [{ file: POOL_WORKS, from: 'if (isEasier) {', to: 'if (false) {' }],
  },
  {
    name: 'a new nonce1 counts at once, also for shares of the earlier job',
    worlds: POOLS,
    edits: [{ file: POOL_WORKS, from: 'this.#job.nonce1 ??= nonce1;', to: 'this.#job.nonce1 = nonce1;' }],
  },
  {
    name: 'shares of jobs that a pool has replaced are sent',
    worlds: POOLS,
    edits: [
      {
        file: POOL_WORKS,
        from: 'const isWorthless = (work) => clean ?? isOvertaken(work, header);',
        to: 'const isWorthless = () => false;',
      },
    ],
  },
  {
    name: 'the share ledger credits twice the work of a client whose target has changed',
    worlds: ['stratum'],
    edits: [
      {
        file: SHARES,
        from: 'meetsTarget(powHash, first.target) ? first.difficulty : 0',
        to: 'meetsTarget(powHash, terms.target) ? terms.difficulty : easiest.difficulty',
      },
    ],
  },
  {
    name: 'the former target is enough for as long as the job lasts',
    worlds: ['stratum'],
    edits: [
      {
        file: SHARES,
        from: 'given.former && nowMs < given.former.untilMs ? given.former : undefined',
        to: 'given.former',
      },
    ],
  },
  {
    name: 'a share that is sent twice is credited twice',
    worlds: ['stratum'],
    edits: [
      { file: SHARES, from: 'if (header.nonces.has(nonce))', to: 'if (false)' },
      { file: SHARES, from: 'if (!remember(header, nonce) && !isBlock)', to: 'if (false)' },
    ],
  },
  {
    name: 'a state file of a payment is not on the disk when its command is sent',
    worlds: ['payments'],
    edits: [
      {
        file: 'node/sweep/state-files.js',
        from: 'fs.fsyncSync(fd);\n                }\n                finally {',
        to: '}\n                finally {',
      },
    ],
  },
];
