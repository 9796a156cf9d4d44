// Latency percentiles over virtual time, by Chart.js.

import { byId, clockTime, color, duration, make, onColorChange, roundTime, setText } from './format.js';

const KINDS = [['ttft', 'Time to first token'], ['itl', 'Inter-token latency'], ['e2e', 'End to end']];
const PERCENTILES = ['p50', 'p95', 'p99'];
const MAX_POINTS = 300;

// Windows in seconds, and the steps of their axes.
const WINDOWS = [[60, 15], [300, 60], [900, 180], [3600, 900], [21600, 5400], [86400, 21600], [604800, 172800]];

// Points so many times further apart than usual have a gap between them: the clock has jumped.
const JUMP = 5;

class LatencyChart {
  constructor(kind, title) {
    this.kind = kind;
    this.title = title;
    this.canvas = make('canvas');
    this.canvas.setAttribute('role', 'img');
    this.canvas.id = `chart-${kind}`;
    byId('charts').append(make('div', 'chart', make('h3', 'unseen', title), make('div', '', this.canvas)));
    this.chart = new globalThis.Chart(this.canvas, {
      type: 'line',
      data: { datasets: PERCENTILES.map((label) => ({ label, data: [], pointRadius: radius, borderWidth: 1.5 })) },
      options: this.options(),
    });
    this.paint();
  }

  options() {
    const ticks = { maxRotation: 0, autoSkip: true, maxTicksLimit: 6 };
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      interaction: { mode: 'index', intersect: false },
      plugins: {
        title: { display: true, text: this.title },
        legend: { position: 'bottom', labels: { boxWidth: 12 } },
        tooltip: {
          callbacks: {
            title: ([item]) => (item ? clockTime(item.raw.at) : ''),
            label: (item) => `${item.dataset.label} ${duration(item.parsed.y)}`,
          },
        },
      },
      scales: {
        x: {
          type: 'linear',
          max: 0,
          ticks: { ...ticks, callback: (value) => (value === 0 ? 'now' : `−${roundTime(-value)}`) },
          grid: {},
        },
        y: { beginAtZero: true, ticks: { ...ticks, callback: (value) => duration(value) }, grid: {} },
      },
    };
  }

  paint() {
    const { options, data } = this.chart;
    data.datasets.forEach((set, i) => {
      set.borderColor = color(PERCENTILES[i]);
      set.backgroundColor = color(PERCENTILES[i]);
    });
    options.plugins.title.color = color('text');
    options.plugins.legend.labels.color = color('muted');
    for (const scale of Object.values(options.scales)) {
      scale.ticks.color = color('muted');
      scale.grid.color = color('border');
    }
    this.chart.update('none');
  }

  /** @param points those of the window, a null where there is a gap; their times are before now */
  show(points, now, [length, step]) {
    const { x } = this.chart.options.scales;
    x.min = -length;
    x.ticks.stepSize = step;
    PERCENTILES.forEach((name, i) => {
      this.chart.data.datasets[i].data = points.map(({ virtualSeconds, [this.kind]: values }) =>
        ({ x: virtualSeconds - now, y: values?.[name] ?? null, at: virtualSeconds }));
    });
    this.chart.update('none');
    const latest = points[points.length - 1][this.kind];
    const words = PERCENTILES.map((name) => `${name} ${duration(latest[name])}`).join(', ');
    this.canvas.setAttribute('aria-label', `${this.title}: ${words}`);
  }
}

/** A point between two gaps has no line, so it is a dot. */
function radius({ dataset: { data }, dataIndex: i }) {
  const isGap = (at) => (data[at]?.y ?? null) === null;
  return isGap(i - 1) && isGap(i + 1) ? 1.5 : 0;
}

/** Puts a point without values where the clock has jumped. */
function withGaps(points) {
  const steps = points.slice(1).map((point, i) => point.virtualSeconds - points[i].virtualSeconds);
  const usual = [...steps].sort((a, b) => a - b)[steps.length >> 1];
  return points.flatMap((point, i) =>
    (i > 0 && steps[i - 1] > JUMP * usual ? [{ virtualSeconds: points[i - 1].virtualSeconds }, point] : [point]));
}

export class Charts {
  constructor() {
    this.charts = KINDS.map(([kind, title]) => new LatencyChart(kind, title));
    this.select = byId('window');
    this.select.addEventListener('change', () => this.draw());
    this.points = [];
    onColorChange(() => this.charts.forEach((chart) => chart.paint()));
  }

  /** Takes the points of a server that may be another one than before. */
  replace(points) {
    this.points = [];
    this.add(points);
  }

  /** Takes points, of which some may be known already. */
  add(points) {
    const latest = this.points[this.points.length - 1]?.number ?? -1;
    const fresh = points.filter((point) => point.number > latest);
    if (fresh.length > 0) {
      this.points = [...this.points, ...fresh].slice(-MAX_POINTS);
      this.draw();
    }
  }

  draw() {
    if (this.points.length === 0) {
      return;
    }
    const now = this.points[this.points.length - 1].virtualSeconds;
    const window = this.window(now - this.points[0].virtualSeconds);
    setText(byId('latency-title'), `Latency, last ${roundTime(window[0])}`);
    const shown = withGaps(this.points).filter(({ virtualSeconds }) => virtualSeconds >= now - window[0]);
    this.charts.forEach((chart) => chart.show(shown, now, window));
  }

  /** The window that was chosen; else the shortest that has all points, or the longest. */
  window(age) {
    const chosen = Number(this.select.value);
    return WINDOWS.find(([length]) => (chosen > 0 ? length === chosen : length >= age)) ?? WINDOWS[WINDOWS.length - 1];
  }
}
