// Controls of the clock and of replicas, by the routes under /admin.

import { byId } from './format.js';
import { errorText, headers } from './keys.js';

function say(text, isError = false) {
  const message = byId('message');
  message.textContent = text;
  message.classList.toggle('error', isError);
}

async function post(path, body, done) {
  const request = { method: 'POST', headers: headers('admin-token') };
  if (body !== undefined) {
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  try {
    const response = await fetch(`admin/${path}`, request);
    if (response.ok) {
      say(done);
    } else {
      say(await errorText(response), true);
    }
  } catch (failure) {
    say(String(failure), true);
  }
}

/** Does to a replica what a button of its card says. */
export function act(replica, what) {
  if (what === 'slow' || what === 'fast') {
    const factor = what === 'slow' ? 3 : 1;
    return post('faults', { do: 'slow-gpu', replica, factor }, `replica ${replica}: steps take ${factor} times as long`);
  }
  return post(`replicas/${replica}/${what}`, undefined, `replica ${replica}: ${what} done`);
}

let shownSpeed;

/** Selects the speed of the server's clock when that has changed; else what somebody is about to choose stays. */
export function showSpeed(clock) {
  const speed = clock.speed === null ? 'max' : String(clock.speed);
  if (clock.mode === 'paused' || speed === shownSpeed) {
    return;
  }
  shownSpeed = speed;
  const select = byId('speed');
  if (![...select.options].some((option) => option.value === speed)) {
    select.add(new Option(`${speed} ×`, speed));
  }
  select.value = speed;
}

/** Makes the buttons of the control bar work. */
export function connectControls() {
  const run = () => {
    const speed = byId('speed').value;
    return post(`clock/run?speed=${speed}`, undefined, speed === 'max' ? 'as fast as possible' : `running at ${speed} ×`);
  };
  byId('pause').addEventListener('click', () => post('clock/pause', undefined, 'paused'));
  byId('step').addEventListener('click', () => post('clock/step', undefined, 'one step further'));
  byId('run').addEventListener('click', run);
  byId('add-replica').addEventListener('click', () => post('replicas', undefined, 'a replica was added'));
}
