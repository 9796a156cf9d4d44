// Prints one JSON line with what each client has seen; see NpmClientsTest.
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { generateText, jsonSchema, streamText, tool } from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";

const baseURL = process.argv[2] + "/v1";
const long = "Tell me about systems that serve. ".repeat(15);
const seen = {};

const openai = new OpenAI({ baseURL, apiKey: "any" });
const plain = await openai.chat.completions.create({
  model: "m", messages: [{ role: "user", content: "Hello" }], max_completion_tokens: 8 });
seen.openaiPlain = plain.choices[0].message.content.length > 0;

const Tree = z.object({
  code: z.string().regex(/^[A-Z]{3}-[0-9]{2}$/), mail: z.email(), get kids() { return z.array(Tree); } });
const tree = await openai.chat.completions.parse({
  model: "m", messages: [{ role: "user", content: "Hello" }], response_format: zodResponseFormat(Tree, "tree") });
seen.openaiTree = Tree.safeParse(tree.choices[0].message.parsed).success;

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

let unbroken = 0;
try {
  for await (const chunk of await openai.chat.completions.create({
    // The broken token is the last one: giving up on it leaves nothing to abort.
    model: "m", messages: [{ role: "user", content: "x" }], max_completion_tokens: 3, stream: true, ignore_eos: true },
    { headers: { "X-Understudy-Malformed-At-Token": "3" } })) unbroken++;
} catch (error) {
  seen.openaiMalformed = [unbroken, error.name];
}

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

// The default model of this one talks to /v1/responses.
const byDefault = createOpenAI({ baseURL, apiKey: "any" })("m");
const first = await generateText({ model: byDefault, prompt: "Hello " + long, maxOutputTokens: 40 });
seen.defaultPlain = first.text.length > 0;
seen.defaultUsage = [first.usage.outputTokens, first.finishReason];
const second = await generateText({ model: byDefault, maxOutputTokens: 16, messages: [
  { role: "user", content: "Hello " + long }, ...first.response.messages, { role: "user", content: "And then?" }] });
seen.defaultCached = [first.usage.inputTokens, second.usage.inputTokens, second.usage.cachedInputTokens];
const events = streamText({ model: byDefault, prompt: "Hello", maxOutputTokens: 16 });
let pieces = 0;
for await (const piece of events.textStream) pieces++;
seen.defaultStream = [pieces > 1, (await events.usage).outputTokens, await events.finishReason];
const weather = tool({ description: "Weather", inputSchema: jsonSchema({
  type: "object", properties: { city: { type: "string" } }, required: ["city"] }) });
const called = await generateText({ model: byDefault, prompt: "Weather?", tools: { weather }, toolChoice: "required" });
seen.defaultTool = [called.toolCalls[0].toolName, typeof called.toolCalls[0].input.city];
const answered = await generateText({ model: byDefault, tools: { weather }, toolChoice: "none", maxOutputTokens: 16, messages: [
  { role: "user", content: "Weather?" }, ...called.response.messages, { role: "tool", content: [{
    type: "tool-result", toolCallId: called.toolCalls[0].toolCallId, toolName: "weather",
    output: { type: "text", value: "sunny" } }] }] });
seen.defaultToolResult = answered.text.length > 0;
const calling = streamText({ model: byDefault, prompt: "Weather?", tools: { weather }, toolChoice: "required" });
seen.defaultToolStream = [(await calling.toolCalls)[0].toolName, await calling.finishReason];
const system = await generateText({ model: byDefault, system: "Be brief", prompt: "Hello", temperature: 0.5, maxOutputTokens: 16 });
seen.defaultSystem = system.text.length > 0;
try {
  await generateText({ model: createOpenAI({ baseURL, apiKey: "any" })("unknown"), prompt: "x", maxRetries: 0 });
} catch (error) {
  seen.defaultError = [error.statusCode, error.message];
}

const langchain = new ChatOpenAI({ model: "m", apiKey: "any", maxTokens: 8, configuration: { baseURL } });
seen.langchainPlain = (await langchain.invoke("Hello")).content.length > 0;
let parts = 0;
for await (const piece of await langchain.stream("Hello")) parts++;
seen.langchainStream = parts > 1;

console.log(JSON.stringify(seen));
