// Prints one JSON line with what Anthropic's client has seen; see NpmClientsTest.
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { z } from "zod";

const client = new Anthropic({ baseURL: process.argv[2], apiKey: "any", maxRetries: 0 });
const question = { model: "m", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] };
const City = z.object({ city: z.string() });
const seen = {};

seen.models = (await client.models.list()).data.map((model) => model.id);
const plain = await client.messages.create({ ...question, system: [{ type: "text", text: "Be brief." }] });
seen.plain = [plain.type, plain.role, plain.content.length, plain.content[0].type, plain.stop_reason];
seen.plainText = plain.content[0].text.length > 0;

const heard = { text: "", events: [] };
const stream = client.messages.stream(question);
stream.on("text", (piece) => { heard.text += piece; });
stream.on("streamEvent", (event) => heard.events.push(event.type));
const final = await stream.finalMessage();
seen.stream = [heard.events.at(0), heard.events.at(-1), final.role, final.content[0].text === heard.text];
const counted = await client.messages.countTokens({ model: "m", messages: question.messages });
seen.counted = counted.input_tokens === final.usage.input_tokens;

const weather = betaZodTool({ name: "weather", description: "Weather", inputSchema: City, run: () => "sunny" });
const runner = client.beta.messages.toolRunner({ ...question, tools: [weather] });
seen.runner = [];
for await (const message of runner) seen.runner.push(message.stop_reason, message.content[0].type);
const tools = [{ name: "weather", input_schema: z.toJSONSchema(City) }];
const using = client.messages.stream({ ...question, tools, tool_choice: { type: "any" } });
let pieces = 0;
using.on("inputJson", () => pieces++);
const used = await using.finalMessage();
seen.toolStream = [used.stop_reason, used.content[0].name, typeof used.content[0].input.city, pieces > 1];
const count = zodOutputFormat(z.object({ n: z.number().int() }));
seen.parsed = Number.isInteger(
  (await client.messages.parse({ ...question, output_config: { format: count } })).parsed_output.n);

for (const [name, fields] of Object.entries({ unknown: { model: "other" }, hot: { temperature: 9 }, none: { max_tokens: 0 } })) {
  try {
    await client.messages.create({ ...question, ...fields });
  } catch (error) {
    seen[name] = [error.constructor.name, error.status, error.type];
  }
}

// The answer repeats the question, and would last 5 s.
const given = client.messages.stream({
  ...question, max_tokens: 1000, messages: [{ role: "user", content: "road ".repeat(1000) }] });
let events = 0;
try {
  for await (const event of given) if (++events === 4) given.abort();
} catch (error) {
  seen.aborted = error.constructor.name;
}
console.log(JSON.stringify(seen));
