/** The layout of help pages. Commands are in groups. A command's page lists the usual options, or all with `--all`. */

import { type Command, Help, Option } from 'commander';

const furtherOptions = new WeakSet<Option>();

/** Hides these options from `--help`. Only `--help --all` lists them. */
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

/** Must be called before commands are added to the program, because commander copies the layout to each new command. */
export function layOutHelp(program: Command): void {
  program.helpOption('-h, --help', 'print this page').configureHelp({
    formatHelp: (command, helper) => new PageLayout(command, helper).page(),
  });
}

/**
 * Formats a help page. Commander's suggestions and completion use the default Help class, which also has the options
 * that only `--help --all` lists.
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
    return super.visibleCommands(command).filter((each) => each.helpGroup() !== '');
  }

  /** A page that lists only the usual options has them all under one heading. */
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
