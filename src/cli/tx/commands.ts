/** The commands of `pickaxe tx`. */

import { type Command, type CommandOptions, Option } from 'commander';
import { exit } from '../../app/exit.ts';
import type { NodesInTurn } from '../../app/nodes-in-turn.ts';
import { TX_EXAMPLES } from '../help.ts';
import { asGiven, chainNumber, collect, settingsOf, timeOf, wholeNumber, withSettings } from '../options.ts';
import { addTransferCommand } from '../sweep/commands.ts';
import type { Io } from './io.ts';

/** How long `poll` and `spv` wait, in seconds. */
const DEFAULT_TIMEOUT = 600;
/** The pauses between two questions: blocks come twice a minute, and proofs more rarely. */
const POLL_PAUSE_MS = 5_000;
const PROOF_PAUSE_MS = 30_000;

/** Runs a command, and ends the process with its exit code. What is wrong with a file is wrong usage. */
async function run(command: (io: Io) => Promise<number> | number): Promise<void> {
  const [{ processIo }, { withWords }] = await Promise.all([import('./io.ts'), import('./io.ts')]);
  const io = processIo();
  exit(await withWords(() => command(io)));
}

/** Runs a command that asks the nodes of its settings. */
async function runOnNodes(command: Command, ask: (nodes: NodesInTurn, io: Io) => Promise<number>): Promise<void> {
  const { config } = await settingsOf(command);
  const { onNodes } = await import('../on-nodes.ts');
  await run((io) => onNodes(config, io, (nodes) => ask(nodes, io)));
}

export function addTxCommands(program: Command): void {
  const tx = program
    .command('tx')
    .description('build, sign, explain and send transactions of the ledger')
    .helpCommand(false)
    .addHelpText('after', TX_EXAMPLES);
  addTransferCommand(tx);
  addOfflineCommands(tx);
  addNodeCommands(tx);
}

function addOfflineCommands(tx: Command): void {
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
      '--allow-file <file>',
      'a file outside of the request’s folder that the request may read; repeat for several',
      collect,
    )
    .action(async (request, options) => {
      const { runTxBuild } = await import('./build.ts');
      await run((io) => runTxBuild(request, options, io));
    });

  tx.command('sign')
    .description('sign a hash or a form with key files, and print the signatures alone')
    .argument(
      '<what>',
      'a hash of 43 characters, or the file of a form, condensed or whole; - is standard input',
      asGiven,
    )
    .argument('<key-file...>', 'key files, as pickaxe keygen or the contract tool makes them')
    .option('-y, --yes', DO_NOT_ASK_TO_SIGN, false)
    .action(async (what, keyFiles, options) => {
      const { runTxSign } = await import('./sign.ts');
      await run((io) => runTxSign(what, keyFiles, options, io));
    });

  tx.command('add-sig')
    .description('add signatures to a form: those of key files, or those that tx sign has printed')
    .argument('<form>', 'the file of the form; - is standard input')
    .argument('<file...>', 'key files, and files of signatures')
    .option('-l, --local', 'a complete command is for /local', false)
    .option('-y, --yes', DO_NOT_ASK_TO_SIGN, false)
    .action(async (form, files, options) => {
      const { runTxAddSig } = await import('./sign.ts');
      await run((io) => runTxAddSig(form, files, options, io));
    });

  tx.command('combine')
    .description('put the signatures in copies of a form together')
    .argument('<form...>', 'files of the copies, at least one of them whole; - is standard input')
    .option('-l, --local', 'a complete command is for /local', false)
    .action(async (files, options) => {
      const { runTxCombine } = await import('./sign.ts');
      await run((io) => runTxCombine(files, options, io));
    });

  tx.command('show')
    .description('explain a command or a form: who signs what, what it may cost, until when it is valid')
    .argument('<file>', 'the file of a command or of a form; - is standard input')
    .option('--json', 'one JSON object on stdout', false)
    .action(async (file, options) => {
      const { runTxShow } = await import('./show.ts');
      await run((io) => runTxShow(file, options, io));
    });
}

function addNodeCommands(tx: Command): void {
  onNode(tx, 'local')
    .description('let a node run a command without effect, and print what comes of it')
    .argument('<file>', 'the file of a command; with --no-signature-verification also of a form; - is standard input')
    .option('--preflight', 'check the metadata, too, and count all gas, as if it were sent', false)
    .option('--rewind-depth <n>', 'run it as of so many blocks ago', wholeNumber)
    .option('--no-signature-verification', 'do not check its signatures')
    .action((file, { chain, ...options }, command) =>
      runOnNodes(command, async (nodes, io) => {
        const { runTxLocal } = await import('./poll.ts');
        return runTxLocal(file, { ...options, chain: chain ?? null }, nodes, io);
      }),
    );

  onNode(tx, 'send')
    .description('send commands as they are; sending the same file again does no harm')
    .argument('<file>', 'the file of the commands; - is standard input')
    .option('-y, --yes', 'do not ask, at a terminal, whether to send', false)
    .action((file, options, command) =>
      runOnNodes(command, async (nodes, io) => {
        const { runTxSend } = await import('./send.ts');
        return runTxSend(file, { ...options, chain: options.chain ?? null }, nodes, io);
      }),
    );

  addPoll(tx, 'poll');
  // Whoever knows the requests of nodes looks for this name.
  addPoll(tx, 'listen', { hidden: true });

  onNode(tx, 'private', { hidden: true })
    .description('send a private command, which only some servers take; it is never sent twice')
    .argument('<file>', 'the file of the command; - is standard input')
    .action((file, options, command) =>
      runOnNodes(command, async (nodes, io) => {
        const { runTxPrivate } = await import('./send.ts');
        return runTxPrivate(file, { ...options, chain: options.chain ?? null }, nodes, io);
      }),
    );

  waiting(onNode(tx, 'spv'))
    .description('print the proof with which another chain takes the next step of a command; wait until there is one')
    .argument('<what>', WHAT, asGiven)
    .requiredOption('--target-chain <n>', 'the chain on which the next step runs', chainNumber)
    .option('--once', 'ask once, and do not wait', false)
    .action((what, options, command) =>
      runOnNodes(command, async (nodes, io) => {
        const { runTxSpv } = await import('./poll.ts');
        return runTxSpv(what, { ...options, ...waitOf(options, PROOF_PAUSE_MS) }, nodes, io);
      }),
    );
}

function addPoll(tx: Command, name: string, shown: CommandOptions = {}): void {
  waiting(onNode(tx, name, shown))
    .description('print what has become of commands, and wait until they are in blocks')
    .argument('<what>', WHAT, asGiven)
    .option('--confirmation-depth <n>', 'wait until so many blocks are above that of the command', wholeNumber, 0)
    .option('--once', 'ask once, and do not wait', false)
    .action((what, options, command) =>
      runOnNodes(command, async (nodes, io) => {
        const { runTxPoll } = await import('./poll.ts');
        return runTxPoll(what, { ...options, ...waitOf(options, POLL_PAUSE_MS) }, nodes, io);
      }),
    );
}

const DO_NOT_ASK_TO_SIGN = 'do not ask, at a terminal, whether to sign, and sign also what pickaxe does not know';
const WHAT = 'a request key of 43 characters, or the file of commands; - is standard input';

/** @returns a command with the settings of nodes, and the options that all such commands have */
function onNode(tx: Command, name: string, options: CommandOptions = {}): Command {
  return withSettings(tx.command(name, options), 'node', 'ledger')
    .option('--chain <n>', 'the chain, where the command does not name it', chainNumber)
    .option('--json', 'one JSON object on stdout', false);
}

function waiting(command: Command): Command {
  return command.option('--timeout <time>', 'how long to wait: seconds, or a time like 90m', timeOf, DEFAULT_TIMEOUT);
}

/** @param pauseMs between two questions */
function waitOf({ chain, timeout }: { chain?: number; timeout: number }, pauseMs: number) {
  return { chain: chain ?? null, timeoutMs: timeout * 1000, pauseMs };
}
