/** What a page shows, as lines of text that a record compares. */

import type { Element } from 'happy-dom';
import type { PageWindow } from './window.ts';

/** Attributes that say something to people, or choose how an element looks. */
const SAID = /^(?:class|data-|aria-|title)/;

/**
 * @returns a line for each element within `selector` that has a text of its own or an attribute that is shown, without
 *   what is hidden: its name, its attributes and its text
 */
export function shownIn({ document }: PageWindow, selector: string): string {
  const lines: string[] = [];
  const visit = (element: Element) => {
    if (element.hasAttribute('hidden')) return;
    const attributes = [...element.attributes].filter(({ name }) => SAID.test(name));
    const text = [...element.childNodes]
      .map((node) => (node.nodeType === node.TEXT_NODE ? node.textContent : ''))
      .join('');
    const said = attributes.map(({ name, value }) => `${name}=${value}`).join(' ');
    if (text.trim() !== '' || said !== '') lines.push(`${element.localName}#${element.id} ${said}: ${text.trim()}`);
    for (const child of element.children) visit(child);
  };
  for (const element of document.querySelectorAll(selector)) visit(element);
  return lines.join('\n');
}
