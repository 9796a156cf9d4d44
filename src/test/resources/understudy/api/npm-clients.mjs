// Prints one JSON line with what each client has seen; see NpmClientsTest.
import OpenAI from "openai";
import { generateText, streamText } from "ai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";

const baseURL = process.argv[2] + "/v1";
const long = "Tell me about systems that serve. ".repeat(15);
const seen = {};

const openai = new OpenAI({ baseURL, apiKey: "any" });
const plain = await openai.chat.completions.create({
  model: "m", messages: [{ role: "user", content: "Hello" }], max_completion_tokens: 8 });
seen.openaiPlain = plain.choices[0].message.content.length > 0;

const chunks = [];
for await (const chunk of await openai.chat.completions.create({
  model: "m", messages: [{ role: "user", content: "Hello" }], max_completion_tokens: 8, stream: true,
  stream_options: { include_usage: true } })) chunks.push(chunk);
seen.openaiUsage = chunks.at(-1).usage.completion_tokens;

const messages = [{ role: "user", content: "openai-node " + long }];
seen.openaiCached = [];
for (let turn = 0; turn < 3; turn++) {
  const answer = await openai.chat.completions.create({ model: "m", messages, max_completion_tokens: 40 });
  seen.openaiCached.push(answer.usage.prompt_tokens_details.cached_tokens);
  messages.push(answer.choices[0].message, { role: "user", content: "And then?" });
}

try {
  await openai.chat.completions.create({ model: "m", messages: [{ role: "user", content: "x" }], temperature: 9 });
} catch (error) {
  seen.openaiError = [error.status, error.type, error.message.includes("temperature")];
}

const abort = new AbortController();
let aborted = 0;
try {
  for await (const chunk of await openai.chat.completions.create({
    model: "m", messages: [{ role: "user", content: "x" }], max_completion_tokens: 1900, stream: true,
    ignore_eos: true }, { signal: abort.signal })) if (++aborted === 3) abort.abort();
} catch (error) { /* some versions throw, others end the loop */ }
seen.openaiAborted = aborted;

const response = await openai.responses.create({ model: "m", input: "Hello", max_output_tokens: 16 });
seen.openaiResponses = response.output_text.length > 0;

const vercel = createOpenAICompatible({ name: "understudy", baseURL, apiKey: "any", includeUsage: true })("m");
const text = await generateText({ model: vercel, prompt: "Hello", maxOutputTokens: 8 });
seen.vercelPlain = text.text.length > 0;
const stream = streamText({ model: vercel, prompt: "Hello", maxOutputTokens: 8 });
let streamed = "";
for await (const part of stream.textStream) streamed += part;
seen.vercelStream = streamed.length > 0;
seen.vercelUsage = (await stream.usage).outputTokens;

const langchain = new ChatOpenAI({ model: "m", apiKey: "any", maxTokens: 8, configuration: { baseURL } });
seen.langchainPlain = (await langchain.invoke("Hello")).content.length > 0;
let pieces = 0;
for await (const piece of await langchain.stream("Hello")) pieces++;
seen.langchainStream = pieces > 1;

console.log(JSON.stringify(seen));
