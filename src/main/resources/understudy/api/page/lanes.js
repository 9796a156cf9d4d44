// Requests as lanes over virtual time: queued, prefill, decode.

import { byId, color, count, duration, make, onColorChange, prepareCanvas } from './format.js';

const NAMES = ['unknown', 'queued', 'prefill', 'decode', 'bad', 'text', 'muted', 'border'];
const MARGIN = 90;
const SHORTEST = 1;

export class Lanes {
  constructor() {
    this.canvas = byId('lanes');
    this.rows = byId('requests');
    this.readColors();
    onColorChange(() => this.readColors());
  }

  readColors() {
    this.colors = Object.fromEntries(NAMES.map((name) => [name, color(name)]));
  }

  show(requests, now) {
    this.draw(requests, now);
    const numActive = requests.filter((request) => request.end === null).length;
    this.canvas.setAttribute('aria-label', `${numActive} requests in flight, ${requests.length - numActive} ended lately`);
    if (this.rows.closest('details').open) {
      this.rows.replaceChildren(...requests.map((request) => row(request, now)));
    }
  }

  draw(requests, now) {
    const { context, width, height } = prepareCanvas(this.canvas);
    const lane = Math.min(16, (height - 22) / Math.max(1, requests.length));
    const span = Math.max(SHORTEST, now - Math.min(now, ...requests.map((request) => request.arrival)));
    const x = (time) => MARGIN + (time - (now - span)) / span * (width - MARGIN - 8);
    this.axis(context, width, height, span);
    context.font = '10px system-ui, sans-serif';
    requests.forEach((request, i) => this.lane(context, request, x, now, 4 + i * lane, lane));
  }

  axis(context, width, height, span) {
    context.font = '10px system-ui, sans-serif';
    context.fillStyle = this.colors.muted;
    context.strokeStyle = this.colors.border;
    for (let i = 0; i <= 4; i++) {
      const x = MARGIN + i / 4 * (width - MARGIN - 8);
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, height - 16);
      context.stroke();
      const label = i === 4 ? 'now' : `−${duration(span * (4 - i) / 4)}`;
      context.fillText(label, Math.min(x, width - 24), height - 4);
    }
  }

  lane(context, request, x, now, y, lane) {
    const part = (from, to, fill) => {
      context.fillStyle = fill;
      context.fillRect(x(from), y, Math.max(0.5, x(to) - x(from)), Math.max(1, lane - 2));
    };
    if (request.end === null) {
      // How long it was queued is said at its end only.
      part(request.arrival, request.firstToken ?? now, this.colors.unknown);
      part(request.firstToken ?? now, now, this.colors.decode);
    } else if (request.state !== 'completed') {
      part(request.arrival, request.end, this.colors.bad);
    } else {
      part(request.arrival, request.scheduled, this.colors.queued);
      part(request.scheduled, request.firstToken, this.colors.prefill);
      part(request.firstToken, request.end, this.colors.decode);
    }
    if (lane >= 9) {
      context.fillStyle = this.colors.text;
      const where = request.replica === null ? '' : ` → ${request.replica}`;
      context.fillText(`${request.id}${where}`, 4, y + lane / 2 + 3);
    }
  }
}

function row(request, now) {
  const cells = [
    request.id,
    request.replica ?? '–',
    request.state,
    count(request.promptTokens),
    request.cachedTokens === null ? '–' : count(request.cachedTokens),
    count(request.outputTokens),
    duration(request.firstToken === null ? null : request.firstToken - request.arrival),
    duration((request.end ?? now) - request.arrival),
  ];
  return make('tr', '', ...cells.map((text) => make('td', '', String(text))));
}
