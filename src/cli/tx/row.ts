/** A line of a table with two columns: a name and a text. */

const NAME_COLUMNS = 10;

export function row(name: string, text: string): string {
  return `${name.padEnd(NAME_COLUMNS)} ${text}`.trimEnd();
}
