// The live page: takes snapshots from the server, and hands their parts to those who show them.

import { Charts } from './charts.js';
import { act, connectControls, showSpeed } from './controls.js';
import { Decisions } from './decisions.js';
import { byId, clockTime, count, duration, make, percent, setText } from './format.js';
import { Lanes } from './lanes.js';
import { Prompt } from './prompt.js';
import { Replicas } from './replicas.js';

const STATS = [
  ['Running', (t) => count(t.running)],
  ['Waiting', (t) => count(t.waiting)],
  ['Finished', (t) => count(t.finished)],
  ['Failed', (t) => count(t.failed)],
  ['Prompt tokens/s', (t) => count(t.promptTokensPerSecond)],
  ['Output tokens/s', (t) => count(t.outputTokensPerSecond)],
  ['Prefix-cache hits', (t) => (t.prefixQueries === 0 ? '–' : percent(t.prefixHits / t.prefixQueries))],
  ['KV in use', (t) => percent(t.kvUsage)],
  ['Preemptions', (t) => count(t.preemptions)],
];

const figures = STATS.map(([label]) => {
  const figure = make('dd', '', '–');
  byId('stats').append(make('div', '', make('dt', '', label), figure));
  return figure;
});
const charts = new Charts();
const decisions = new Decisions();
const lanes = new Lanes();
const prompt = new Prompt();
const replicas = new Replicas(act);
connectControls();

function showClock(clock) {
  showSpeed(clock);
  setText(byId('clock-mode'), clock.mode);
  setText(byId('clock-speed'), clock.speed === null ? '–' : `${clock.speed} ×`);
  setText(byId('clock-time'), clockTime(clock.virtualSeconds));
  setText(byId('lateness'), `${duration(clock.latenessP50)} / ${duration(clock.latenessP99)}`);
}

function show(snapshot) {
  prompt.model = snapshot.model;
  setText(byId('model'), snapshot.model);
  setText(byId('policy'), snapshot.policy);
  showClock(snapshot.clock);
  STATS.forEach(([, text], i) => setText(figures[i], text(snapshot.totals)));
  replicas.show(snapshot.replicas);
  const changes = replicas.changes(snapshot.replicas);
  if (changes.length > 0) {
    setText(byId('message'), changes.slice(0, 4).join(', '));
  }
  decisions.show(snapshot.decisions);
  lanes.show(snapshot.requests, snapshot.clock.virtualSeconds);
  charts.add(snapshot.latency);
}

let isShown = false;

// Until the first snapshot there is nothing to show but that.
function showFirst() {
  isShown = true;
  byId('before').hidden = true;
  byId('facts').hidden = false;
  byId('content').hidden = false;
}

function setConnection(text, className) {
  const badge = byId('connection');
  setText(badge, text);
  badge.className = `badge ${className}`;
}

// The browser connects again by itself when the connection is lost.
const source = new EventSource('live/events');
source.addEventListener('open', () => {
  if (isShown) {
    setConnection('live', 'live');
  }
});
source.addEventListener('error', () => {
  setConnection('connection lost', 'lost');
  setText(byId('before'), 'The server does not answer; this page tries again by itself.');
});
source.addEventListener('history', (event) => charts.replace(JSON.parse(event.data)));
source.addEventListener('snapshot', (event) => {
  if (!isShown) {
    showFirst();
    setConnection('live', 'live');
  }
  show(JSON.parse(event.data));
});
