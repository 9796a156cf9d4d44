// Draws the charts of a page from the data in it; all tables are there without.
'use strict';
(() => {
  const { charts } = JSON.parse(document.getElementById('data').textContent);
  const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
  const precise = new Intl.NumberFormat('en', { maximumSignificantDigits: 5 });
  // A thousand is read at a glance; ten thousand and more are in the way.
  const tick = (number) => (Math.abs(number) < 1e4 ? precise : compact).format(number);
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const withUnit = (text, unit) => (unit === '' ? text : `${text} ${unit}`);
  const value = (number, unit) => withUnit(precise.format(number), unit);

  const NARROW_PIXELS = 600;
  const isNarrow = () => window.innerWidth < NARROW_PIXELS;
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
  const linear = (axis) => scale(axis, { type: 'linear', bounds: 'data', beginAtZero: true });

  const painted = (colorName) => ({ colorName, borderColor: color(colorName), backgroundColor: color(colorName) });

  const line = (chart) => ({
    type: 'line',
    data: {
      datasets: chart.series.map((series) => ({
        label: series.name,
        ...painted(series.color),
        data: series.xs.map((x, i) => ({ x, y: series.ys[i] })),
        pointRadius: series.xs.length > 24 ? 0 : 3,
        pointHitRadius: 8,
        borderWidth: 1.8,
        borderJoinStyle: 'round',
      })),
    },
    options: {
      parsing: false,
      normalized: true,
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: chart.kind === 'log-line' ? logarithmic(chart.x, chart.series.flatMap(({ xs }) => xs)) : linear(chart.x),
        y: scale(chart.y, { beginAtZero: true }),
      },
      plugins: {
        tooltip: { callbacks: {
          title: ([item]) => (item ? value(item.parsed.x, chart.x.unit) : ''),
          label: (item) => `${item.dataset.label}: ${value(item.parsed.y, chart.y.unit)}`,
        } },
      },
    },
  });

  const points = (chart) => {
    const numbers = chart.series.flatMap(({ xs, ys }) => [...xs, ...ys]);
    const ends = numbers.length > 0 ? [below(Math.min(...numbers)), above(Math.max(...numbers))] : [];
    return {
      type: 'scatter',
      data: {
        datasets: [
          ...chart.series.map((series) => ({
            label: series.name,
            ...painted(series.color),
            data: series.xs.map((x, i) => ({ x, y: series.ys[i] })),
          })),
          { label: 'equal', ...painted('muted'), data: ends.map((x) => ({ x, y: x })), showLine: true, pointRadius: 0, borderWidth: 1 },
        ],
      },
      options: {
        scales: { x: logarithmic(chart.x, numbers), y: logarithmic(chart.y, numbers) },
        plugins: {
          tooltip: { callbacks: { label: ({ dataset, parsed }) => `${dataset.label}: ${chart.x.title} ${value(parsed.x, chart.x.unit)}, ${chart.y.title} ${value(parsed.y, chart.y.unit)}` } },
        },
      },
    };
  };

  const bars = (chart) => ({
    type: 'bar',
    data: {
      labels: chart.labels,
      datasets: chart.series.map((series) => ({ label: series.name, ...painted(series.color), data: series.ys })),
    },
    options: {
      scales: {
        x: scale(chart.x, { ticks: { maxRotation: 0 } }),
        y: scale(chart.y, { beginAtZero: true }),
      },
      plugins: {
        tooltip: { callbacks: { label: (item) => `${item.dataset.label}: ${value(item.parsed.y, chart.y.unit)}` } },
      },
    },
  });

  // A row for each label, in which all series have their bars.
  const lanes = (chart) => ({
    type: 'bar',
    data: {
      labels: chart.labels,
      datasets: chart.series.map((series) => ({
        label: series.name,
        ...painted(series.color),
        data: series.ys.map((row, i) => ({ y: chart.labels[row], x: [series.xs[i], series.ends[i]] })),
        grouped: false,
        barPercentage: 1,
        categoryPercentage: 0.8,
        minBarLength: 1,
      })),
    },
    options: {
      indexAxis: 'y',
      scales: {
        x: linear(chart.x),
        y: scale(chart.y, { ticks: { font: { size: 10 } } }),
      },
      plugins: {
        tooltip: { callbacks: {
          title: ([item]) => (item ? `${chart.y.title} ${item.label}` : ''),
          label: (item) => {
            const [from, to] = item.raw.x;
            return `${item.dataset.label}: from ${value(from, chart.x.unit)}, for ${value(to - from, chart.x.unit)}`;
          },
        } },
      },
    },
  });

  const KINDS = { line, 'log-line': line, points, bars, lanes };
  const drawn = charts.map((chart) => {
    const config = KINDS[chart.kind](chart);
    config.options.animation = false;
    config.options.maintainAspectRatio = false;
    config.options.plugins.legend = {
      display: chart.series.length > 1,
      position: 'bottom',
      labels: { boxWidth: 12, boxHeight: 8 },
    };
    return new Chart(document.getElementById(chart.id), config);
  });

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
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  paint();
})();
