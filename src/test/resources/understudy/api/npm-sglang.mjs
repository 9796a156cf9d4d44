// Prints one JSON line with what OpenAI's client has seen of a server in SGLang's dialect; see NpmClientsTest.
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const openai = new OpenAI({ baseURL: process.argv[2] + "/v1", apiKey: "any" });
const hello = [{ role: "user", content: "Hello" }];
const seen = {};

seen.models = [];
for await (const model of openai.models.list()) seen.models.push(model.id);

const plain = await openai.chat.completions.create({
  model: "m", messages: hello, max_completion_tokens: 8, ignore_eos: true });
seen.plain = [plain.choices[0].message.content.length > 0, plain.choices[0].finish_reason,
  plain.usage.completion_tokens];

const chunks = [];
for await (const chunk of await openai.chat.completions.create({
  model: "m", messages: hello, max_completion_tokens: 8, ignore_eos: true, stream: true,
  stream_options: { include_usage: true } })) chunks.push(chunk);
seen.streamed = [chunks.some((chunk) => chunk.choices[0]?.delta.content), chunks.at(-1).usage.completion_tokens];

const completion = await openai.completions.create({ model: "m", prompt: "Hello", max_tokens: 4, ignore_eos: true });
seen.completion = [completion.choices[0].text.length > 0, completion.usage.completion_tokens];

const City = z.object({ name: z.string(), size: z.number() });
const city = await openai.chat.completions.parse({
  model: "m", messages: hello, response_format: zodResponseFormat(City, "city") });
seen.parsed = City.safeParse(city.choices[0].message.parsed).success;

const called = await openai.chat.completions.create({
  model: "m", messages: hello, tool_choice: "required", tools: [{ type: "function", function: { name: "weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } }] });
seen.tool = called.choices[0].message.tool_calls[0].function.name;

try {
  await openai.chat.completions.create({ model: "m", messages: hello, top_p: 9 });
} catch (error) {
  seen.error = error.status;
}

const messages = [{ role: "user", content: "Tell me about systems that serve. ".repeat(15) }];
seen.cached = [];
for (let turn = 0; turn < 2; turn++) {
  const answer = await openai.chat.completions.create({ model: "m", messages, max_completion_tokens: 20 });
  seen.cached.push(answer.usage.prompt_tokens_details?.cached_tokens ?? 0);
  messages.push(answer.choices[0].message, { role: "user", content: "And then?" });
}

const abort = new AbortController();
seen.aborted = 0;
try {
  for await (const chunk of await openai.chat.completions.create({
    model: "m", messages: hello, max_completion_tokens: 1900, stream: true, ignore_eos: true },
    { signal: abort.signal })) if (++seen.aborted === 3) abort.abort();
} catch (error) { /* some versions throw, others end the loop */ }

console.log(JSON.stringify(seen));
