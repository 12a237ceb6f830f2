/**
 * How help pages are laid out. That of the program has its commands in groups, by what people do. That of a command
 * lists the options that people type; with `--all` it has every option, under the headings of the table of settings.
 */

import { type Command, Help, Option } from 'commander';

/** The groups of `pickaxe --help` and their commands, in the order in which people come to need them. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Start:': ['demo', 'init', 'doctor', 'mine'],
  'Watch and earn:': ['stats', 'blocks', 'balance', 'sweep'],
  'Measure:': ['bench', 'devices'],
  'More:': ['config', 'keygen', 'service', 'completion'],
};

const furtherOptions = new WeakSet<Option>();

/** Lists options of a command by `--help --all` only. */
export function listLast(command: Command, options: readonly Option[]): void {
  if (options.length === 0) return;
  for (const option of options) furtherOptions.add(option);
  if (command.options.some(({ long }) => long === '--all')) return;
  command
    .addOption(new Option('--all').hideHelp())
    .helpOption('-h, --help', 'print this page; --help --all lists every option')
    .hook('preAction', () => {
      if (command.opts().all) command.error('error: --all belongs to --help: add --help, or leave out --all');
    });
}

/** Adds the layout to a program, before its commands are added. */
export function layOutHelp(program: Command): void {
  program.helpOption('-h, --help', 'print this page').configureHelp({
    formatHelp: (command, helper) => new PageLayout(command, helper).page(),
  });
}

/**
 * Only pages are laid out like this: commander looks up what was probably meant among what its own class calls visible,
 * and so does completion.
 */
class PageLayout extends Help {
  readonly #command: Command;

  constructor(command: Command, { helpWidth }: Help) {
    super();
    this.#command = command;
    if (helpWidth !== undefined) this.helpWidth = helpWidth;
  }

  page(): string {
    return this.formatHelp(this.#command, this);
  }

  override visibleOptions(command: Command): Option[] {
    const all = super.visibleOptions(command);
    return this.#isShort ? all.filter((option) => !furtherOptions.has(option)) : all;
  }

  override visibleCommands(command: Command): Command[] {
    if (command.parent !== null) return super.visibleCommands(command);
    return Object.entries(GROUPS).flatMap(([heading, names]) =>
      names.map((name) => command.commands.find((each) => each.name() === name)!.helpGroup(heading)),
    );
  }

  /** A page of few options has no headings. */
  override groupItems<T extends Command | Option>(
    unsorted: T[],
    visible: T[],
    headingOf: (item: T) => string,
  ): Map<string, T[]> {
    if (visible[0] instanceof Option && this.#isShort) return new Map([['Options:', visible]]);
    return super.groupItems(visible[0] instanceof Option ? unsorted : visible, visible, headingOf);
  }

  override subcommandTerm(command: Command): string {
    return super.subcommandTerm(command).replace(' [options]', '');
  }

  get #isShort(): boolean {
    return this.#command.options.some((option) => furtherOptions.has(option)) && this.#command.opts().all !== true;
  }
}

/* What the help pages show at their end. */

/** The commands that programs run, and people who write programs. */
export const FOR_PROGRAMS = ['worker', 'external-worker', 'ledger', 'tx', 'nodes', 'verify', 'mock-node'];

export const PROGRAM_NOTES = `
For programs and developers:
  ${FOR_PROGRAMS.join(', ')}

pickaxe COMMAND --help explains a command and its options.

Examples:
  # at once, on a mock node
  pickaxe demo
  # on a node of your own
  pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY
  # on a pool
  pickaxe mine --pool stratum+tcp://HOST:PORT --user NAME.WORKER

Settings come from flags, PICKAXE_… variables, pickaxe.toml and the user's
config.toml: pickaxe config example explains every one.

Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 no usable device,
4 no work within a bounded run, 6 a device computed wrong hashes, 130 ended by
a second signal. No developer fee, no telemetry.`;

export const MINE_EXAMPLES = `
Examples:
  # on a node, with the CPU and every GPU
  pickaxe mine -o http://10.0.0.2:1848 --network mainnet01 -u KEY
  # on a pool, with the line that its page shows for other miners
  pickaxe mine -o stratum+tcp://pool.example:3333 -u NAME.rig1 -p x
  # with the first two GPUs only, paused at 80 °C
  pickaxe mine -d 0,1 --temp-limit 80
  # at night, with four CPU threads, and a web page at http://127.0.0.1:8080
  pickaxe mine -d cpu -t 4 --schedule 22:00-07:00 --http 8080

Without flags, pickaxe.toml says what to mine: pickaxe init writes it.`;

export const WORKER_EXAMPLES = `
Examples:
  # on stdin and stdout, for the program that starts it
  pickaxe worker
  # for programs that come and go, on a socket that only you can use
  pickaxe worker --listen unix:$XDG_RUNTIME_DIR/pickaxe.sock

docs/worker.md has the whole dialogue.`;

export const TX_EXAMPLES = `
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

docs/transactions.md has all steps.`;
