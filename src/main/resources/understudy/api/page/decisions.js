// What the router has decided, and by which scores.

import { byId, clockTime, count, make } from './format.js';

export class Decisions {
  constructor() {
    this.rows = byId('decisions');
    this.newest = null;
  }

  /** @param decisions newest first */
  show(decisions) {
    const newest = decisions.length === 0 ? null : decisions[0].number;
    if (newest !== this.newest) {
      this.newest = newest;
      this.rows.replaceChildren(...decisions.map(row));
    }
  }
}

function row(decision) {
  const candidates = decision.candidates.map((candidate) => candidateText(candidate, decision.replica));
  const more = decision.replicas - candidates.length;
  const cells = [
    [clockTime(decision.virtualSeconds)],
    [String(decision.request)],
    [String(decision.replica)],
    [decision.rule],
    more > 0 ? [...candidates, `and ${more} more`] : candidates,
  ];
  return make('tr', '', ...cells.map((content) => make('td', '', ...content)));
}

function candidateText(candidate, chosen) {
  const parts = Object.entries(candidate.parts).map(([name, value]) => `${name} ${count(value)}`).join(', ');
  const isChosen = candidate.replica === chosen;
  return make('span', isChosen ? 'candidate chosen' : 'candidate', `#${candidate.replica}: ${parts}`);
}
