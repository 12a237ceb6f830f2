/** The names of modules and of their members. */

/**
 * A name without dots. In both dialects, its letters and digits may be of any script, because dialect 4 allows them.
 */
const IDENTIFIER = /^[\p{L}%#+\-_&$@<>=^?*!|/~][\p{L}\p{Nd}%#+\-_&$@<>=^?*!|/~]*$/u;
/** Maximum number of parts of a dotted name: namespace, module and member. */
const MAX_NAME_PARTS = 3;

function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** Whether a text is one name without dots, or two or three such names that are joined by dots. */
export function isDottedName(text: string): boolean {
  const parts = text.split('.', MAX_NAME_PARTS + 1);
  return parts.length <= MAX_NAME_PARTS && parts.every(isIdentifier);
}

/** The name of a module or an interface: `name`, or `namespace.name`. */
export class ModuleName {
  readonly namespace: string | undefined;
  readonly name: string;

  constructor(name: string, namespace?: string) {
    this.namespace = namespace;
    this.name = name;
  }

  /** @returns undefined unless the text is one name, or two names that are joined by a dot */
  static parse(text: string): ModuleName | undefined {
    if (!isDottedName(text)) return undefined;
    const [first, second, third] = text.split('.');
    if (third !== undefined) return undefined;
    return second === undefined ? new ModuleName(first) : new ModuleName(second, first);
  }

  get text(): string {
    return this.namespace === undefined ? this.name : `${this.namespace}.${this.name}`;
  }
}

/** The module that qualifies the names of the language's own events, capabilities and schemas. */
export const LANGUAGE_MODULE = new ModuleName('pact');

/** The name of a member of a module: `module.member`, or `namespace.module.member`. */
export class QualifiedName {
  readonly module: ModuleName;
  readonly member: string;

  constructor(module: ModuleName, member: string) {
    this.module = module;
    this.member = member;
  }

  /** @returns undefined unless the text is two or three names that are joined by dots */
  static parse(text: string): QualifiedName | undefined {
    const point = text.lastIndexOf('.');
    const module = ModuleName.parse(text.slice(0, Math.max(0, point)));
    const member = text.slice(point + 1);
    return module && isIdentifier(member) ? new QualifiedName(module, member) : undefined;
  }

  get text(): string {
    return `${this.module.text}.${this.member}`;
  }
}
