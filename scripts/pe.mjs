// Reads the properties of a Windows library: PE32+ ("PE Format" in Microsoft's documentation).

const MACHINES = { 34404: 'x64', 43620: 'arm64' };

const IMAGE_FILE_DLL = 0x2000;
const PE32_PLUS = 0x20b;

/** Flags of the DLL: it may be loaded at any address, also far up, and its data cannot be executed. */
const HIGH_ENTROPY_VA = 0x20;
const DYNAMIC_BASE = 0x40;
const NX_COMPAT = 0x100;
const HARDENED = HIGH_ENTROPY_VA | DYNAMIC_BASE | NX_COMPAT;

/** Where the data directories for exports, imports and delayed imports are in the list of them. */
const EXPORTS = 0;
const IMPORTS = 1;
const DELAYED_IMPORTS = 13;

/**
 * @param file the bytes of the library
 * @returns Node.js's name of its `arch`, the `needed` libraries in lower case, the names of the symbols that it
 *   `imports` and `exports`, and whether it lets Windows choose its address and forbid execution of its data
 *   (`hardened`)
 * @throws Error when it is not a library of a known kind
 */
export function readWindowsLibrary(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const u16 = (at) => view.getUint16(at, true);
  const u32 = (at) => view.getUint32(at, true);
  const text = (at) => file.toString('latin1', at, file.indexOf(0, at));

  const header = file.length >= 64 && u16(0) === 0x5a4d ? u32(0x3c) : file.length;
  if (header + 136 > file.length || u32(header) !== 0x4550 || u16(header + 24) !== PE32_PLUS) {
    throw new Error('not a PE file of 64 bits');
  }
  if ((u16(header + 22) & IMAGE_FILE_DLL) === 0) throw new Error('not a library');
  const arch = MACHINES[u16(header + 4)];
  if (!arch) throw new Error(`made for a machine of PE number ${u16(header + 4)}`);

  const optional = header + 24;
  const sections = Array.from({ length: u16(header + 6) }, (_, i) => {
    const at = optional + u16(header + 20) + 40 * i;
    return { address: u32(at + 12), bytes: u32(at + 16), offset: u32(at + 20) };
  });
  /** @returns the position in the file of what is loaded to this address */
  const place = (address) => {
    const section = sections.find((each) => address >= each.address && address < each.address + each.bytes);
    if (!section) throw new Error('an address lies outside of all sections');
    return address - section.address + section.offset;
  };
  const directory = (index) => (index < u32(optional + 108) ? u32(optional + 112 + 8 * index) : 0);

  const exported = () => {
    if (directory(EXPORTS) === 0) return [];
    const table = place(directory(EXPORTS));
    const count = u32(table + 24);
    const names = count > 0 ? place(u32(table + 32)) : 0;
    return Array.from({ length: count }, (_, i) => text(place(u32(names + 4 * i))));
  };
  const imported = (lookup) => {
    const names = [];
    for (let at = place(lookup); view.getBigUint64(at, true) !== 0n; at += 8) {
      const entry = view.getBigUint64(at, true);
      // The highest bit distinguishes numbers from names.
      names.push(entry >> 63n ? `number ${entry & 0xffffn}` : text(place(Number(entry)) + 2));
    }
    return names;
  };
  const libraries = [];
  if (directory(IMPORTS) !== 0) {
    for (let at = place(directory(IMPORTS)); u32(at + 12) !== 0; at += 20) {
      libraries.push({ name: text(place(u32(at + 12))).toLowerCase(), imports: imported(u32(at) || u32(at + 16)) });
    }
  }
  if (directory(DELAYED_IMPORTS) !== 0) throw new Error('it has delayed imports, which are not read here');

  return {
    arch,
    needed: libraries.map(({ name }) => name),
    imports: libraries.flatMap(({ imports }) => imports),
    exports: exported(),
    hardened: (u16(optional + 70) & HARDENED) === HARDENED,
  };
}
