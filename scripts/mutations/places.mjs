// Finds the places of built JavaScript in which a fault can be put, and writes a text with faults behind a switch:
// `globalThis.fault(7) ? a : a && b`. While the switch is off, the text does what the original does.

import { parseAst } from 'vite';

const BOUNDARIES = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const EQUALITIES = { '===': '!==', '!==': '===' };
const ARITHMETIC = { '+': '-', '-': '+', '*': '/', '/': '*' };
const TWINS = new Map(Object.entries({ every: 'some', some: 'every', min: 'max', max: 'min' }));
/** Methods whose result has the type of what they are called on. */
const DROPPED = new Set(['filter', 'slice', 'toSorted', 'toReversed', 'trim']);
const LEAVES = new Set(['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement']);
const STATEMENTS = new Set(['CallExpression', 'AwaitExpression', 'AssignmentExpression', 'UpdateExpression']);

/**
 * @param text a module of JavaScript
 * @returns the places, in the order of the text. A place is a rule's name, the range of the text that it replaces, and
 *   `make(id, original, render)`, which gives the replacement: `original` is the range's own text, and `render(node)` a
 *   node's, both with the other faults that are put in
 */
export function findPlaces(text) {
  const places = [];
  visit(parseAst(text), undefined, undefined, (node, parent, key) => {
    const put = (rule, make, { start, end } = node) => places.push({ rule, start, end, make });
    const choose = (rule, fault) => put(rule, (id, original, render) => `(${on(id)} ? ${fault(render)} : ${original})`);
    rules[node.type]?.(node, { put, choose, parent, key, text });
  });
  return places.sort((a, b) => a.start - b.start || b.end - a.end);
}

const rules = {
  IfStatement({ test, consequent, alternate }, { put }) {
    const condition = (value) => (id, original) => `(${on(id)} ? ${value} : ${original})`;
    put(leaves(consequent) && !alternate ? 'guard dropped' : 'condition false', condition(false), test);
    if (alternate) put('condition true', condition(true), test);
  },
  ExpressionStatement({ expression, directive }, { put }) {
    const { type } = expression.type === 'ChainExpression' ? expression.expression : expression;
    if (directive !== undefined || !STATEMENTS.has(type) || expression.callee?.type === 'Super') return;
    const rule = type === 'AssignmentExpression' ? 'assignment dropped' : 'statement dropped';
    // Without the outer braces, a following `else` would belong to this `if`.
    put(rule, (id, original) => `{ if (!${on(id)}) { ${original} } }`);
  },
  LogicalExpression({ operator, left, right }, { choose }) {
    choose(`left of ${operator} alone`, (render) => `(${render(left)})`);
    choose(`right of ${operator} alone`, (render) => `(${render(right)})`);
    if (operator === '??') return;
    const other = operator === '&&' ? '||' : '&&';
    choose(`${operator} → ${other}`, (render) => `((${render(left)}) ${other} (${render(right)}))`);
  },
  BinaryExpression({ operator, left, right }, { choose }) {
    const other = BOUNDARIES[operator] ?? EQUALITIES[operator] ?? ARITHMETIC[operator];
    const isText = [left, right].some(({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string');
    if (other === undefined || (operator === '+' && isText)) return;
    choose(`${operator} → ${other}`, (render) => `((${render(left)}) ${other} (${render(right)}))`);
  },
  ConditionalExpression({ consequent, alternate }, { choose }) {
    choose('first of ?: alone', (render) => `(${render(consequent)})`);
    choose('second of ?: alone', (render) => `(${render(alternate)})`);
  },
  UnaryExpression({ operator, argument }, { choose }) {
    if (operator === '!') choose('! dropped', (render) => `(${render(argument)})`);
  },
  Literal({ value, raw }, { choose, put, parent, key }) {
    if (key === 'key' || key === 'source' || parent.type === 'SwitchCase') return;
    if (typeof value === 'number' || typeof value === 'bigint') {
      choose('number + 1', () => (typeof value === 'bigint' ? `${raw.slice(0, -1)}n + 1n` : `${raw} + 1`));
    }
    const isAnswer = parent.type === 'ReturnStatement' || (parent.type === 'ArrowFunctionExpression' && key === 'body');
    if (typeof value === 'boolean' && isAnswer) put('answer turned', (id, original) => `(${on(id)} !== ${original})`);
  },
  CallExpression({ callee, optional }, { put, text }) {
    if (callee.type !== 'MemberExpression' || callee.computed || callee.optional || optional) return;
    const { object, property } = callee;
    const twin = TWINS.get(property.name);
    if (twin !== undefined) {
      const name = (id) => `[${on(id)} ? '${twin}' : '${property.name}']`;
      put(`${property.name} → ${twin}`, name, { start: object.end, end: property.end });
    }
    // In `a?.b.filter(…).c`, nothing after the `?.` can be replaced alone: `c` is not read if there is no `a`.
    if (!DROPPED.has(property.name) || text.slice(object.start, object.end).includes('?.')) return;
    put(`${property.name} dropped`, (id, original, render) => `(${on(id)} ? ${render(object)} : ${original})`);
  },
};

/** A browser, in which a module may run, too, has no switch. */
const on = (id) => `(globalThis.fault?.(${id}) ?? false)`;

function leaves(statement) {
  return LEAVES.has(statement.type === 'BlockStatement' ? statement.body.at(-1)?.type : statement.type);
}

function visit(node, parent, key, enter) {
  enter(node, parent, key);
  for (const [name, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') visit(child, node, name, enter);
    }
  }
}

/**
 * @param text the module's text
 * @param chosen some of its places, each with an `id`, in the order of `findPlaces`
 * @returns the text with these faults
 */
export function putIn(text, chosen) {
  const render = (start, end, inside) => {
    let written = '';
    let at = start;
    for (let i = 0; i < inside.length; ) {
      const { start: from, end: to } = inside[i];
      let next = i + 1;
      while (next < inside.length && inside[next].start < to) next++;
      const [same, deeper] = divide(inside.slice(i, next), (place) => place.start === from && place.end === to);
      const within = (node) => {
        const parts = deeper.filter((place) => place.start >= node.start && place.end <= node.end);
        return render(node.start, node.end, parts);
      };
      let replaced = render(from, to, deeper);
      for (const { id, make } of same) replaced = make(id, replaced, within);
      written += text.slice(at, from) + replaced;
      at = to;
      i = next;
    }
    return written + text.slice(at, end);
  };
  return render(0, text.length, chosen);
}

function divide(items, belongs) {
  return [items.filter(belongs), items.filter((item) => !belongs(item))];
}
