/** `pickaxe tx`: builds, signs, explains and sends transactions of the ledger. */

import { type Command, type CommandOptions, Option } from 'commander';
import type { NodesInTurn } from '../../../app/nodes/nodes-in-turn.ts';
import { userStateDirectory } from '../../../base/system/files.ts';
import type { Io, Line } from '../../io.ts';
import { onNodes, sayNodes } from '../../ledger/on-nodes.ts';
import { asGiven, chainNumber, collect, settingsOf, timeOf, wholeNumber, withSettings } from '../../usage/options.ts';
import { knownWork, TRUST_NODES } from '../sweep/coin-session.ts';
import { declareTransfer } from '../sweep/transfer.ts';
import { runTxBuild } from './build.ts';
import { checkSubject, runTxLocalCode } from './code.ts';
import { withWords } from './command-files.ts';
import { type Prove, proverOf } from './outcomes.ts';
import { runTxLocal, runTxPoll, runTxSpv } from './poll.ts';
import { runTxPrivate, runTxSend } from './send.ts';
import { runTxShow } from './show.ts';
import { runTxAddSig, runTxCombine, runTxSign } from './sign.ts';

/** Time for which `poll` and `spv` wait by default, in seconds. */
const DEFAULT_TIMEOUT = 600;
/** Pause between two requests for results. A chain has about two blocks a minute. */
const POLL_PAUSE_MS = 5_000;
/** Pause between two requests for a proof, which takes several blocks. */
const PROOF_PAUSE_MS = 30_000;

export function declare(tx: Command, line: Line): void {
  tx.helpCommand(false).addHelpText('after', EXAMPLES);
  declareTransfer(tx, line);
  declareOffline(tx, line);
  declareOnNodes(tx, line);
}

function declareOffline(tx: Command, { io, action }: Line): void {
  tx.command('build')
    .description('make a command of a request file, as the contract tool does')
    .argument('<request>', 'the request file (YAML); where it has secret keys, only you may be able to read it')
    .option('-a, --signed', 'a command, signed by the keyPairs of the request, for /send (the default)')
    .addOption(
      new Option('-u, --unsigned', 'a form, which the signers of the request sign later')
        .default(false)
        .conflicts(['signed', 'local']),
    )
    .option('-l, --local', 'the bare command, for /local', false)
    .option(
      '--allow-file <path>',
      'a file outside of the request’s folder that the request may read, or a folder of them; repeat for several',
      collect,
    )
    .action(action((request, options) => withWords(() => runTxBuild(request, options, io))));

  tx.command('sign')
    .description('sign a hash or a form with key files, and print the signatures alone')
    .argument(
      '<what>',
      'a hash of 43 characters, or the file of a form, condensed or whole; - is standard input',
      asGiven,
    )
    .argument('<key-file...>', 'key files, as pickaxe keygen or the contract tool makes them')
    .option('-y, --yes', DO_NOT_ASK_TO_SIGN, false)
    .action(action((what, keyFiles, options) => withWords(() => runTxSign(what, keyFiles, options, io))));

  tx.command('add-sig')
    .description('add signatures to a form: those of key files, or those that tx sign has printed')
    .argument('<form>', 'the file of the form; - is standard input')
    .argument('<file...>', 'key files, and files of signatures')
    .option('-l, --local', 'a complete command is for /local', false)
    .option('-y, --yes', DO_NOT_ASK_TO_SIGN, false)
    .action(action((form, files, options) => withWords(() => runTxAddSig(form, files, options, io))));

  tx.command('combine')
    .description('put the signatures in copies of a form together')
    .argument('<form...>', 'files of the copies, at least one of them whole; - is standard input')
    .option('-l, --local', 'a complete command is for /local', false)
    .action(action((files, options) => withWords(() => runTxCombine(files, options, io))));

  tx.command('show')
    .description('explain a command or a form: who signs what, what it may cost, until when it is valid')
    .argument('<file>', 'the file of a command or of a form; - is standard input')
    .option('--json', 'one JSON object on stdout', false)
    .action(action((file, options) => withWords(() => runTxShow(file, options, io))));
}

type Ask = (nodes: NodesInTurn, prove: Prove) => Promise<number>;

async function askNodes(command: Command, io: Io, ask: Ask, movesCoins = false): Promise<number> {
  const loaded = await settingsOf(command, undefined, { movesCoins });
  sayNodes(loaded, io, movesCoins);
  const { trustNodes = false } = command.opts<{ trustNodes?: boolean }>();
  const prove = proverOf(() => knownWork(loaded, userStateDirectory(), trustNodes, io), trustNodes);
  return withWords(() => onNodes(loaded.config, io, (nodes) => ask(nodes, prove)));
}

/** Like `askNodes`, but for signed commands, which are sent only to nodes that the user has chosen. */
function sendToNodes(command: Command, io: Io, ask: Ask): Promise<number> {
  return askNodes(command, io, ask, true);
}

function declareOnNodes(tx: Command, line: Line): void {
  const { io, action } = line;
  onNode(tx, 'local')
    .description('let a node run a command without effect, and print what comes of it')
    .argument('[file]', 'the file of a command; with --no-signature-verification also of a form; - is standard input')
    .option('--code <code>', 'code to run instead of a file, like (+ 1 2): without a signer, at the chain --chain')
    .option('--data <json>', 'what that code reads, as a JSON object')
    .option('--preflight', 'check the metadata, too, and count all gas, as if it were sent', false)
    .option('--rewind-depth <n>', 'run it as of so many blocks ago', wholeNumber)
    .option('--no-signature-verification', 'do not check its signatures')
    .action(
      action(async (file, { chain = null, code, data, ...options }, command) => {
        checkSubject(file, { ...options, code, data });
        const run = (nodes: NodesInTurn) =>
          code === undefined
            ? runTxLocal(file, { ...options, chain }, nodes, io)
            : runTxLocalCode({ ...options, chain, code, data: data ?? null }, nodes, io);
        return await askNodes(command, io, run);
      }),
    );

  onNode(tx, 'send')
    .description('send commands as they are; sending the same file again does no harm')
    .argument('<file>', 'the file of the commands; - is standard input')
    .option('-y, --yes', 'do not ask, at a terminal, whether to send', false)
    .option('--trust-nodes', TRUST_NODES, false)
    .action(
      action((file, options, command) =>
        sendToNodes(command, io, (nodes, prove) =>
          runTxSend(file, { ...options, chain: options.chain ?? null, prove }, nodes, io),
        ),
      ),
    );

  declarePoll(tx, 'poll', line);
  // The API of nodes has `poll` and `listen`, so people may look for both names.
  declarePoll(tx, 'listen', line, { hidden: true });

  onNode(tx, 'private', { hidden: true })
    .description('send a private command, which only some servers take; it is never sent twice')
    .argument('<file>', 'the file of the command; - is standard input')
    .action(
      action((file, options, command) =>
        sendToNodes(command, io, (nodes) =>
          runTxPrivate(file, { ...options, chain: options.chain ?? null }, nodes, io),
        ),
      ),
    );

  waiting(onNode(tx, 'spv'))
    .description('print the proof with which another chain takes the next step of a command; wait until there is one')
    .argument('<what>', WHAT, asGiven)
    .requiredOption('--target-chain <n>', 'the chain on which the next step runs', chainNumber)
    .option('--once', 'ask once, and do not wait', false)
    .action(
      action((what, options, command) =>
        askNodes(command, io, (nodes) => runTxSpv(what, { ...options, ...waitOf(options, PROOF_PAUSE_MS) }, nodes, io)),
      ),
    );
}

function declarePoll(tx: Command, name: string, { io, action }: Line, shown: CommandOptions = {}): void {
  waiting(onNode(tx, name, shown))
    .description('print what has become of commands, and wait until they are in blocks')
    .argument('<what>', WHAT, asGiven)
    .option('--confirmation-depth <n>', 'wait until so many blocks are above that of the command', wholeNumber, 0)
    .option('--once', 'ask once, and do not wait', false)
    .option('--trust-nodes', TRUST_NODES, false)
    .action(
      action((what, options, command) =>
        askNodes(command, io, (nodes, prove) =>
          runTxPoll(what, { ...options, ...waitOf(options, POLL_PAUSE_MS), prove }, nodes, io),
        ),
      ),
    );
}

const DO_NOT_ASK_TO_SIGN = 'do not ask, at a terminal, whether to sign, and sign also what pickaxe does not know';
const WHAT = 'a request key of 43 characters, or the file of commands; - is standard input';

function onNode(tx: Command, name: string, options: CommandOptions = {}): Command {
  return withSettings(tx.command(name, options), 'node', 'ledger')
    .option('--chain <n>', 'the chain, where the command does not name it', chainNumber)
    .option('--json', 'one JSON object on stdout', false);
}

function waiting(command: Command): Command {
  return command.option('--timeout <time>', 'how long to wait: seconds, or a time like 90m', timeOf, DEFAULT_TIMEOUT);
}

/** @param pauseMs pause between two requests */
function waitOf({ chain, timeout }: { chain?: number; timeout: number }, pauseMs: number) {
  return { chain: chain ?? null, timeoutMs: timeout * 1000, pauseMs };
}

const EXAMPLES = `
Examples:
  # pay somebody: the plan, a question, and waiting until it is done
  pickaxe tx transfer --to k:KEY --amount 0.5 --chain 0 --key-file my-key.json --node http://10.0.0.2:1848
  # a form, signed on another machine, and made a command
  pickaxe tx build transfer.yaml --unsigned > transfer.form.yaml
  pickaxe tx sign transfer.form.yaml my-key.json > transfer.sig.yaml
  pickaxe tx add-sig transfer.form.yaml transfer.sig.yaml > transfer.json
  # what it does, and what is wrong with it
  pickaxe tx show transfer.json
  # on a node: try it, send it, and wait until it is in a block with three blocks above
  pickaxe tx local transfer.json --preflight --node http://10.0.0.2:1848
  pickaxe tx send transfer.json --node http://10.0.0.2:1848
  pickaxe tx poll transfer.json --confirmation-depth 3 --node http://10.0.0.2:1848

docs/coins.md has all steps.`;
