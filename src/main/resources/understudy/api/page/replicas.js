// A card for each replica.

import { byId, count, make, setText, shortCount } from './format.js';
import { Sparkline } from './sparkline.js';

const MANY = 12;
const ACTIONS = [
  ['drain', 'Drain', ['ready']],
  ['resume', 'Resume', ['draining']],
  ['restart', 'Restart', ['down']],
  ['slow', 'Slow × 3', ['ready', 'draining']],
  ['fast', 'Normal speed', ['ready', 'draining']],
];
// What loses calls or cannot be taken back stands apart.
const DANGERS = [
  ['crash', 'Crash', ['ready', 'draining', 'starting']],
  ['remove', 'Remove', ['ready', 'draining', 'down']],
];

// What is in slower memories, and how fast KV moves.
function transfers({ tiers = [], transferGbPerSecond = 0 }) {
  const parts = tiers.map(({ name, used, total }) => `${name} ${shortCount(used)} of ${shortCount(total)} blocks`);
  return transferGbPerSecond > 0 ? [...parts, `${transferGbPerSecond.toFixed(1)} GB/s moved`].join(', ') : parts.join(', ');
}

class Card {
  constructor(index, isDense, act) {
    this.state = make('span', 'state');
    this.figures = ['running', 'waiting', 'tokensPerStep'].map(() => make('dd', ''));
    this.used = make('span', 'used');
    this.cached = make('span', 'cached');
    this.kv = make('p', 'kv');
    this.tiers = make('p', 'kv');
    const canvas = make('canvas');
    canvas.setAttribute('aria-hidden', 'true');
    this.spark = new Sparkline(canvas);
    const bar = make('div', 'bar', this.used, this.cached);
    bar.setAttribute('aria-hidden', 'true');
    const labels = ['running', 'waiting', 'tokens/step'];
    const numbers = make('dl', 'numbers', ...labels.map((label, i) =>
      make('div', '', make('dt', '', label), this.figures[i])));
    this.role = make('span', 'role');
    const title = make('h3', '', `Replica ${index}`, this.state, this.role);
    this.element = make('li', 'card', title, numbers, canvas, bar, this.kv, this.tiers,
      this.controls(index, isDense, act));
    this.element.dataset.replica = index;
  }

  controls(index, isDense, act) {
    this.buttons = [];
    const group = (className, actions) => make('div', className, ...actions.map(([what, label, states]) => {
      const button = make('button', actions === DANGERS ? 'danger' : '', label);
      button.type = 'button';
      button.dataset.action = what;
      button.setAttribute('aria-label', `${label}, replica ${index}`);
      button.addEventListener('click', () => act(index, what));
      this.buttons.push({ button, states });
      return button;
    }));
    const details = make('details', '', make('summary', '', 'Control'),
      group('actions', ACTIONS), group('actions apart', DANGERS));
    details.firstChild.setAttribute('aria-label', `Control of replica ${index}`);
    details.open = !isDense;
    this.details = details;
    return details;
  }

  show(replica) {
    if (this.element.dataset.state !== replica.state) {
      this.element.dataset.state = replica.state;
      setText(this.state, replica.state);
      this.buttons.forEach(({ button, states }) => { button.disabled = !states.includes(replica.state); });
    }
    setText(this.figures[0], count(replica.running));
    setText(this.figures[1], count(replica.waiting));
    setText(this.figures[2], count(replica.tokensPerStep));
    const { used, cached, free, total } = replica.kv;
    this.used.style.width = `${100 * used / Math.max(1, total)}%`;
    this.cached.style.width = `${100 * cached / Math.max(1, total)}%`;
    setText(this.kv, `KV ${shortCount(used)} used, ${shortCount(cached)} cached, ${shortCount(free)} free`);
    setText(this.role, replica.role ?? '');
    setText(this.tiers, transfers(replica));
    this.spark.add(replica.tokensPerStep);
    this.spark.draw();
  }
}

export class Replicas {
  /** @param act does something to a replica: (index, what) */
  constructor(act) {
    this.act = act;
    this.list = byId('replicas');
    this.cards = [];
  }

  show(replicas) {
    const isDense = replicas.length > MANY;
    if (isDense !== this.list.classList.contains('dense')) {
      this.list.classList.toggle('dense', isDense);
      this.cards.forEach((card) => { card.details.open = !isDense; });
    }
    for (let i = this.cards.length; i < replicas.length; i++) {
      const card = new Card(i, isDense, this.act);
      this.cards.push(card);
      this.list.append(card.element);
    }
    replicas.forEach((replica, i) => this.cards[i].show(replica));
  }

  /** Says which replicas are in another state than before: for those who do not see the cards. */
  changes(replicas) {
    const before = this.before;
    this.before = replicas.map((replica) => replica.state);
    return before === undefined ? [] : this.before.flatMap((state, i) =>
      (state === before[i] ? [] : [`replica ${i} is ${state}`]));
  }
}
