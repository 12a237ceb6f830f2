/** Two texts as the contract tool's language writes them. */

/** The names of the control characters from U+0000 on. */
const CONTROL_NAMES =
  'NUL SOH STX ETX EOT ENQ ACK a b t n v f r SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(
    ' ',
  );

/**
 * @param milliseconds since 1970; their fraction counts, too, to the microsecond
 * @returns such as `2024-09-06 20:04:12.679143 UTC`: at most 6 decimal places, and none when they are all zero
 */
export function timeText(milliseconds: number): string {
  const microseconds = BigInt(Math.round(milliseconds * 1000));
  const seconds = new Date(Number(microseconds / 1_000_000n) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const fraction = `${microseconds % 1_000_000n}`.padStart(6, '0').replace(/0+$/, '');
  return `${seconds}${fraction && `.${fraction}`} UTC`;
}

/** @returns the text in quotes, with quotes, backslashes, control characters and all beyond ASCII escaped */
export function showText(text: string): string {
  const shown = [...text].map(escaped);
  // An escape ends before a digit, and \SO before an H, only with this mark between them.
  const separated = shown.map((each, i) => {
    const next = shown[i + 1] ?? '';
    const runsOn = (/^\\\d+$/.test(each) && /^\d/.test(next)) || (each === '\\SO' && next.startsWith('H'));
    return runsOn ? `${each}\\&` : each;
  });
  return `"${separated.join('')}"`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  if (character === '"' || character === '\\') return `\\${character}`;
  if (code < CONTROL_NAMES.length) return `\\${CONTROL_NAMES[code]}`;
  if (code === 0x7f) return '\\DEL';
  return code > 0x7f ? `\\${code}` : character;
}
