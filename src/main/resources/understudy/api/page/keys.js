// The keys that a server may ask for; kept for this tab only.

import { byId } from './format.js';

for (const id of ['admin-token', 'api-key']) {
  const input = byId(id);
  input.value = sessionStorage.getItem(id) ?? '';
  input.addEventListener('change', () => sessionStorage.setItem(id, input.value));
}

/** The headers that carry a key, if there is one. */
export function headers(id) {
  const key = byId(id).value;
  return key === '' ? {} : { Authorization: `Bearer ${key}` };
}

/** The words of an error of the server, whichever shape they have. */
export async function errorText(response) {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text);
    return typeof error === 'string' ? error : error.message;
  } catch {
    return `${response.status} ${response.statusText}`;
  }
}
