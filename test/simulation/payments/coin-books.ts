/**
 * Keeps account of all coins and commands of the world of payments, and compares what the state files claim with what
 * has really happened on the nodes' chains.
 */

import { FINISHER_ACCOUNT } from '#pickaxe/mock-node/commands/transfer-finisher.js';
import { GAS_STATION } from '#pickaxe/mock-node/execution/genesis.js';
import { parseSweep, type Sweep, type Transfer } from '#pickaxe/node/sweep/sweep-state.js';
import { type Command, verifyCommand } from '#pickaxe/protocol/ledger/command/command.js';
import { type Payload, parsePayload, publicMetaOf } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { type Decimal, formatDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import type { Simulation } from '../simulation.ts';
import { START_MS } from '../virtual-time.ts';
import { type Asked, CHAINS, type LedgerNode } from './ledger-node.ts';
import { accountOf, type Job, KEEP, type Payer } from './payer.ts';

/** A command that a payer, or somebody else, has sent. */
interface Known {
  readonly hash: string;
  readonly chain: number;
  readonly job: Job | undefined;
  /** For a step 1: the request key of its step 0. */
  readonly of: string | undefined;
}

/** A transfer of a plan that a state file has had. */
interface Planned {
  readonly job: Job;
  readonly chain: number;
  readonly targetChain: number;
  readonly amount: Decimal;
  /** Request keys of all commands for step 0 that were sent. There may be one only. */
  readonly step0: Set<string>;
  outcome: string | undefined;
}

/** Time from the signing of a command until it has surely expired: its time to live, a margin, and some blocks. */
const LONGEST_MS = 50 * 60_000;

/** Least number of blocks above one that counts as final: six, but a chain may since have become shorter by one. */
const LEAST_DEPTH = 5n;
/** The most commands for step 1 in one run (docs/coins.md). */
const MOST_STEP1 = 3;

type Status = 'success' | 'failure';

export interface BooksOptions {
  readonly simulation: Simulation;
  readonly nodes: readonly LedgerNode[];
  readonly payers: readonly Payer[];
  readonly jobs: readonly Job[];
  readonly miners: readonly string[];
  /** Whether no node has lied lately, so that plans follow from what is true. */
  readonly isHonest: () => boolean;
}

export class CoinBooks {
  readonly #options: BooksOptions;
  readonly #accounts: readonly string[];
  readonly #total: Decimal;
  readonly #known = new Map<string, Known>();
  /** By account, time of the plan, and chain. */
  readonly #planned = new Map<string, Planned>();
  /** By request key of step 0. */
  readonly #byStep0 = new Map<string, Planned>();
  /** By request key of step 0: those of all steps 1. */
  readonly #steps1 = new Map<string, Set<string>>();
  /** By id of a block: what became of its commands. */
  readonly #blocks = new Map<string, ReadonlyMap<string, Status>>();
  /** By payer, run and request key of step 0: the number of commands for step 1. */
  readonly #steps1Made = new Map<string, number>();
  readonly #wrongly = new Set<Planned>();
  readonly #seen = new Map<object, number>();
  /** Commands that were reported as failed, which may never succeed afterwards. */
  readonly #failed = new Set<string>();

  constructor(options: BooksOptions) {
    this.#options = options;
    const { jobs, miners, nodes } = options;
    const own = jobs.flatMap((job) => [accountOf(job), ...(job.to === undefined ? [] : [job.to])]);
    this.#accounts = [...new Set([...own, ...miners, FINISHER_ACCOUNT, GAS_STATION])];
    this.#total = this.totalOf(nodes[0]);
  }

  /** Number of transfers that were reported wrongly, or paid twice. */
  get wrong(): number {
    return this.#wrongly.size;
  }

  get planned(): readonly Planned[] {
    return [...this.#planned.values()];
  }

  /** The node with the heaviest cut. What it has is the truth. */
  get best(): LedgerNode {
    return this.#options.nodes.reduce((a, b) => (b.weight > a.weight ? b : a));
  }

  balance(node: LedgerNode, chain: number, account: string): Decimal {
    return node.ledger.chains.tip(chain).payload.state.account(account)?.balance ?? 0n;
  }

  totalOf(node: LedgerNode): Decimal {
    let sum = 0n;
    for (let chain = 0; chain < CHAINS; chain++) {
      for (const account of this.#accounts) sum += this.balance(node, chain, account);
    }
    return sum;
  }

  /** Judges a request of a payer before the node does anything. */
  asked({ name }: LedgerNode, { path, body, client }: Asked): void {
    const { simulation, payers } = this.#options;
    const payer = payers.find((each) => each.name === client);
    const endpoint = /\/chain\/(\d+)\/\w+\/api\/v1\/(local|send)/.exec(path);
    if (!endpoint || !payer) return;
    const [, chain, what] = endpoint;
    if (what === 'local') {
      if (JSON.parse(body.toString()).sigs.length > 0)
        simulation.violate(`${client} has signed what it only tries out`);
      return;
    }
    for (const command of JSON.parse(body.toString()).cmds as Command[]) {
      this.#sent(payer, Number(chain), command);
      simulation.note(`${name} gets ${command.hash.slice(0, 8)} for chain ${chain}`);
    }
  }

  /** Somebody who is not a payer finishes a transfer. */
  finishes(chain: number, hash: string, step0: string): void {
    this.#known.set(hash, { hash, chain, job: undefined, of: step0 });
    this.#addStep1(step0, hash);
  }

  /** Request keys of the transfers whose coins are on no chain, by the word of a node's chains. */
  onTheWay(node: LedgerNode): Planned[] {
    return [...this.#byStep0].flatMap(([key, planned]) => (this.#isOnTheWay(node, key, planned) ? [planned] : []));
  }

  /** Checks what must be true after each event, as far as there is news. */
  check(): void {
    for (const node of this.#options.nodes) if (this.#isNews(node, node.changes)) this.#checkChains(node);
    for (const payer of this.#options.payers) {
      if (this.#isNews(payer.files, payer.files.changes)) this.#checkFiles(payer);
    }
  }

  /** Checks that all coins are where they should be. */
  checkSettled(): void {
    const { simulation, payers, jobs } = this.#options;
    const { best } = this;
    for (const { job, chain, amount } of this.onTheWay(best)) {
      simulation.violate(`${formatDecimal(amount)} of ${job.name} from chain ${chain} has not arrived`);
    }
    for (const payer of payers) {
      for (const name of payer.begun) {
        const job = jobs.find((each) => each.name === name)!;
        if (!payer.done.has(name) && payer.job === job && !this.#isWaiting(payer, job)) {
          simulation.violate(`${name} is not finished`);
        }
        const isPaying = payer.job === job && this.#isWaiting(payer, job);
        if (job.kind === 'transfer') this.#checkPaid(best, job, payer.done.has(name), isPaying);
      }
    }
  }

  /** Whether a command of the payment may still enter a block, by the clock with which it was signed. */
  #isWaiting(payer: Payer, job: Job): boolean {
    const nowMs = START_MS + this.#options.simulation.time.nowMs;
    return sweepsOf(payer).some(({ account, transfers }) => {
      if (account !== accountOf(job)) return false;
      return transfers.some(({ outcome, signedMs }) => outcome === null && nowMs < (signedMs ?? 0) + LONGEST_MS);
    });
  }

  /** @param isPaying whether a command of the payment may be in a block already, or not yet */
  #checkPaid(node: LedgerNode, job: Job, isDone: boolean, isPaying: boolean): void {
    const balance = this.balance(node, job.toChain, job.to!);
    const due = isDone ? job.amount! : 0n;
    if (balance !== due && !(isPaying && balance === job.amount)) {
      this.#options.simulation.violate(
        `the receiver of ${job.name} has ${formatDecimal(balance)} and not ${formatDecimal(due)}`,
      );
    }
  }

  #isNews(of: object, changes: number): boolean {
    const isNew = this.#seen.get(of) !== changes;
    this.#seen.set(of, changes);
    return isNew;
  }

  /* Commands. */

  #sent(payer: Payer, chain: number, command: Command): void {
    const { simulation } = this.#options;
    const { hash } = command;
    if (!payer.files.keeps(hash)) {
      simulation.violate(`${payer.name} sends ${hash}, which is not on its disk`);
    }
    if (this.#known.has(hash)) return;
    const wrong = (why: string) => simulation.violate(`${payer.name} has signed ${why}: ${command.cmd}`);
    if (verifyCommand(command).kind !== 'valid') wrong('wrongly');
    const read = parsePayload(command.cmd);
    const payload = { ...read, meta: publicMetaOf(read.meta) };
    const isStep1 = 'cont' in payload.payload;
    const planned = isStep1 ? this.#byStep0.get(pactIdOf(payload)) : this.#ofCommand(payer, hash);
    if (!planned) {
      wrong('what is in no plan');
      return;
    }
    this.#known.set(hash, { hash, chain, job: planned.job, of: isStep1 ? pactIdOf(payload) : undefined });
    const fault = faultOf(payload, chain, planned);
    if (fault !== undefined) wrong(fault);
    if (isStep1) {
      this.#addStep1(pactIdOf(payload), hash);
      const run = `${payer.name} ${payer.runs} ${pactIdOf(payload)}`;
      const made = (this.#steps1Made.get(run) ?? 0) + 1;
      this.#steps1Made.set(run, made);
      if (made > MOST_STEP1) wrong(`${made} commands for step 1 in one run`);
      return;
    }
    planned.step0.add(hash);
    this.#byStep0.set(hash, planned);
    if (planned.step0.size > 1) wrong('a second step 0 for one plan');
  }

  /** The transfer whose step 0 has this hash, as the payer's files say. */
  #ofCommand(payer: Payer, hash: string): Planned | undefined {
    for (const sweep of sweepsOf(payer)) {
      const transfer = sweep.transfers.find(({ step0 }) => step0?.hash === hash);
      if (transfer) return this.#plan(sweep, transfer);
    }
    return undefined;
  }

  #addStep1(step0: string, hash: string): void {
    const steps = this.#steps1.get(step0) ?? new Set();
    this.#steps1.set(step0, steps.add(hash));
  }

  /* State files. */

  #checkFiles(payer: Payer): void {
    for (const sweep of sweepsOf(payer)) {
      for (const transfer of sweep.transfers) this.#checkTransfer(payer, sweep, transfer);
    }
  }

  #checkTransfer(payer: Payer, sweep: Sweep, transfer: Transfer): void {
    const { simulation } = this.#options;
    const planned = this.#plan(sweep, transfer);
    if (!planned) {
      simulation.violate(`${payer.name} has a plan that nobody wants: ${sweep.account}`);
      return;
    }
    const { outcome, chain, step0 } = transfer;
    if (outcome === null || planned.outcome === outcome.state) return;
    const what = `${planned.job.name} from chain ${chain}`;
    if (planned.outcome !== undefined) simulation.violate(`${what} was ${planned.outcome}, and is ${outcome.state}`);
    planned.outcome = outcome.state;
    simulation.note(`${what} is ${outcome.state} by ${outcome.provenBy}`);
    const { best } = this;
    const truth = step0 ? this.#truth(best, step0.hash, planned) : 'not sent';
    if (outcome.state === 'done' && truth !== 'arrived') this.#wrong(planned, `${what} is done, but really ${truth}`);
    if (step0 && !this.#isFinal(step0, outcome.state, planned)) {
      this.#wrong(planned, `${what} is ${outcome.state} too early`);
    }
    if (outcome.state === 'failed') {
      if (truth === 'arrived' || truth === 'on its way')
        this.#wrong(planned, `${what} has failed, but is really ${truth}`);
      if (step0) this.#failed.add(step0.hash);
    }
  }

  /** Whether no block can change an outcome any more: its block is deep enough, or the command has expired. */
  #isFinal(step0: Command, state: string, { chain, targetChain }: Planned): boolean {
    const steps1 = [...(this.#steps1.get(step0.hash) ?? [])];
    const [on, keys] = state === 'done' && chain !== targetChain ? [targetChain, steps1] : [chain, [step0.hash]];
    const isDeep = this.#options.nodes.some(({ ledger }) => {
      const { header, payload } = ledger.chains.tip(on);
      return keys.some((key) => header.height - (payload.state.heightOf(key) ?? header.height) >= LEAST_DEPTH);
    });
    if (isDeep || state === 'done') return isDeep;
    const { creationTime, ttl } = publicMetaOf(parsePayload(step0.cmd).meta);
    return this.best.ledger.chains.tip(chain).header.creationTimeUs >= BigInt(creationTime + ttl) * 1_000_000n;
  }

  #wrong(planned: Planned, what: string): void {
    this.#wrongly.add(planned);
    this.#options.simulation.violate(what);
  }

  #plan(sweep: Sweep, { chain, amount }: Transfer): Planned | undefined {
    const key = `${sweep.account} ${sweep.startedMs} ${chain}`;
    const known = this.#planned.get(key);
    if (known) return known;
    const job = this.#options.jobs.find((each) => {
      const isIts = accountOf(each) === sweep.account && each.toChain === sweep.targetChain;
      if (!isIts || (each.gasStation ?? null) !== sweep.gasStation) return false;
      if (each.kind === 'sweep') return sweep.receiver === null;
      return each.to === sweep.receiver?.account && each.amount === amount && each.chain === chain;
    });
    if (!job) return undefined;
    const planned: Planned = { job, chain, targetChain: job.toChain, amount, step0: new Set(), outcome: undefined };
    this.#planned.set(key, planned);
    const balance = this.balance(this.best, chain, sweep.account);
    if (job.kind === 'sweep' && this.#options.isHonest() && amount > balance - KEEP) {
      this.#options.simulation.violate(`${job.name} would move ${formatDecimal(amount)} of ${formatDecimal(balance)}`);
    }
    return planned;
  }

  /* The chains. */

  #checkChains(node: LedgerNode): void {
    const { simulation } = this.#options;
    let between = 0n;
    const paid = new Map<Job, Planned>();
    for (const [key, planned] of this.#byStep0) {
      const truth = this.#truth(node, key, planned);
      if (truth === 'on its way') between += planned.amount;
      if (truth !== 'arrived' && truth !== 'on its way') continue;
      if (this.#failed.has(key))
        this.#wrong(planned, `${planned.job.name} has failed, and is ${truth} on ${node.name}`);
      if (planned.job.kind !== 'transfer') continue;
      if (paid.has(planned.job)) this.#wrong(planned, `${planned.job.name} is paid twice on ${node.name}`);
      paid.set(planned.job, planned);
    }
    const total = this.totalOf(node) + between;
    if (total !== this.#total) {
      simulation.violate(`the coins on ${node.name} are ${formatDecimal(total)}, not ${formatDecimal(this.#total)}`);
    }
  }

  #truth(node: LedgerNode, step0: string, { chain, targetChain }: Planned) {
    const status = this.#statusOn(node, chain, step0);
    if (status !== 'success') return status === 'failure' ? 'failed in a block' : 'in no block';
    return chain !== targetChain && this.#isOnTheWay(node, step0, { chain, targetChain }) ? 'on its way' : 'arrived';
  }

  #isOnTheWay(
    node: LedgerNode,
    step0: string,
    { chain, targetChain }: Pick<Planned, 'chain' | 'targetChain'>,
  ): boolean {
    if (chain === targetChain || this.#statusOn(node, chain, step0) !== 'success') return false;
    const steps = [...(this.#steps1.get(step0) ?? [])];
    const arrived = steps.filter((key) => this.#statusOn(node, targetChain, key) === 'success').length;
    if (arrived > 1) this.#options.simulation.violate(`${step0} has arrived ${arrived} times`);
    return arrived === 0;
  }

  /** What became of a command on a node's chain; undefined if no block has it. */
  #statusOn(node: LedgerNode, chain: number, key: string): Status | undefined {
    const store = node.ledger.chains.blocksOf(chain);
    const height = store.tip.payload.state.heightOf(key);
    const block = height === undefined ? undefined : store.canonical(height);
    if (!block) return undefined;
    let commands = this.#blocks.get(block.id);
    if (!commands) {
      const outputs = block.payload.outputs.map((output) => JSON.parse(Buffer.from(output).toString()));
      commands = new Map(outputs.map(({ reqKey, result }) => [reqKey, result.status]));
      this.#blocks.set(block.id, commands);
      for (const hash of commands.keys()) {
        if (!this.#known.has(hash))
          this.#options.simulation.violate(`block ${block.id} has ${hash}, which nobody sent`);
      }
    }
    return commands.get(key);
  }
}

function sweepsOf(payer: Payer): Sweep[] {
  return [...payer.files.texts()].flatMap(([path, text]) => {
    if (!/^\/state\/(transfer|sweep)-.*\.json$/.test(path)) return [];
    const known = parsed.get(payer);
    if (known?.text === text && known.path === path) return [known.sweep];
    const sweep = parseSweep(text);
    parsed.set(payer, { path, text, sweep });
    return [sweep];
  });
}

/** The state file of each payer that was parsed last: most are parsed several times, with many signatures. */
const parsed = new WeakMap<Payer, { readonly path: string; readonly text: string; readonly sweep: Sweep }>();

const pactIdOf = ({ payload }: Payload) => ('cont' in payload ? payload.cont.pactId : '');

/** Why a command is not what the plan asks for; undefined if it is. */
function faultOf(
  payload: Payload,
  chain: number,
  { job, chain: from, targetChain, amount }: Planned,
): string | undefined {
  const { networkId, signers, payload: message, meta } = payload;
  const account = accountOf(job);
  const isStep1 = 'cont' in message;
  const payer = isStep1 && job.gasStation !== undefined ? job.gasStation : account;
  if (networkId !== 'testnet04' || meta.chainId !== `${chain}`) return 'for another network or chain';
  if (chain !== (isStep1 ? targetChain : from)) return 'for another chain than planned';
  if (meta.sender !== payer) return 'with another payer of gas';
  if (meta.gasPrice !== 10_000n || meta.gasLimit > 2_500 || meta.ttl !== 1_800) return 'with other terms';
  const allowed = new Set(signers.flatMap(({ clist = [] }) => clist.map(({ name, args }) => `${name} ${text(args)}`)));
  const keys = signers.map(({ pubKey }) => pubKey).join();
  if (keys !== (isStep1 && payer !== account ? '' : job.pair.publicKey)) return 'with other keys';
  const to = job.to ?? account;
  if (isStep1) {
    const { step, rollback } = message.cont;
    if (step !== 1 || rollback) return 'another step';
    return [...allowed].some((each) => each !== 'coin.GAS []') ? 'more than gas' : undefined;
  }
  const coins = `{"decimal":"${formatDecimal(amount)}"}`;
  const isFar = chain !== targetChain;
  const moving = isFar
    ? `coin.TRANSFER_XCHAIN ["${account}","${to}",${coins},"${targetChain}"]`
    : `coin.TRANSFER ["${account}","${to}",${coins}]`;
  if ([...allowed].sort().join() !== ['coin.GAS []', moving].sort().join()) return `other rights (${[...allowed]})`;
  const call = message.exec.code;
  const isCall = call.includes(`"${account}" "${to}"`) && call.includes(` ${formatDecimal(amount)})`);
  if (!isCall) return 'other code';
  if (isFar !== call.startsWith('(coin.transfer-crosschain')) return 'another call';
  const guard = text(message.exec.data ?? {});
  if (!guard.includes(to.slice(2)) && guard !== '{}') return `for another guard (${guard})`;
  return undefined;
}

const text = (value: unknown) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each));
