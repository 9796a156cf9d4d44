// Prints one JSON line with what clients see of tools and structured answers; see NpmClientsTest.
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, Runner, OpenAIProvider, setTracingDisabled, tool as agentTool } from "@openai/agents";

const baseURL = process.argv[2] + "/v1";
const messages = [{ role: "user", content: "Weather?" }];
const City = z.object({ city: z.string() });
const Count = z.object({ n: z.number().int() });
const seen = {};

const openai = new OpenAI({ baseURL, apiKey: "any" });
const weather = { type: "function", function: {
  name: "weather", parameters: z.toJSONSchema(City), parse: JSON.parse, function: () => "sunny" } };
let deltas = 0;
const helper = openai.chat.completions.stream({ model: "m", messages, n: 2, max_completion_tokens: 20 });
helper.on("content", () => deltas++);
seen.openaiHelper = [(await helper.finalChatCompletion()).choices.length, deltas > 2];
const runner = openai.chat.completions.runTools({ model: "m", messages, tools: [weather] });
const said = await runner.finalContent();
seen.openaiTools = [runner.messages.map((message) => message.role).join(), said.length > 0];
const streaming = openai.chat.completions.runTools({
  model: "m", messages, tools: [weather], stream: true });
await streaming.done();
seen.openaiToolsStreamed = streaming.messages.map((message) => message.role).join();
const parsed = openai.chat.completions.stream({ model: "m", messages, response_format: zodResponseFormat(Count, "count") });
seen.openaiParsed = Number.isInteger((await parsed.finalChatCompletion()).choices[0].message.parsed.n);

const vercel = { chat: createOpenAICompatible({ name: "understudy", baseURL, apiKey: "any", supportsStructuredOutputs: true })("m"),
  responses: createOpenAI({ baseURL, apiKey: "any" })("m") };
const tools = { weather: tool({ inputSchema: City, execute: async () => "sunny" }) };
for (const [name, model] of Object.entries(vercel)) {
  const loop = { model, prompt: "Weather?", tools, stopWhen: stepCountIs(3), maxOutputTokens: 50 };
  const whole = await generateText(loop);
  const stream = streamText(loop);
  await stream.consumeStream();
  const object = streamObject({ model, schema: Count, prompt: "Count" });
  for await (const part of object.partialObjectStream) { /* until it is complete */ }
  seen["vercel-" + name] = [whole.steps.length, (await stream.steps).length,
    Number.isInteger((await generateObject({ model, schema: Count, prompt: "Count" })).object.n),
    Number.isInteger((await object.object).n)];
}

const langchain = new ChatOpenAI({ model: "m", apiKey: "any", maxTokens: 50, configuration: { baseURL } });
const bound = langchain.bindTools([{ type: "function", function: { name: "weather", parameters: z.toJSONSchema(City) } }]);
const called = await bound.invoke("Weather?");
let collected;
for await (const piece of await bound.stream("Weather?")) collected = collected ? collected.concat(piece) : piece;
seen.langchain = [called.tool_calls[0].name, typeof collected.tool_calls[0].args.city,
  Number.isInteger((await langchain.withStructuredOutput(Count, { method: "jsonSchema" }).invoke("Count")).n),
  Number.isInteger((await langchain.withStructuredOutput(Count, { method: "functionCalling" }).invoke("Count")).n)];

setTracingDisabled(true);
for (const useResponses of [false, true]) {
  const agents = new Runner({ modelProvider: new OpenAIProvider({ baseURL, apiKey: "any", useResponses }) });
  const agent = new Agent({ name: "forecaster", instructions: "Be brief.", model: "m", modelSettings: { maxTokens: 50 },
    tools: [agentTool({ name: "weather", description: "Weather", parameters: City, execute: async () => "sunny" })] });
  const items = async (run) => (await run).newItems.map((item) => item.type).join();
  const streamed = await agents.run(agent, "Weather?", { stream: true });
  await streamed.completed;
  const typed = await agents.run(new Agent({ name: "counter", model: "m", outputType: Count }), "Count");
  seen[useResponses ? "agentsResponses" : "agentsChat"] = [
    await items(agents.run(agent, "Weather?")), await items(streamed),
    Number.isInteger(typed.finalOutput.n)];
}
console.log(JSON.stringify(seen));
