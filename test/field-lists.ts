/** Parts of documents that are made from schemas: the fields of objects, with their descriptions and their words. */

import { z } from 'zod';

type Schema = z.core.$ZodType;
type Shape = Readonly<Record<string, Schema>>;

/** Maximum number of fields that a row names although another table lists them. */
const MOST_REPEATED = 5;

/**
 * The lists and tables of one document, in its order. A list of fields has each description and each list of words
 * once: fields without an explanation are explained further up.
 */
export class FieldLists {
  /** The text in place of a schema that is explained elsewhere. */
  readonly #elsewhere: ReadonlyMap<Schema, string>;
  /** Schemas whose descriptions the document has by now, and lists of words that it has. */
  readonly #explained = new Set<Schema | string>();

  /** @param elsewhere schemas that another place explains, by the text that leads there */
  constructor(elsewhere: Readonly<Record<string, Schema>>) {
    this.#elsewhere = new Map(Object.entries(elsewhere).map(([text, schema]) => [bare(schema), text]));
  }

  /**
   * @param asIn by a text such as `as in x`, fields that are explained there: those of the same name and schema
   * @returns `| names | meaning |` for each field, in one row where neighbours have the same meaning
   */
  rows(shape: Shape, asIn: Readonly<Record<string, Shape>> = {}): string[] {
    const fields = Object.entries(shape).map(([name, field]) => {
      const elsewhere = Object.keys(asIn).find((text) => asIn[text][name] === field);
      const meaning = elsewhere ?? (this.#meaning(field) || wordsOf(bare(field)).map(code).join(', '));
      if (meaning === '') throw new Error(`The field ${name} has no description.`);
      return { name, meaning };
    });
    return merged(fields).map(({ names, meaning }) => `| ${shortened(names, asIn[meaning])} | ${meaning} |`);
  }

  /**
   * @param objects by their names in Markdown
   * @param hidden fields that all of them have
   * @param like by their names, what they have most fields from: its name and its fields
   * @returns a line for each object: its name, its description and its fields
   */
  objects(
    objects: Readonly<Record<string, Schema>>,
    hidden: readonly string[] = [],
    like: Readonly<Record<string, readonly [name: string, Shape]>> = {},
  ): string[] {
    return Object.entries(objects).map(([name, schema]) => {
      const object = bare(schema) as z.ZodObject;
      const description = z.globalRegistry.get(object)?.description;
      if (description === undefined) throw new Error(`The object ${name} has no description.`);
      const [other, others] = like[name] ?? ['', {}];
      const shown = Object.entries(object.shape).filter(
        ([field, each]) => !hidden.includes(field) && others[field] !== each,
      );
      const list = this.#list(Object.fromEntries(shown));
      const fields = other === '' ? list : `${fieldsOf(other, others, object.shape)}, and ${list}`;
      return `- **${name}**: ${description}${fields === '' ? '' : `. ${fields}`}`;
    });
  }

  #list(shape: Shape): string {
    let last: { described: Schema | undefined; meaning: string } | undefined;
    const fields = Object.entries(shape).map(([name, field]) => {
      const described = this.#describedPart(field);
      const isSame = described !== undefined && described === last?.described;
      const isKnown = described !== undefined && this.#explained.has(described);
      last = { described, meaning: isSame ? last!.meaning : isKnown ? '' : this.#meaning(field) };
      return { name, meaning: last.meaning };
    });
    return merged(fields)
      .map(({ names, meaning }) => names.map(code).join(', ') + (meaning === '' ? '' : ` (${meaning})`))
      .join(', ');
  }

  /** @returns the description, and what the field consists of: its words, or the fields of its objects */
  #meaning(field: Schema): string {
    const described = this.#describedPart(field);
    if (described !== undefined) this.#explained.add(described);
    return [descriptionOf(described), this.#parts(field)].filter((text) => text !== '').join(': ');
  }

  #parts(field: Schema): string {
    const inner = bare(field);
    const text = this.#elsewhere.get(inner);
    if (text !== undefined) return text;
    if (inner instanceof z.ZodObject) return this.#list(inner.shape);
    const each =
      inner instanceof z.ZodArray ? inner.element : inner instanceof z.ZodRecord ? inner.valueType : undefined;
    if (each === undefined) return this.#words(field, inner).map(code).join(', ');
    const isHere = bare(each) instanceof z.ZodObject && !this.#elsewhere.has(bare(each));
    return isHere && this.#describedPart(field) === undefined ? `each with ${this.#parts(each)}` : this.#parts(each);
  }

  /** @returns the words of a closed list, unless the document has them @throws Error when the description lacks some */
  #words(field: Schema, inner: Schema): string[] {
    const words = wordsOf(inner);
    const description = descriptionOf(this.#describedPart(field));
    const missing = words.filter((word) => !description.includes(code(word)));
    if (missing.length > 0 && missing.length < words.length) {
      throw new Error(`The description '${description}' lacks the words ${missing.join(', ')}.`);
    }
    const isKnown = this.#explained.has(words.join());
    this.#explained.add(words.join());
    return isKnown ? [] : missing;
  }

  /** @returns the outermost part with a description, unless the description is that of an object explained elsewhere */
  #describedPart(schema: Schema): Schema | undefined {
    if (this.#elsewhere.has(schema)) return undefined;
    if (z.globalRegistry.get(schema)?.description !== undefined) return schema;
    const inner = innerOf(schema);
    return inner && this.#describedPart(inner);
  }
}

/** @returns what an object has from another one */
function fieldsOf(other: string, others: Shape, shape: Shape): string {
  const missing = Object.keys(others).filter((name) => !(name in shape));
  return `The fields of a ${other}${missing.length === 0 ? '' : ` without ${missing.map(code).join(', ')}`}`;
}

/** @returns neighbours with the same meaning as one */
function merged(fields: readonly { readonly name: string; readonly meaning: string }[]) {
  const groups: { names: string[]; meaning: string }[] = [];
  for (const { name, meaning } of fields) {
    const last = groups.at(-1);
    if (last?.meaning === meaning) last.names.push(name);
    else groups.push({ names: [name], meaning });
  }
  return groups;
}

/**
 * @param other an object with these fields. If it has no other fields between them, the first and the last one are
 *   enough
 */
function shortened(names: readonly string[], other: Shape | undefined): string {
  const shown = names.map(code);
  const all = Object.keys(other ?? {});
  const isRun = all.slice(all.indexOf(names[0]), all.indexOf(names.at(-1)!) + 1).join() === names.join();
  return isRun && names.length > MOST_REPEATED ? `${shown[0]} … ${shown.at(-1)}` : shown.join(', ');
}

function wordsOf(schema: Schema): string[] {
  const words = schema instanceof z.ZodEnum ? schema.options : schema instanceof z.ZodLiteral ? [...schema.values] : [];
  return words.map(String);
}

function code(name: string): string {
  return `\`${name}\``;
}

function descriptionOf(schema: Schema | undefined): string {
  return (schema && z.globalRegistry.get(schema)?.description) ?? '';
}

/** @returns the schema itself, if this one only adds null, absence or a default to it */
function bare(schema: Schema): Schema {
  const inner = innerOf(schema);
  return inner === undefined ? schema : bare(inner);
}

function innerOf(schema: Schema): Schema | undefined {
  return (schema._zod.def as { innerType?: Schema }).innerType;
}
