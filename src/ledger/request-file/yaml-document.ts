/**
 * Reads YAML that a stranger may have written, within bounds: a short text must not take long, or much memory. The
 * package `yaml` alone compares every key of a map with all others, and looks for an alias's anchor in the whole text.
 */

import { Composer, type Document, isAlias, Lexer, LineCounter, type Node, Parser, visit } from 'yaml';
import { RequestFileError } from './errors.ts';

/** Far more than a request or a form has that a node takes. */
const MAX_CHARACTERS = 2 ** 18;
/** Parts of the text as YAML's lexer takes it apart: a value in a map or a list has about eight. */
const MAX_LEXEMES = 50_000;
/** Levels that are open at the same time; nested values that JSON has are bounded where they are read. */
const MAX_OPEN = 250;
const MAX_ALIASES = 100;

/** Texts stay as they are written; keys that stand in a map twice are found where the map is read. */
const OPTIONS = { schema: 'failsafe', stringKeys: true, prettyErrors: false, uniqueKeys: false } as const;

/** YAML's own messages can contain a part of the file, such as a secret key. */
const NO_YAML = 'this is not YAML: check the indentation, the colons and the quotes';
const TAB = 'lines are indented with spaces, not with tabs';

export interface YamlDocument {
  readonly contents: Node | null;
  /** What each alias stands for; one whose anchor does not stand before it is missing. */
  readonly aliases: ReadonlyMap<Node, Node>;
  /** @returns the line of an offset, from 1 */
  readonly lineOf: (offset: number) => number;
}

/**
 * @param name the file's, for errors
 * @throws RequestFileError for a text that is not one document of YAML, or is beyond a bound.
 */
export function parseYaml(text: string, name: string): YamlDocument {
  if (text.length > MAX_CHARACTERS) throw new RequestFileError(`${name} is longer than ${MAX_CHARACTERS} characters.`);
  const lines = new LineCounter();
  const lineOf = (offset: number) => lines.linePos(offset).line || 1;
  const refuse = (offset: number, says: string) => new RequestFileError(`${name}, line ${lineOf(offset)}: ${says}.`);
  const tokens = tokensOf(text, lines, refuse);
  const [document, second] = new Composer(OPTIONS).compose(tokens, true, text.length);
  const [error] = document.errors;
  if (error) throw refuse(error.pos[0], error.code === 'TAB_AS_INDENT' ? TAB : NO_YAML);
  if (second) throw refuse(second.range[0], 'a second document begins here, but only one can be read');
  return { contents: document.contents, aliases: aliasesOf(document, refuse), lineOf };
}

type Refuse = (offset: number, says: string) => RequestFileError;

/** What yaml's `Parser.parse` yields, but it ends at a bound before more work is done. */
function* tokensOf(text: string, lines: LineCounter, refuse: Refuse) {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let left = MAX_LEXEMES;
  for (const lexeme of new Lexer().lex(text)) {
    if (--left < 0) throw refuse(parser.offset, `the file has more than ${MAX_LEXEMES} parts up to here`);
    for (const token of parser.next(lexeme)) {
      // Every fault that is collected takes time, and only the first one counts.
      if (token.type === 'error') throw refuse(token.offset, NO_YAML);
      yield token;
    }
    if (parser.stack.length > MAX_OPEN) throw refuse(parser.offset, `the file is nested more than ${MAX_OPEN} deep`);
  }
  yield* parser.end();
}

/** An alias stands for the last node before it that has its anchor. */
function aliasesOf(document: Document.Parsed, refuse: Refuse): YamlDocument['aliases'] {
  const anchored = new Map<string, Node>();
  const aliases = new Map<Node, Node>();
  let left = MAX_ALIASES;
  visit(document, {
    Node: (_, node) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchored.set(node.anchor, node);
        return;
      }
      if (--left < 0) throw refuse(node.range?.[0] ?? 0, `the file has more than ${MAX_ALIASES} aliases`);
      const target = anchored.get(node.source);
      if (target) aliases.set(node, target);
    },
  });
  return aliases;
}
