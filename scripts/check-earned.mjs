// Mines on a mock node whose network makes trouble, and checks every block and every coin that pickaxe reports.
//
//   node scripts/check-earned.mjs [--minutes 10] [--json]
//
// Other miners' blocks, orphans, reorganisations, transactions with fees, lost answers and lost solutions come every
// few seconds. In the end the chains stand still, and three sums must agree: what `pickaxe blocks` says was earned,
// what `pickaxe balance` reads on all chains, and what the mock node's accounts have. Every block must have the state
// that pickaxe reports. Otherwise the exit code is 1.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { buildCommand } from '#pickaxe/protocol/ledger/command/build.js';
import { gasCapability, transferCreate } from '#pickaxe/protocol/ledger/command/coin.js';
import { commandJson, KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { formatDecimal, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { freshUser } from '../bench/lib/fresh-user.mjs';
import { MockNode } from '../bench/lib/mock-node.mjs';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, json: { type: 'boolean', default: false } },
});
const seconds = 60 * Number(values.minutes);

const NETWORK = 'development';
const MINER_KEY = new KeyPair('11'.repeat(32)).publicKey;
const ACCOUNT = `k:${MINER_KEY}`;
/** Sends the transactions and pays their fees. */
const PAYER = new KeyPair('22'.repeat(32));
const PAYEE = new KeyPair('33'.repeat(32));
/** Difficulty until the hashrate is known, which the slowest kernel solves within seconds. */
const FIRST_DIFFICULTY = 2 ** 20;
const BLOCK_SECONDS = 1;
const RIVAL_MS = 500;
/** Depths of the blocks that reorganisations replace, in turn. The deepest blocks are settled. */
const DEPTHS = [1n, 7n, 2n, 0n];

const node = new MockNode({
  network: NETWORK,
  difficulty: FIRST_DIFFICULTY,
  rivalMs: RIVAL_MS,
  refreshMs: 1_000,
  accounts: [{ account: `k:${PAYER.publicKey}`, balance: '1000.0' }],
});
const { ledger } = node;
const chains = [...ledger.chains.graph.keys()];
const { url } = await node.start();
const user = freshUser();
const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const NODE = ['--node', url, '--network', NETWORK];
const LOG = ['--block-log-folder', join(user.cwd, 'blocks')];

const happened = { reorganisations: 0, transactions: 0, lostSolutions: 0 };
const random = (below) => Math.floor(Math.random() * below);

/** The answer to some solutions is lost; some solutions reach the node only when they are sent again. */
const FAULTS = [
  { endpoint: 'solved', kind: 'lost-answer', probability: 0.1 },
  { endpoint: 'solved', kind: 'drop', probability: 0.05 },
];
/** When each event happens for the first time, and its period from then on, in milliseconds. */
const TROUBLE = [
  [500, 1_000, pay],
  [1_000, 10_000, () => ledger.orphanNext(random(3))],
  [5_000, 15_000, loseASolution],
  [10_000, 60_000, reorganise],
  [60_000, 60_000, () => console.error(`${ledger.stats.accepted} blocks accepted`)],
];

function reorganise() {
  const chain = random(chains.length);
  const blocks = ledger.chains.blocksOf(chain);
  const height = ledger.chains.heightOf(chain) - DEPTHS[happened.reorganisations % DEPTHS.length];
  // The lowest block has no parent that another one could be built on.
  if (height > blocks.lowest) ledger.reorganise(blocks.canonical(height));
  happened.reorganisations++;
}

/** Sends a transaction whose fee uses all twelve decimal places. */
function pay() {
  const chain = random(chains.length);
  const parties = { sender: `k:${PAYER.publicKey}`, receiver: `k:${PAYEE.publicKey}` };
  const guard = { keys: [PAYEE.publicKey], pred: 'keys-all' };
  const call = transferCreate({ module: 'coin', ...parties, guard, amount: parseDecimal('0.01') });
  const command = buildCommand(
    {
      networkId: NETWORK,
      payload: call.message,
      signers: [{ pubKey: PAYER.publicKey, clist: [gasCapability('coin'), ...call.capabilities] }],
      meta: {
        chainId: `${chain}`,
        sender: parties.sender,
        gasLimit: 1_000,
        gasPrice: parseDecimal(`0.00000${1_000_001 + 2 * random(1_000)}`),
        ttl: 28_800,
        creationTime: Math.floor(Date.now() / 1000) - 15,
      },
      nonce: `${happened.transactions++}`,
    },
    [PAYER],
  );
  node.commands.send(chain, [parseExactJson(commandJson(command))]);
}

/** Loses a solution on its way to the node. When it is sent again, the node answers that it does not know the work. */
function loseASolution() {
  // On a slow machine, the first solution may not have come yet, whose answer is to be lost.
  if (ledger.stats.accepted === 0) return;
  node.server.faults = [
    { endpoint: 'solved', kind: 'drop', times: 1 },
    { endpoint: 'solved', kind: 'status', status: 404, text: 'No associated Payload', times: 1 },
    ...FAULTS,
  ];
  happened.lostSolutions++;
}

/** @returns a function that ends the trouble */
function makeTrouble() {
  const timers = TROUBLE.map(([firstMs, everyMs, make]) => {
    const begin = () => {
      timers.push(setInterval(make, everyMs));
      make();
    };
    return setTimeout(begin, firstMs);
  });
  return () => timers.forEach(clearTimeout);
}

async function mine() {
  const limits = ['--devices', 'cpu', '--threads', '1', '--duration', `${seconds}`];
  const args = ['mine', ...NODE, ...LOG, '--public-key', MINER_KEY, ...limits, '--json', '--log-level', 'fatal'];
  const miner = spawn(process.execPath, [cli, ...args], { ...user, stdio: ['ignore', 'pipe', 'inherit'] });
  // However short the run is, the first block is orphaned, and its answer is lost.
  node.server.faults = [{ endpoint: 'solved', kind: 'lost-answer', times: 1 }, ...FAULTS];
  ledger.orphanNext(0);
  const endTrouble = makeTrouble();
  let summary;
  createInterface({ input: miner.stdout }).on('line', (line) => {
    const event = JSON.parse(line);
    if (event.type === 'summary') summary = event;
    if (event.type === 'hashrate' && event.hashesPerSecond > 0) {
      ledger.difficulty = event.hashesPerSecond * BLOCK_SECONDS;
    }
  });
  const [code] = await once(miner, 'close');
  endTrouble();
  if (code !== 0) throw new Error(`the miner ended with exit code ${code}`);
  return summary;
}

/**
 * Gives each chain two more blocks and no further ones, so that the fate of every block of the miner shows: one block
 * for the height of a solution that was lost on its way to the head, and one on top of it.
 */
function standStill() {
  ledger.standsStill = true;
  node.server.faults = [];
  for (const chain of [...chains, ...chains]) ledger.advance(chain);
}

async function asked(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args, '--json'], user);
  return JSON.parse(stdout);
}

const summary = await mine();
standStill();
const { blocks, totals } = await asked('blocks', ...NODE, ...LOG, '--refresh');
const { total: balance } = await asked('balance', ACCOUNT, ...NODE);
await node.close();

const sum = (amounts) => amounts.reduce((total, each) => total + each, 0n);
const onMock = sum(chains.map((chain) => ledger.chains.tip(chain).payload.state.account(ACCOUNT)?.balance ?? 0n));
const inStates = (...states) => blocks.filter(({ state }) => states.includes(state));
const [won, off, lost] = [inStates('won', 'settled'), inStates('orphaned', 'never-entered'), inStates('lost')];
const fees = sum(won.map((block) => parseDecimal(block.fees ?? '0')));
const earned = sum(won.map((block) => parseDecimal(block.reward ?? '0'))) + fees;
const unanswered = blocks.filter(({ isAnswered }) => !isAnswered);
const found = unanswered.filter(({ state }) => state !== 'lost');
const keeps = ({ chain, blockHash }) => ledger.chains.blocksOf(chain).get(blockHash) !== undefined;
const isOn = ({ chain, blockHash }) => ledger.chains.isCanonical(chain, blockHash);
const isBeside = (block) => keeps(block) && !isOn(block);

const { accepted, orphaned, pending } = totals;
const result = {
  minutes: Number(values.minutes),
  verdicts: { accepted: summary.accepted, unknown: summary.unknown, stale: summary.stale, rejected: summary.rejected },
  blocks: { accepted, won: totals.won, settled: totals.settled, orphaned, pending, lost: totals.lost },
  answersLost: { unanswered: unanswered.length, found: found.length, lost: lost.length },
  onMockNode: { accepted: ledger.stats.accepted, rivalBlocks: ledger.stats.rivalBlocks, ...happened },
  coins: { earned: totals.earned, ofTheseFees: formatDecimal(fees), balance, onMockNode: formatDecimal(onMock) },
};
console.log(values.json ? JSON.stringify(result) : result);

/** Figures that must agree. */
const faults = [
  ['accepted and won + orphaned + pending', accepted, totals.won + orphaned + pending],
  ['accepted blocks of the log and of the mock node', accepted, ledger.stats.accepted],
  ['accepted blocks and accepting verdicts with answers found later', accepted, summary.accepted + found.length],
  ['unknown verdicts and blocks without an answer', summary.unknown, unanswered.length],
  ['undecided blocks in the end and none', pending + totals.unanswered, 0],
  ['won blocks and those of them that are on the mock node’s chains', totals.won, won.filter(isOn).length],
  ['orphaned blocks and those of them that are beside the chains', orphaned, off.filter(isBeside).length],
  ['lost blocks that the mock node has and none', lost.filter(keeps).length, 0],
  ['unproven rewards and none', totals.unproven, 0],
  ['earned coins and the sum of the blocks', totals.earned, formatDecimal(earned)],
  ['earned coins and the balance', totals.earned, balance],
  ['the balance and what the mock node’s accounts have', balance, formatDecimal(onMock)],
  ['rejected blocks and none', summary.rejected, 0],
].flatMap(([what, one, other]) => (one === other ? [] : [`${what} differ: ${one} and ${other}`]));
// A run that lacks any of these would prove less than it reports.
for (const [what, count] of Object.entries({ won: won.length, orphaned: off.length, lostAnswers: found.length })) {
  if (count === 0) faults.push(`no block was of this kind: ${what}`);
}
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exit(faults.length === 0 ? 0 : 1);
