/** Common mistakes of people who seldom write TOML, with the remedies. Pure. */

interface Place {
  /** The first line of the parser's message. */
  readonly what: string;
  readonly line: string;
  /** The part of the line that begins at the faulty character. */
  readonly rest: string;
}

const QUOTES = 'a text needs quotes, like "mainnet01"';
/** Matches a blank that TOML does not accept, or an invisible character. */
const UNSEEN = /^[\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]/;

/** Tests of a faulty place, with the remedies. The first test that fits decides. No remedy repeats text of the file. */
const REMEDIES: readonly (readonly [(place: Place) => boolean, string])[] = [
  [
    ({ what }) => what.includes('escape'),
    "in double quotes, \\ begins an escape: write paths in single quotes, like 'C:\\rig\\pickaxe.log'",
  ],
  [({ rest }) => /^[“”„‟‘’‚«»‹›`´]/.test(rest), 'quotes must be straight, like "mainnet01"'],
  [
    ({ rest }) => UNSEEN.test(rest),
    'there is a special blank or a character that cannot be seen: write that place again',
  ],
  [({ rest }) => /^:\s*$/.test(rest), 'a table is written in brackets, like [node]'],
  [({ rest }) => rest.startsWith(':'), 'there must be = instead of the colon, as in network = "mainnet01"'],
  [({ rest }) => rest.startsWith('='), 'one = is enough'],
  [({ rest, what }) => /^\/[/*]/.test(rest) || (rest.startsWith(';') && inKey(what)), 'a comment begins with #'],
  [({ rest }) => /^[;,]\s*(#.*)?$/.test(rest), 'nothing stands behind a value: leave the last character out'],
  [
    ({ rest, what }) => rest.startsWith('{') && inKey(what),
    'this looks like JSON: write tables like [node], and settings like network = "mainnet01"',
  ],
  [
    ({ line, what }) => /^\s*--?[a-z]/i.test(line) && inKey(what),
    'flags belong to the command line: write the setting, like network = "mainnet01"',
  ],
  [({ line, what }) => /^\s*\[[^\]]*$/.test(line) && inKey(what), 'a ] is missing'],
  [({ line, what }) => !line.includes('=') && inKey(what), 'a = is missing between the setting and its value'],
  [
    ({ rest, what }) => /^(true|yes|on)\b/i.test(rest) && isValue(what),
    'write true, in small letters and without quotes',
  ],
  [
    ({ rest, what }) => /^(false|no|off)\b/i.test(rest) && isValue(what),
    'write false, in small letters and without quotes',
  ],
  [({ rest, what }) => /^(null|none|nil)\b/i.test(rest) && isValue(what), 'leave a setting out that has no value'],
  [({ rest, what }) => rest.trim() === '' && isValue(what), 'a value is missing'],
  [
    ({ what, rest }) => what.startsWith('unfinished string') || (what.startsWith('control char') && rest.trim() === ''),
    'a quote is missing at the end of the text',
  ],
  [({ what }) => what.includes('leading zero'), 'leave the zero at its beginning out'],
  [({ rest, what }) => /^[,']\d/.test(rest) && isNumber(what), 'write a number with digits alone, like 1000'],
  [({ rest, what }) => rest.startsWith('%') && isNumber(what), QUOTES],
  [
    ({ line, what }) => line.trimStart().startsWith('[') && isFollowed(what),
    'settings begin on the line below their table',
  ],
  [
    ({ rest, what }) => /["']/.test(rest) && isFollowed(what),
    'a text with a quote in it needs quotes of the other kind around it',
  ],
  [({ rest, what }) => /^[a-z/.~-]/i.test(rest) && (isValue(what) || isNumber(what)), QUOTES],
];

const inKey = (what: string) => what.startsWith('illegal character in key');
const isValue = (what: string) => /^invalid (value|date)/.test(what);
const isNumber = (what: string) => what.startsWith('illegal character in num');
const isFollowed = (what: string) => what.startsWith('each key-value declaration must be followed');

/** @returns the remedy as a clause; undefined for a fault that is not common */
export function remedyOf(place: Place): string | undefined {
  return REMEDIES.find(([fits]) => fits(place))?.[1];
}
