/** What members owe each other when nothing keeps them from it: rigs mine, and solutions have verdicts. */

import type { SimulatedCoordinator, SimulatedMember } from '../members.ts';
import type { SimulatedNode } from '../node.ts';
import type { SimulatedRig } from '../rigs.ts';
import type { Simulation } from '../simulation.ts';

/** Time between two looks. */
const LOOK_MS = 1_000;
/** After this time without faults, members have noticed it. */
const SETTLED_MS = 30_000;
/** Time within which a rig mines. A node that refuses work is asked again after ten seconds at most. */
const MINING_MS = 20_000;
/**
 * Longest time without a batch on the newest block. A stream that is opened between a New Cut and its work announces
 * nothing, so the work is mined until it is fetched again, after 20 s.
 */
const CURRENT_MS = 25_000;
/** Time within which a solution has a verdict. */
const VERDICT_MS = 30_000;
/** Where faults come alone: the time after which nothing of the last one is left. */
const RECOVERED_MS = 20_000;
/** The time within which members have noticed any such fault, and have gone to others. */
const NOTICED_MS = 15_000;
/**
 * The same for faults that probes, broken connections and a lack of messages show within some seconds, and the longest
 * time without a batch on the newest block then.
 */
const PROMPT_MS = 10_000;
/** Faults after which a solution is sent by way of another coordinator within `PROMPT_MS`, if it has the same nodes. */
const COORDINATOR_GONE = new Set(['a coordinator is killed', 'a coordinator is frozen', 'a coordinator is away']);
const PROMPT = new Set([
  ...COORDINATOR_GONE,
  'a node is frozen',
  'a node is down',
  'a node closes every connection',
  'the machine of a rig is suspended',
  'the machine of a coordinator is suspended',
]);
/** Faults that a miner cannot notice, because the node is behind by seconds only; and one after which it waits. */
const UNNOTICED = new Set(['blocks come late to a node', 'a node gives stale work', 'a device reports wrong nonces']);

export interface Parties {
  readonly simulation: Simulation;
  readonly nodes: readonly SimulatedNode[];
  readonly rigs: readonly SimulatedRig[];
  readonly coordinators: readonly SimulatedCoordinator[];
  /** Whether every coordinator can submit every solution. */
  readonly sharesNodes: boolean;
}

export class Service {
  readonly #parties: Parties;
  /** By condition: since when it is true. */
  readonly #since = new Map<unknown, number>();
  #lookedMs = 0;

  constructor(parties: Parties) {
    this.#parties = parties;
  }

  check(): void {
    const { simulation, nodes, rigs, coordinators, sharesNodes } = this.#parties;
    const { nowMs } = simulation.time;
    if (nowMs - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    for (const node of nodes) {
      this.#note(node, works(node));
      this.#note(`${node.name} is honest`, isHonest(node));
    }
    const areAllWell = nodes.every((node) => this.#lasts(node));
    const areAllHonest = nodes.every(({ name }) => this.#lasts(`${name} is honest`));
    for (const coordinator of coordinators) {
      this.#note(coordinator, isUp(coordinator) && coordinator.isConnected);
    }
    this.#checkAlone(nowMs);
    const serving = coordinators.filter((each) => this.#lasts(each) && this.#hasNode(each));
    for (const rig of rigs) {
      rig.check();
      const isServed = coordinators.length > 0 ? rig.isConnected && serving.length > 0 : this.#hasNode(rig);
      this.#note(rig, rig.isAble && isServed);
      const sinceMs = this.#since.get(rig);
      if (sinceMs === undefined) continue;
      const idleMs = nowMs - Math.max(sinceMs + MINING_MS, rig.lastBatchMs);
      if (idleMs > MINING_MS) simulation.violate(`${rig.name} mines nothing for ${seconds(idleMs)}`);
      const staleMs = nowMs - Math.max(sinceMs + MINING_MS, rig.lastCurrentMs);
      if (areAllHonest && staleMs > CURRENT_MS)
        simulation.violate(`${rig.name} mines stale work for ${seconds(staleMs)}`);
      if (!sharesNodes || !areAllWell || nowMs - sinceMs < VERDICT_MS) continue;
      for (const { header, atMs } of rig.pending) {
        if (nowMs - atMs < VERDICT_MS || !nodes.some((node) => node.wouldAccept(header))) continue;
        simulation.violate(`${rig.name} has no verdict on a good solution for ${seconds(nowMs - atMs)}`);
      }
    }
  }

  /** Where faults come alone, rigs have current work soon after the fault, and soon after its beginning, too. */
  #checkAlone(nowMs: number): void {
    const { simulation, nodes, rigs, coordinators, sharesNodes } = this.#parties;
    const { alone, quietSinceMs, endedAlone } = simulation;
    const isPrompt = PROMPT.has(alone?.name ?? endedAlone ?? '');
    const currentMs = isPrompt ? PROMPT_MS : CURRENT_MS;
    const isQuiet = quietSinceMs !== undefined && nowMs - quietSinceMs > (isPrompt ? PROMPT_MS : RECOVERED_MS);
    const isNoticed = alone !== undefined && nowMs - alone.sinceMs > this.#noticedMs(alone.name);
    for (const rig of rigs) this.#note(`${rig.name} is able`, rig.isAble);
    if (!isQuiet && !isNoticed) return;
    const hasNode = ({ config }: SimulatedMember) =>
      nodes.some((node) => config?.node.urls?.includes(node.url) && works(node) && isHonest(node));
    const serving = coordinators.filter((each) => isUp(each) && each.isConnected && hasNode(each));
    const servingSinceMs = Math.min(...serving.map(({ disconnectedMs }) => disconnectedMs));
    const when = isQuiet ? 'although nothing is wrong' : `although it could have noticed that ${alone?.name}`;
    for (const rig of rigs) {
      if (!rig.isAble || !(coordinators.length > 0 ? rig.isConnected && serving.length > 0 : hasNode(rig))) continue;
      // A device or a connection that has just come back needs a moment.
      const ableSinceMs = this.#since.get(`${rig.name} is able`) ?? nowMs;
      const connectedSinceMs = coordinators.length > 0 ? Math.max(rig.disconnectedMs, servingSinceMs) : 0;
      const staleMs = nowMs - Math.max(rig.lastCurrentMs, ableSinceMs, connectedSinceMs);
      if (staleMs > currentMs) simulation.violate(`${rig.name} has no current work for ${seconds(staleMs)}, ${when}`);
      const isGone = sharesNodes && COORDINATOR_GONE.has(alone?.name ?? '');
      if (!isQuiet && !isGone) continue;
      const mostMs = isQuiet ? RECOVERED_MS : PROMPT_MS;
      const waiting = rig.pending.find(
        ({ header, atMs }) =>
          nowMs - Math.max(atMs, connectedSinceMs) > mostMs &&
          (isQuiet || nodes.some((each) => each.wouldAccept(header))),
      );
      if (waiting) simulation.violate(`${rig.name} waits for a verdict for ${seconds(nowMs - waiting.atMs)}, ${when}`);
    }
  }

  /** @returns the time within which members have noticed a fault; +∞ if they cannot */
  #noticedMs(fault: string): number {
    if (UNNOTICED.has(fault)) return Number.POSITIVE_INFINITY;
    return PROMPT.has(fault) ? PROMPT_MS : NOTICED_MS;
  }

  #hasNode(member: SimulatedMember): boolean {
    const urls = member.config?.node.urls ?? [];
    return this.#parties.nodes.some((node) => urls.includes(node.url) && this.#lasts(node));
  }

  #note(condition: unknown, isTrue: boolean): void {
    if (!isTrue) this.#since.delete(condition);
    else if (!this.#since.has(condition)) this.#since.set(condition, this.#parties.simulation.time.nowMs);
  }

  #lasts(condition: unknown): boolean {
    const sinceMs = this.#since.get(condition);
    return sinceMs !== undefined && this.#parties.simulation.time.nowMs - sinceMs >= SETTLED_MS;
  }
}

const works = ({ mode, following, process }: SimulatedNode) =>
  mode === 'fine' && following === 'the network' && !process.isFrozen;
/** Whether a miner can see from the node’s answers, or from a lack of them, what is wrong with it. */
const isHonest = ({ mode, following }: SimulatedNode) =>
  mode !== 'giving stale work' && mode !== 'refusing' && following === 'the network';
const isUp = ({ process }: SimulatedMember) => !process.isDead && !process.isFrozen;
const seconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`;
