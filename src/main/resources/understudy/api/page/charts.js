// Latency percentiles over time, by Chart.js.

import { byId, clockTime, color, duration, make, onColorChange } from './format.js';

const KINDS = [['ttft', 'Time to first token'], ['itl', 'Inter-token latency'], ['e2e', 'End to end']];
const PERCENTILES = ['p50', 'p95', 'p99'];
const MAX_POINTS = 300;

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
      data: { labels: [], datasets: PERCENTILES.map((label) => ({ label, data: [], pointRadius: 0, borderWidth: 1.5, spanGaps: true })) },
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
      interaction: { mode: 'index', intersect: false },
      plugins: {
        title: { display: true, text: this.title },
        legend: { position: 'bottom', labels: { boxWidth: 12 } },
        tooltip: { callbacks: { label: (item) => `${item.dataset.label} ${duration(item.parsed.y)}` } },
      },
      scales: {
        x: { ticks: { ...ticks }, grid: {} },
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

  clear() {
    this.chart.data.labels.length = 0;
    this.chart.data.datasets.forEach((set) => { set.data.length = 0; });
  }

  add(points) {
    const { labels, datasets } = this.chart.data;
    for (const point of points) {
      labels.push(clockTime(point.virtualSeconds));
      PERCENTILES.forEach((name, i) => datasets[i].data.push(point[this.kind][name]));
    }
    const surplus = Math.max(0, labels.length - MAX_POINTS);
    labels.splice(0, surplus);
    datasets.forEach((set) => set.data.splice(0, surplus));
    this.chart.update('none');
    const latest = points[points.length - 1][this.kind];
    const words = PERCENTILES.map((name) => `${name} ${duration(latest[name])}`).join(', ');
    this.canvas.setAttribute('aria-label', `${this.title}: ${words}`);
  }
}

export class Charts {
  constructor() {
    this.charts = KINDS.map(([kind, title]) => new LatencyChart(kind, title));
    this.latest = -1;
    onColorChange(() => this.charts.forEach((chart) => chart.paint()));
  }

  /** Takes the points of a server that may be another one than before. */
  replace(points) {
    this.latest = -1;
    this.charts.forEach((chart) => chart.clear());
    this.add(points);
  }

  /** Takes points, of which some may be known already. */
  add(points) {
    const fresh = points.filter((point) => point.number > this.latest);
    if (fresh.length > 0) {
      this.latest = fresh[fresh.length - 1].number;
      this.charts.forEach((chart) => chart.add(fresh));
    }
  }
}
