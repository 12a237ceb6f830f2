/** Writes single values of YAML as the contract tool does: plain where that is possible, else in quotes. */

/** Texts that YAML would read as something else than themselves. */
const NUMBER = /^([+-]?\d+(\.\d*)?([eE][+-]?\d+)?|0x[\da-fA-F]+|0o[0-7]+)$/;
const WORD = /^(y|yes|n|no|true|false|on|off|null)$/i;
const PLAIN = /^(\w|-[\w-])[\w-]*$/;
/** Characters that stay as they are in quotes: printable ones that end no line. */
const PRINTABLE = /^[\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;

/** @param text a hash, a key, a signature or the text of a command */
export function yamlText(text: string): string {
  if (PLAIN.test(text) && !NUMBER.test(text) && !WORD.test(text) && !text.startsWith('---')) return text;
  return PRINTABLE.test(text) ? `'${text.replaceAll("'", "''")}'` : `"${[...text].map(escaped).join('')}"`;
}

function escaped(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  if (PRINTABLE.test(character)) return character;
  const hex = character.codePointAt(0)!.toString(16).toUpperCase();
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
