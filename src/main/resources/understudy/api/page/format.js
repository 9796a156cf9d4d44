// Numbers and times as people read them, and small helpers for the document.

export const byId = (id) => document.getElementById(id);

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const count = (n) => (n >= 100000 ? short.format(n) : whole.format(n));

/** A number in a narrow place. */
export const shortCount = (n) => (n >= 10000 ? short.format(n) : whole.format(n));

export const percent = (share) => `${(100 * share).toFixed(1)} %`;

/** A duration with three significant digits; a dash where there is none. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) {
    return '–';
  }
  if (seconds < 1e-3) {
    return `${Number((seconds * 1e6).toPrecision(3))} µs`;
  }
  return seconds < 1 ? `${Number((seconds * 1e3).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`;
}

/** A length of time that is round in one of its units. */
export function roundTime(seconds) {
  const [name, unit] = [['d', 86400], ['h', 3600], ['min', 60]].find(([, length]) => seconds >= length) ?? ['s', 1];
  return `${Number((seconds / unit).toPrecision(3))} ${name}`;
}

/** A point in virtual time. */
export function clockTime(seconds) {
  const minutes = Math.floor(seconds / 60);
  return minutes > 0 ? `${minutes} min ${(seconds % 60).toFixed(1)} s` : `${seconds.toFixed(2)} s`;
}

/** Changes the document only where something has changed, which is far less than what arrives. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  element.append(...children);
  return element;
}

/** The value of a colour of the style sheet, as it is now. */
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Calls back when the system changes between light and dark. */
export function onColorChange(callback) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', callback);
}

/** Makes a canvas as fine as the screen, and gives its context, scaled to CSS pixels, with its size. */
export function prepareCanvas(canvas) {
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}
