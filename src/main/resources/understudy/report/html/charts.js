// What all charts share: series, axes, the colours of the reader's system. A chart is an element with a name, a title, and
// for both axes a title and a unit; its series are <data value="path" class="colour">name</data>. A path that leads to a
// list stands for a series for each entry, with the name and the colour that it has.
'use strict';
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const precise = new Intl.NumberFormat('en', { maximumSignificantDigits: 5 });
// A thousand is read at a glance; ten thousand and more are in the way.
const tick = (number) => (Math.abs(number) < 1e4 ? precise : compact).format(number);
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const withUnit = (number, unit) => `${precise.format(number)}${unit === '' ? '' : ` ${unit}`}`;

const NUM_COLORS = 7;
const lineColor = (i) => `line-${i % NUM_COLORS}`;
const painted = (colorName) => ({ colorName, borderColor: color(colorName), backgroundColor: color(colorName) });

const seriesOf = (host) => {
  const all = [...host.querySelectorAll('data')].flatMap((each) => {
    const content = at(each.value);
    if (content === undefined) {
      return [];
    }
    return Array.isArray(content) ? content : [{ name: each.textContent, color: each.className, ...content }];
  });
  return all.map((series, i) => ({ ...series, color: series.color || lineColor(i) }));
};

// A single point is no course, and no constant either.
const isConstant = ({ ys }) => ys.length !== 1 && new Set(ys.filter((y) => y !== null)).size < 2;

const axisOf = (host, name) => ({ title: host.getAttribute(name) ?? '', unit: host.getAttribute(`${name}-unit`) ?? '' });
const isNarrow = () => window.innerWidth < 600;
const axisTitle = ({ title, unit }) => (title === '' || unit === '' ? title + unit : `${title} (${unit})`);
// The end of an axis may be anywhere, and its name would stand on that of the tick before.
const isRegular = (number, ticks) => {
  const step = ticks.length > 1 ? ticks[1].value - ticks[0].value : 1;
  const steps = (number - ticks[0].value) / step;
  return Math.abs(steps - Math.round(steps)) < 1e-6;
};
const scale = (axis, more) => ({
  title: { display: true, text: axisTitle(axis) },
  ticks: {
    maxRotation: 0,
    maxTicksLimit: isNarrow() ? 5 : 8,
    callback: (number, i, ticks) => (isRegular(number, ticks) ? tick(number) : ''),
  },
  grid: {},
  ...more,
});
const linear = (axis) => scale(axis, { type: 'linear', bounds: 'data', beginAtZero: true });

// A logarithmic axis goes from one round number to another: 1, 2 or 5 times a power of ten, which alone have names.
const power = (number) => 10 ** Math.floor(Math.log10(number) + 1e-9);
const isRound = (number) => [1, 2, 5].some((digit) => Math.abs(number / power(number) - digit) < 1e-6);
const below = (number) => power(number) * [5, 2, 1].find((digit) => digit * power(number) <= number * (1 + 1e-9));
const above = (number) => power(number) * [1, 2, 5, 10].find((digit) => digit * power(number) >= number * (1 - 1e-9));
const logarithmic = (axis, numbers) => scale(axis, {
  type: 'logarithmic',
  min: numbers.length > 0 ? below(Math.min(...numbers)) : undefined,
  max: numbers.length > 0 ? above(Math.max(...numbers)) : undefined,
  ticks: { maxRotation: 0, autoSkip: false, callback: (number) => (isRound(number) ? tick(number) : '') },
});

const drawn = [];

// Puts a chart in the place of its element, and draws it.
const draw = (host, config, pixels = 240) => {
  const title = host.getAttribute('title');
  const canvas = element('canvas', { id: host.getAttribute('name'), role: 'img', 'aria-label': title });
  host.replaceWith(element('figure', { class: 'chart' },
    element('figcaption', {}, title),
    element('div', { style: `height:${pixels}px` }, canvas)));
  config.options.animation = false;
  config.options.maintainAspectRatio = false;
  config.options.plugins.legend ??= {
    display: config.data.datasets.length > 1,
    position: 'bottom',
    labels: { boxWidth: 12, boxHeight: 8 },
  };
  drawn.push(new Chart(canvas, config));
};

const paint = () => {
  for (const chart of drawn) {
    chart.data.datasets.forEach((set) => Object.assign(set, painted(set.colorName)));
    chart.options.plugins.legend.labels.color = color('text');
    for (const axis of Object.values(chart.options.scales)) {
      axis.title.color = color('muted');
      axis.ticks.color = color('muted');
      axis.grid.color = color('border');
    }
    chart.update('none');
  }
};
