/** The error for a configuration: it lists all problems at once, each with its place. */

/** A longer list of problems is cut: these are enough to start with. */
const MAX_TOLD = 20;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** One line each: where it is, what is wrong, what to do. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(tell(problems));
    this.problems = problems;
  }
}

function tell(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0];
  const told = problems.slice(0, MAX_TOLD).map((problem) => `  ${problem}`);
  const more = problems.length > MAX_TOLD ? [`  … and ${problems.length - MAX_TOLD} more`] : [];
  return [`${problems.length} errors in the configuration:`, ...told, ...more].join('\n');
}
