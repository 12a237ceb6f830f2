/** Colours of the terminal (ECMA-48 §8.3.117, SGR), or none. */

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], yellow: [33, 39] } as const;

export type Style = keyof typeof CODES;
export type Paint = (style: Style, text: string) => string;

export const inColours: Paint = (style, text) => `\x1b[${CODES[style][0]}m${text}\x1b[${CODES[style][1]}m`;

export const inPlain: Paint = (_style, text) => text;
