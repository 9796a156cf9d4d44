// A prompt whose answer streams, by the OpenAI API as any client uses it.

import { byId, duration } from './format.js';
import { errorText, headers } from './keys.js';

/** The texts of a stream's events, one by one. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split('\n\n');
    rest = blocks.pop();
    yield* blocks.filter((block) => block.startsWith('data: ')).map((block) => block.slice('data: '.length));
  }
}

function request(model) {
  return {
    model,
    messages: [{ role: 'user', content: byId('prompt').value }],
    max_tokens: Number(byId('max-tokens').value),
    stream: true,
    stream_options: { include_usage: true },
  };
}

export class Prompt {
  constructor() {
    this.model = undefined;
    this.answer = byId('answer');
    this.usage = byId('usage');
    byId('prompt-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.send();
    });
    byId('stop').addEventListener('click', () => this.abort?.abort());
  }

  say(text, isError = false) {
    this.usage.textContent = text;
    this.usage.classList.toggle('error', isError);
  }

  setBusy(isBusy) {
    byId('send').disabled = isBusy;
    byId('stop').disabled = !isBusy;
    this.answer.setAttribute('aria-busy', String(isBusy));
  }

  async send() {
    this.abort = new AbortController();
    this.answer.textContent = '';
    this.say('waiting for the first token');
    this.setBusy(true);
    try {
      await this.stream();
    } catch (failure) {
      const isStopped = failure.name === 'AbortError';
      this.say(isStopped ? 'stopped' : String(failure.message ?? failure), !isStopped);
    } finally {
      this.setBusy(false);
    }
  }

  async stream() {
    const start = performance.now();
    let ttft;
    let usage;
    const response = await fetch('v1/chat/completions', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers('api-key') },
      body: JSON.stringify(request(this.model)),
      signal: this.abort.signal,
    });
    if (!response.ok) {
      throw new Error(await errorText(response));
    }
    for await (const data of events(response)) {
      if (data === '[DONE]') {
        break;
      }
      const chunk = JSON.parse(data);
      if (chunk.error) {
        throw new Error(chunk.error.message);
      }
      ttft ??= (performance.now() - start) / 1e3;
      usage = chunk.usage ?? usage;
      this.answer.append(chunk.choices[0]?.delta.content ?? '');
    }
    this.say(summary(usage, ttft, (performance.now() - start) / 1e3));
  }
}

function summary(usage, ttft, seconds) {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return `${usage.prompt_tokens} prompt tokens, ${cached} of them cached; ${usage.completion_tokens} output tokens; `
    + `first after ${duration(ttft)}, all after ${duration(seconds)}`;
}
