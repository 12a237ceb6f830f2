/** Names of workers, which often contain a public key. */

import { shortName } from '../report/figures.ts';
import { element, setAttribute, setText } from './dom.ts';
import { tell } from './news.ts';

/** The name, shortened. If that leaves something out, it is a button that shows the whole name and copies it. */
export function nameElement(name: string): HTMLElement {
  const short = shortName(name);
  if (short === name) return element('span', { class: 'name' }, name);
  const button = element('button', { type: 'button', class: 'name', title: name, 'aria-expanded': 'false' }, short);
  button.addEventListener('click', async () => {
    const wasWhole = button.getAttribute('aria-expanded') === 'true';
    setAttribute(button, 'aria-expanded', String(!wasWhole));
    setText(button, wasWhole ? short : name);
    if (!wasWhole) tell((await copy(name)) ? `copied: ${name}` : `not copied, since the browser forbids it: ${name}`);
  });
  return button;
}

/** @returns whether it is in the clipboard now */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyWithEvent(text);
  }
}

/** Browsers have a clipboard for scripts only on loopback and with TLS. On other addresses only this old command copies. */
function copyWithEvent(text: string): boolean {
  let isCopied = false;
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    isCopied = true;
  };
  document.addEventListener('copy', fill, { once: true });
  const isDone = document.execCommand('copy');
  document.removeEventListener('copy', fill);
  return isDone && isCopied;
}
