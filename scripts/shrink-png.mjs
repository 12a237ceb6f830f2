// Reduces a screenshot to a palette. A page has few colours, and nobody sees the loss in the smooth edges between them.

import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** The number of colours in a palette of 8 bits (PNG specification §11.2.2). */
const MOST_COLOURS = 256;
const CHANNELS = { 2: 3, 6: 4 };

/**
 * @param png a picture with 8 bits per channel, not interlaced, as from Chromium.
 * @returns the same picture, a third as large
 */
export function shrinkPng(png) {
  const { width, height, rows, channels } = decode(png);
  const counts = new Map();
  for (let at = 0; at < rows.length; at += channels) {
    const colour = rows.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = paletteOf([...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a)));
  const indices = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]));
  // The byte 0 before each row stands for a row without a filter.
  const raw = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      raw[y * (width + 1) + 1 + x] = indices.get(rows.readUIntBE((y * width + x) * channels, 3));
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // 8 bits per index, and the colour type of a palette.
  const colours = Buffer.concat(
    palette.map((colour) => Buffer.from([colour >> 16, (colour >> 8) & 0xff, colour & 0xff])),
  );
  const chunks = [chunk('IHDR', header), chunk('PLTE', colours), chunk('IDAT', deflateSync(raw, { level: 9 }))];
  return Buffer.concat([SIGNATURE, ...chunks, chunk('IEND', Buffer.alloc(0))]);
}

/**
 * @returns the most frequent colours, with such distances between them that the palette suffices. Thin lines keep
 *   theirs
 */
function paletteOf(colours) {
  for (let apart = 0; ; apart++) {
    const palette = [];
    for (const colour of colours) if (palette.every((other) => far(colour, other) > apart ** 2)) palette.push(colour);
    if (palette.length <= MOST_COLOURS) return palette;
  }
}

function nearest(palette, colour) {
  let best = 0;
  for (let index = 1; index < palette.length; index++) {
    if (far(colour, palette[index]) < far(colour, palette[best])) best = index;
  }
  return best;
}

/** @returns the square of the distance between two colours */
function far(one, other) {
  let sum = 0;
  for (const bits of [16, 8, 0]) sum += (((one >> bits) & 0xff) - ((other >> bits) & 0xff)) ** 2;
  return sum;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(body, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

function decode(png) {
  const parts = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const [width, height, channels] = [png.readUInt32BE(16), png.readUInt32BE(20), CHANNELS[png[25]]];
  if (png[24] !== 8 || channels === undefined || png[28] !== 0)
    throw new Error('not a picture as Chromium writes them');
  return {
    width,
    height,
    channels,
    rows: unfilter(inflateSync(Buffer.concat(parts)), width * channels, height, channels),
  };
}

/** Reverses the filters of a row (PNG specification §9.2). */
function unfilter(raw, stride, height, channels) {
  const rows = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const a = x >= channels ? rows[at - channels] : 0;
      const b = y > 0 ? rows[at - stride] : 0;
      const c = x >= channels && y > 0 ? rows[at - stride - channels] : 0;
      rows[at] = raw[at + y + 1] + [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter];
    }
  }
  return rows;
}

function paeth(a, b, c) {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}
