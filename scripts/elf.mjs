// Reads the properties of a shared library: ELF64, little-endian (System V ABI, "Object Files" and "Dynamic Linking").

const MACHINES = { 62: 'x64', 183: 'arm64' };

const PT_DYNAMIC = 2;
const PT_GNU_STACK = 0x6474e551;
const PF_X = 1;
const SHT_DYNSYM = 11;

const DT_NEEDED = 1n;
const DT_VERNEEDNUM = 0x6fffffffn;

/**
 * @param file the bytes of the library
 * @returns Node.js's name of its `arch`, the `needed` libraries, whether it needs symbols with certain `versions`, the
 *   names of the symbols that it `imports` and `exports`, and whether it asks for an executable stack
 *   (`executableStack`)
 * @throws Error when it is not a shared library of a known kind
 */
export function readSharedLibrary(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const u16 = (at) => view.getUint16(at, true);
  const u32 = (at) => view.getUint32(at, true);
  const u64 = (at) => Number(view.getBigUint64(at, true));
  const text = (at) => file.toString('latin1', at, file.indexOf(0, at));

  if (file.length < 64 || u32(0) !== 0x464c457f || file[4] !== 2 || file[5] !== 1) {
    throw new Error('not an ELF file of 64 bits, little-endian');
  }
  if (u16(16) !== 3) throw new Error('not a shared library');
  const arch = MACHINES[u16(18)];
  if (!arch) throw new Error(`made for a machine of ELF number ${u16(18)}`);

  const segments = Array.from({ length: u16(56) }, (_, i) => {
    const at = u64(32) + i * u16(54);
    return { type: u32(at), flags: u32(at + 4), offset: u64(at + 8), size: u64(at + 32) };
  });
  const sections = Array.from({ length: u16(60) }, (_, i) => {
    const at = u64(40) + i * u16(58);
    return { type: u32(at + 4), offset: u64(at + 24), size: u64(at + 32), link: u32(at + 40) };
  });

  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  const symbols = sections.find(({ type }) => type === SHT_DYNSYM);
  if (!dynamic || !symbols) throw new Error('it has no dynamic section');
  const entries = Array.from({ length: dynamic.size / 16 }, (_, i) => {
    const at = dynamic.offset + 16 * i;
    return { tag: view.getBigUint64(at, true), value: u64(at + 8) };
  });
  const strings = sections[symbols.link].offset;
  const named = Array.from({ length: symbols.size / 24 }, (_, i) => {
    const at = symbols.offset + 24 * i;
    return { name: text(strings + u32(at)), defined: u16(at + 6) !== 0 };
  }).filter(({ name }) => name !== '');
  const stack = segments.find(({ type }) => type === PT_GNU_STACK);

  return {
    arch,
    needed: entries.filter(({ tag }) => tag === DT_NEEDED).map(({ value }) => text(strings + value)),
    versions: entries.some(({ tag }) => tag === DT_VERNEEDNUM),
    imports: named.filter(({ defined }) => !defined).map(({ name }) => name),
    exports: named.filter(({ defined }) => defined).map(({ name }) => name),
    // Without such a segment the stack is executable.
    executableStack: !stack || (stack.flags & PF_X) !== 0,
  };
}
