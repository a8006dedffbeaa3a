"use strict";
// The page of a Cascada server: sends what is typed to /v1/rank or /v1/ask and draws what comes back.

const $ = (id) => document.getElementById(id);
const SHOWN = 40; // bars at first; the rest on demand
const PAUSE = 180; // ms after the last move of the slider
let about = { exits: [], asks: false };
let everyone = false;
let last = null; // the last ranking, and how long it took to come
let turn = 0; // answers to older requests are not drawn

const EXAMPLE = {
  question: "who wrote hamlet?",
  candidates: [
    "Hamlet is set in Denmark and depicts Prince Hamlet and his revenge against his uncle.",
    "The Tragedy of Hamlet, Prince of Denmark, is a tragedy written by William Shakespeare around 1600.",
    "It is Shakespeare's longest play, with 29,551 words.",
    "Three different early versions of the play are extant.",
    "A hamlet is a small human settlement.",
    "The role of Hamlet was almost certainly created for Richard Burbage.",
    "Many works have been pointed to as sources for the play.",
    "Kronborg castle in Elsinore is where the play is set.",
    "Ophelia's brother Laertes leaves for France.",
    "In his day, Shakespeare's plays were performed at the Globe.",
    "The play was one of Shakespeare's most popular works during his lifetime.",
    "Thomas Kyd wrote The Spanish Tragedy.",
  ],
};

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text; // never as HTML: texts come from anywhere
  return made;
}

function settings() {
  const drop = Number($("drop").value);
  const deadline = Number($("deadline").value);
  return { ...(drop >= 0 && { drop: drop / 100 }), ...(deadline > 0 && { deadline_ms: deadline }) };
}

function showDrop() {
  const drop = Number($("drop").value);
  const words = drop < 0 ? "by the model’s own plan" : drop === 0 ? "nobody" : `${drop} %`;
  $("dropped").textContent = words;
  $("drop").setAttribute("aria-valuetext", words);
}

const mode = () => new FormData($("form")).get("mode") || "rank";

async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  if ($("key").value) headers.Authorization = `Bearer ${$("key").value}`;
  const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const found = await response.json().catch(() => ({}));
  if (response.status === 401) $("door").open = true;
  if (!response.ok) throw new Error((found.error && found.error.message) || `The server answered ${response.status}.`);
  return found;
}

async function go() {
  const asked = ++turn;
  const question = $("question").value.trim();
  const candidates = $("candidates").value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (!question) return say("Type a question first.", true);
  if (mode() === "rank" && !candidates.length) return say("Put in candidates, one a line.", true);
  $("result").setAttribute("aria-busy", "true");
  const started = performance.now();
  try {
    const body = mode() === "ask" ? { question, top: 5 } : { question, candidates };
    const found = await post(mode() === "ask" ? "/v1/ask" : "/v1/rank", { ...body, ...settings() });
    if (asked !== turn) return;
    if (mode() === "ask") drawAnswers(found);
    else drawRanking(found, performance.now() - started);
  } catch (error) {
    if (asked === turn) say(error instanceof TypeError ? "The server cannot be reached." : error.message, true);
  } finally {
    if (asked === turn) $("result").setAttribute("aria-busy", "false");
  }
}

function say(words, wrong = false) {
  $("message").textContent = words;
  $("message").className = wrong ? "hint wrong" : "hint";
  $("message").hidden = !words;
  if (wrong) ["facts", "lanes", "answers"].forEach((id) => ($(id).hidden = true));
}

function drawFacts(facts) {
  $("facts").replaceChildren(...facts.map(([value, name]) => {
    const fact = element("div");
    fact.append(element("b", "", value), element("span", "", name));
    return fact;
  }));
  $("facts").hidden = false;
}

const percent = (share) => `${Math.round(share * 100)} %`;
const time = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`);

function drawRanking(ranking, ms) {
  last = [ranking, ms];
  const ran = ranking.stages.filter((stage) => stage.candidates > 0);
  const computed = 1000 * ran.reduce((sum, stage) => sum + stage.seconds, 0);
  say(ranking.complete ? "" : "The deadline stopped the cascade: this is the order its last finished exit gave.");
  const several = ranking.stages.length > 1;
  drawFacts([
    [String(ranking.items.length), ranking.items.length === 1 ? "candidate" : "candidates"],
    ...(several ? [[percent(1 - ranking.relative_cost), "of the cost saved"]] : []),
    [time(computed), "computing"], [time(ms), "until it was here"],
  ]);
  drawExits(ran);
  drawBars(ranking, ran);
  $("lanes").hidden = false;
  $("answers").hidden = true;
}

function drawExits(ran) {
  const track = element("div", "track");
  ran.forEach((stage, place) => {
    const lane = element("div");
    const next = ran[place + 1];
    const fell = next ? stage.candidates - next.candidates : 0;
    lane.append(element("b", "", stage.exit ? String(stage.exit) : "start"), element("span", "", `${stage.candidates} in`));
    lane.append(element("span", "fallen", fell ? `−${fell}` : ""), element("span", "", time(1000 * stage.seconds)));
    track.append(lane);
  });
  $("exits").replaceChildren(element("span", "", ran.some((stage) => stage.exit) ? "layer" : ""), track, element("span"), element("span"));
}

function drawBars(ranking, ran) {
  const before = new Map([...$("bars").children].map((row) => [row.dataset.index, row.offsetTop]));
  const items = everyone ? ranking.items : ranking.items.slice(0, SHOWN);
  const heat = heats(ranking.items, ran.length);
  $("bars").replaceChildren(...items.map((item, place) => bar(item, place, ran, heat)));
  for (const row of $("bars").children) move(row, before.get(row.dataset.index));
  const rest = ranking.items.length - items.length;
  $("more").hidden = !rest && !(everyone && ranking.items.length > SHOWN);
  $("more").textContent = rest ? `Show ${rest} more` : "Show fewer";
}

// How strong a bar is at each exit: the best there full, the worst faint.
function heats(items, exits) {
  return Array.from({ length: exits }, (_, exit) => {
    const order = items.filter((item) => item.scores.length > exit).sort((a, b) => b.scores[exit] - a.scores[exit]);
    return new Map(order.map((item, place) => [item.index, 1 - (0.65 * place) / Math.max(order.length - 1, 1)]));
  });
}

function bar(item, place, ran, heat) {
  const fell = item.scores.length < ran.length;
  const row = element("li");
  row.dataset.index = item.index;
  const button = element("button", `bar${place === 0 ? " first" : ""}${fell ? " out" : ""}`);
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  const where = fell ? `fell at layer ${item.exit}` : "stayed to the end";
  button.setAttribute("aria-label", `${place + 1}. ${item.text} Score ${item.score.toFixed(3)}, ${where}`);
  const track = element("span", "track");
  ran.forEach((stage, exit) => {
    const out = fell && exit === item.scores.length - 1;
    const cell = element("span", `cell${exit < item.scores.length ? " ran" : ""}${out ? " fell" : ""}`);
    cell.style.setProperty("--heat", (heat[exit].get(item.index) || 0).toFixed(2));
    if (exit < item.scores.length) cell.title = `${item.scores[exit].toFixed(2)} at ${stage.exit ? `layer ${stage.exit}` : "start"}`;
    track.append(cell);
  });
  const text = element("span", "text", item.text + (item.truncated ? " […]" : ""));
  button.append(element("span", "place", String(place + 1)), track, element("span", "score", item.score.toFixed(3)), text);
  button.addEventListener("click", () => button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true")));
  row.append(button);
  return row;
}

// A bar that changed its place slides there.
function move(row, from) {
  if (from === undefined || from === row.offsetTop || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  row.style.transition = "none";
  row.style.transform = `translateY(${from - row.offsetTop}px)`;
  requestAnimationFrame(() => requestAnimationFrame(() => { row.style.transition = ""; row.style.transform = ""; }));
}

function drawAnswers(found) {
  const none = !found.answers.length ? "Nothing was found that shares a word with the question." : "";
  const unlikely = found.likely === false ? "Nothing here is likely to be an answer." : "";
  say(none || unlikely || (found.complete ? "" : "The deadline stopped the cascade: this is what it knew by then."));
  drawFacts([[String(found.passages), "paragraphs found"], [String(found.sentences), "sentences ranked"], [percent(1 - found.relative_cost), "of the cost saved"]]);
  $("answers").replaceChildren(...found.answers.map(answer));
  $("answers").hidden = false;
  $("lanes").hidden = true;
}

function answer(one) {
  const start = one.start - one.passage.start;
  const item = element("li");
  const text = element("p");
  text.append(one.passage.text.slice(0, start), element("mark", "", one.text), one.passage.text.slice(start + one.text.length));
  const place = one.line ? `, line ${one.line}` : one.page ? `, page ${one.page}` : "";
  item.append(text, element("p", "where", `${one.document}${place} · ${one.score.toFixed(3)}`));
  return item;
}

function switchMode() {
  $("given").hidden = mode() === "ask";
  $("go").textContent = mode() === "ask" ? "Ask" : "Rank";
}

async function greet() {
  try {
    const response = await fetch("/ready");
    about = { ...about, ...(await response.json()) };
    const exits = about.exits.filter(Boolean);
    const where = exits.length > 1 ? `, exits after layers ${exits.join(", ")}` : "";
    $("model").textContent = response.ok ? `${about.model}${where}` : "the model is warming up …";
    $("modes").hidden = !about.asks;
    if (!response.ok) setTimeout(greet, 700);
  } catch {
    $("model").textContent = "the server cannot be reached";
    setTimeout(greet, 3000);
  }
}

let pause;
$("drop").addEventListener("input", () => {
  showDrop();
  clearTimeout(pause);
  if (last || !$("answers").hidden) pause = setTimeout(go, PAUSE);
});
$("form").addEventListener("submit", (event) => { event.preventDefault(); go(); });
$("form").addEventListener("change", (event) => { if (event.target.name === "mode") switchMode(); });
$("candidates").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go(); });
$("example").addEventListener("click", () => { $("question").value = EXAMPLE.question; $("candidates").value = EXAMPLE.candidates.join("\n"); go(); });
$("more").addEventListener("click", () => { everyone = !everyone; if (last) drawRanking(...last); });
showDrop();
greet();
