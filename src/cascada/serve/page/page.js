"use strict";
// The web page of a Cascada server: sends what is typed to /v1/rank, /v1/prune or /v1/ask and draws the response.

const $ = (id) => document.getElementById(id);
const SHOWN = 40; // bars drawn at first; the rest on demand
const PAUSE = 180; // ms to wait after the last move of the slider
let server = { exits: [], asks: false };
let showAll = false;
let last = null; // the last response, the texts that were sent, and the time until it arrived
let latest = 0; // number of the latest request; responses to older ones are not drawn

const EXAMPLE = {
  questions: { rank: "who wrote hamlet?", prune: "when was Hamlet written?" },
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
  passages: [
    "The Tragedy of Hamlet, Prince of Denmark, usually shortened to Hamlet, is a tragedy. It was written by William Shakespeare between 1599 and 1601. It is his longest play. Set in Denmark, the play depicts Prince Hamlet and his attempts to exact revenge against his uncle.",
    "Shakespeare's plays were performed at the Globe. The theatre burned down in 1613. Many believe that between 1599 and 1601 Shakespeare wrote Hamlet for his own company. The role was almost certainly created for Richard Burbage.",
    "A hamlet is a small human settlement. In different countries, a hamlet is about the size of a town, village or parish.",
  ],
};

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text; // never as HTML: texts are not trusted
  return node;
}

function settings() {
  if (mode() === "prune") {
    const budget = Number($("budget").value);
    return { min_relative_score: Number($("relative").value) / 100, ...(budget > 0 && { budget }) };
  }
  const drop = Number($("drop").value);
  const deadline = Number($("deadline").value);
  return { ...(drop >= 0 && { drop: drop / 100 }), ...(deadline > 0 && { deadline_ms: deadline }) };
}

function showDrop() {
  const drop = Number($("drop").value);
  const words = drop < 0 ? "by the model’s own plan" : drop === 0 ? "nothing" : `${drop} %`;
  $("dropped").textContent = words;
  $("drop").setAttribute("aria-valuetext", words);
}

function showShare() {
  const words = `${$("relative").value} % of the best score`;
  $("share").textContent = words;
  $("relative").setAttribute("aria-valuetext", words);
}

const mode = () => new FormData($("form")).get("mode") || "rank";

const post = (path, body) => call(path, { method: "POST", body: JSON.stringify(body) });
const get = (path) => call(path, {});

async function call(path, request) {
  const headers = { "Content-Type": "application/json" };
  if ($("key").value) headers.Authorization = `Bearer ${$("key").value}`;
  const response = await fetch(path, { ...request, headers });
  const content = await response.json().catch(() => ({}));
  if (response.status === 401) $("access").open = true;
  if (!response.ok) throw new Error((content.error && content.error.message) || `The server answered ${response.status}.`);
  return content;
}

async function go() {
  const number = ++latest;
  const question = $("question").value.trim();
  const chosen = mode();
  const texts = typedTexts();
  if (!question) return say("Type a question first.", true);
  if (chosen !== "ask" && !texts.length) return say(`Enter ${WHOSE[chosen].toLowerCase()}.`, true);
  $("result").setAttribute("aria-busy", "true");
  const started = performance.now();
  try {
    const own = { rank: { candidates: texts }, prune: { passages: texts }, ask: { top: 5 } }[chosen];
    const content = await post(`/v1/${chosen}`, { question, ...own, ...settings() });
    if (number !== latest) return;
    last = { content, texts, ms: performance.now() - started };
    ({ rank: drawRanking, prune: drawPruned, ask: drawAnswers })[chosen](content);
  } catch (error) {
    if (number === latest) say(error instanceof TypeError ? "The server cannot be reached." : error.message, true);
  } finally {
    if (number === latest) $("result").setAttribute("aria-busy", "false");
  }
}

const WHOSE = { rank: "Candidates, one per line", prune: "Passages, with an empty line between them" };
const BUTTONS = { rank: "Rank", prune: "Prune", ask: "Ask" };

// Candidates are lines; passages are divided by empty lines.
function typedTexts() {
  const texts = $("candidates").value.split(mode() === "prune" ? /\n[^\S\n]*\n/ : "\n");
  return texts.map((text) => text.trim()).filter(Boolean);
}

// Show one kind of result, and none of the others.
function show(wanted) {
  ["lanes", "answers", "pruned"].forEach((id) => ($(id).hidden = id !== wanted));
}

function say(words, wrong = false) {
  $("message").textContent = words;
  $("message").className = wrong ? "hint wrong" : "hint";
  $("message").hidden = !words;
  if (!wrong) return;
  show(null);
  $("facts").hidden = true;
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

function drawRanking(ranking) {
  const named = ranking.stages.map((stage, place, all) => ({ ...stage, name: stageName(stage, place === all.length - 1) }));
  const ran = named.filter((stage) => stage.candidates > 0);
  const computed = 1000 * ran.reduce((sum, stage) => sum + stage.seconds, 0);
  say(ranking.complete ? "" : "The deadline stopped the cascade: this is the order at its last finished exit.");
  const isCascade = ranking.stages.length > 1;
  drawFacts([
    [String(ranking.items.length), ranking.items.length === 1 ? "candidate" : "candidates"],
    ...(isCascade ? [[percent(1 - ranking.relative_cost), "of the cost saved"]] : []),
    [time(computed), "computing"], [time(last.ms), "round trip"],
  ]);
  drawExits(ran);
  drawBars(ranking, ran);
  show("lanes");
}

// A stage without layers is exit 0 of what follows, if it computes anything; BM25, which does not, is the start.
function stageName(stage, isLast) {
  if (stage.exit) return `layer ${stage.exit}`;
  return !isLast && (stage.flops || stage.cached) ? "exit 0" : "start";
}

function drawExits(ran) {
  const track = element("div", "track");
  ran.forEach((stage, place) => {
    const lane = element("div");
    const next = ran[place + 1];
    const dropped = next ? stage.candidates - next.candidates : 0;
    lane.append(element("b", "", stage.exit ? String(stage.exit) : stage.name), element("span", "", `${stage.candidates} in`));
    lane.append(element("span", "count-dropped", dropped ? `−${dropped}` : ""), element("span", "", time(1000 * stage.seconds)));
    track.append(lane);
  });
  $("exits").replaceChildren(element("span", "", ran.some((stage) => stage.exit) ? "layer" : ""), track, element("span"), element("span"));
}

function drawBars(ranking, ran) {
  const before = new Map([...$("bars").children].map((row) => [row.dataset.index, row.offsetTop]));
  const items = showAll ? ranking.items : ranking.items.slice(0, SHOWN);
  const intensity = intensities(ranking.items, ran.length);
  $("bars").replaceChildren(...items.map((item, place) => bar(item, place, ran, intensity)));
  for (const row of $("bars").children) move(row, before.get(row.dataset.index));
  const rest = ranking.items.length - items.length;
  $("more").hidden = !rest && !(showAll && ranking.items.length > SHOWN);
  $("more").textContent = rest ? `Show ${rest} more` : "Show fewer";
}

// The intensity of each bar at each exit: from full for the best candidate to faint for the worst.
function intensities(items, exits) {
  return Array.from({ length: exits }, (_, exit) => {
    const order = items.filter((item) => item.scores.length > exit).sort((a, b) => b.scores[exit] - a.scores[exit]);
    return new Map(order.map((item, place) => [item.index, 1 - (0.65 * place) / Math.max(order.length - 1, 1)]));
  });
}

function bar(item, place, ran, intensity) {
  const dropped = item.scores.length < ran.length;
  const row = element("li");
  row.dataset.index = item.index;
  const button = element("button", `bar${place === 0 ? " first" : ""}${dropped ? " out" : ""}`);
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  const where = dropped ? `dropped at ${ran[item.scores.length - 1].name}` : "survived to the end";
  button.setAttribute("aria-label", `${place + 1}. ${item.text} Score ${item.score.toFixed(3)}, ${where}`);
  const track = element("span", "track");
  ran.forEach((stage, exit) => {
    const out = dropped && exit === item.scores.length - 1;
    const cell = element("span", `cell${exit < item.scores.length ? " ran" : ""}${out ? " dropped" : ""}`);
    cell.style.setProperty("--intensity", (intensity[exit].get(item.index) || 0).toFixed(2));
    if (exit < item.scores.length) cell.title = `${item.scores[exit].toFixed(2)} at ${stage.name}`;
    track.append(cell);
  });
  const text = element("span", "text", item.text + (item.truncated ? " […]" : ""));
  button.append(element("span", "place", String(place + 1)), track, element("span", "score", item.score.toFixed(3)), text);
  button.addEventListener("click", () => button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true")));
  row.append(button);
  return row;
}

// Slide a bar whose place has changed from its old place.
function move(row, from) {
  if (from === undefined || from === row.offsetTop || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  row.style.transition = "none";
  row.style.transform = `translateY(${from - row.offsetTop}px)`;
  requestAnimationFrame(() => requestAnimationFrame(() => { row.style.transition = ""; row.style.transform = ""; }));
}

function switchMode() {
  const chosen = mode();
  $("own").hidden = chosen === "ask";
  $("whose").textContent = WHOSE[chosen] || "";
  $("keeping").hidden = chosen !== "prune";
  $("dropping").hidden = chosen === "prune";
  $("go").textContent = BUTTONS[chosen];
}

function insertExample() {
  $("question").value = EXAMPLE.questions[mode()];
  $("candidates").value = mode() === "prune" ? EXAMPLE.passages.join("\n\n") : EXAMPLE.candidates.join("\n");
  go();
}

async function checkServer() {
  try {
    const response = await fetch("/ready");
    server = { ...server, ...(await response.json()) };
    const exits = server.exits.filter(Boolean);
    const where = exits.length > 1 ? `, exits after layers ${exits.join(", ")}` : "";
    $("model").textContent = response.ok ? `${server.model}${where}` : "the model is warming up …";
    $("asks").hidden = !server.asks;
    if (!response.ok) setTimeout(checkServer, 700);
  } catch {
    $("model").textContent = "the server cannot be reached";
    setTimeout(checkServer, 3000);
  }
}

let pause;
for (const [slider, showValue] of [["drop", showDrop], ["relative", showShare]]) {
  $(slider).addEventListener("input", () => {
    showValue();
    clearTimeout(pause);
    if (last) pause = setTimeout(go, PAUSE);
  });
}
$("form").addEventListener("submit", (event) => { event.preventDefault(); go(); });
$("form").addEventListener("change", (event) => { if (event.target.name === "mode") switchMode(); });
$("candidates").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) go(); });
$("example").addEventListener("click", insertExample);
$("more").addEventListener("click", () => { showAll = !showAll; if (last) drawRanking(last.content); });
$("close").addEventListener("click", () => $("document").close());
showDrop();
showShare();
switchMode(); // a browser may remember what was chosen
checkServer();
