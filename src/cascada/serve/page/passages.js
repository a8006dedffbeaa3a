"use strict";
// What the page shows of texts: answers in their paragraphs, the documents they are from, and pruned passages.

const STRONG = 0.5; // the score from which on a sentence is probably an answer

// A sentence in its text: the higher its score, the stronger the mark.
function marked(text, score, place) {
  const mark = element("mark", score < STRONG ? "weak" : "", text);
  mark.style.setProperty("--strength", `${Math.round(15 + 85 * score)}%`);
  if (place !== undefined) mark.dataset.place = place;
  return mark;
}

// A text with some parts of it, each {start, end, node}, replaced by their nodes.
function withParts(text, parts) {
  const whole = element("p", "passage");
  let end = 0;
  for (const part of [...parts].sort((a, b) => a.start - b.start)) {
    whole.append(text.slice(end, part.start), part.node);
    end = part.end;
  }
  whole.append(text.slice(end));
  return whole;
}

function drawAnswers(response) {
  const none = !response.answers.length ? "No paragraph shares a word with the question." : "";
  const unlikely = response.likely === false ? "Nothing here is likely to be an answer." : "";
  say(none || unlikely || (response.complete ? "" : "The deadline stopped the cascade: these are its best answers so far."));
  drawFacts([[String(response.passages), "paragraphs found"], [String(response.sentences), "sentences ranked"], [percent(1 - response.relative_cost), "of the cost saved"]]);
  const names = shortNames(response.answers);
  $("answers").replaceChildren(...byParagraph(response.answers).map((answers) => paragraph(answers, names)));
  show("answers");
}

// Answers of one paragraph together, which is shown once; paragraphs in the order of their best answer.
function byParagraph(answers) {
  const groups = new Map();
  answers.forEach((answer, place) => {
    const key = `${answer.document_id} ${answer.passage.start}`;
    groups.set(key, [...(groups.get(key) || []), { ...answer, place: place + 1 }]);
  });
  return [...groups.values()];
}

function paragraph(answers, names) {
  const item = element("li");
  const passage = answers[0].passage;
  const where = element("p", "where");
  for (const answer of answers) {
    const score = element("span", `score${answer.score < STRONG ? " weak" : ""}`, answer.score.toFixed(3));
    score.dataset.place = answer.place;
    where.append(score);
  }
  where.append(documentLink(answers[0], names));
  const parts = answers.map((answer) => ({
    start: answer.start - passage.start, end: answer.end - passage.start, node: marked(answer.text, answer.score, answer.place),
  }));
  item.append(where, withParts(passage.text, parts));
  return item;
}

const steps = (document) => document.split(/[\\/]/);

// Documents by their file names, without the server's folders; with one folder where two have the same name.
function shortNames(answers) {
  const documents = [...new Set(answers.map((answer) => answer.document))];
  const last = documents.map((document) => steps(document).at(-1));
  return new Map(documents.map((document, number) => {
    const shared = last.filter((name) => name === last[number]).length > 1;
    return [document, steps(document).slice(shared ? -2 : -1).join("/")];
  }));
}

function documentLink(answer, names) {
  const place = answer.line ? `, line ${answer.line}` : answer.page ? `, page ${answer.page}` : "";
  const link = element("button", "quiet link", `${names.get(answer.document)}${place}`);
  link.type = "button";
  link.addEventListener("click", () => openDocument(answer, names.get(answer.document)));
  return link;
}

// The whole document as the index has it, with the answer in view.
async function openDocument(answer, name) {
  try {
    const content = await get(`/v1/documents/${answer.document_id}`);
    $("name").textContent = name;
    $("text").replaceChildren(...content.passages.map((passage) => {
      const inside = passage.start <= answer.start && answer.end <= passage.end;
      const part = { start: answer.start - passage.start, end: answer.end - passage.start, node: marked(answer.text, 1) };
      return withParts(passage.text, inside ? [part] : []);
    }));
    $("document").showModal();
    const found = $("text").querySelector("mark");
    if (found) found.scrollIntoView({ block: "center" });
  } catch (error) {
    say(error instanceof TypeError ? "The server cannot be reached." : error.message, true);
  }
}

function drawPruned(response) {
  const unlikely = response.likely === false ? "Nothing here is likely to be an answer." : "";
  say(unlikely || (response.complete ? "" : "The deadline stopped the cascade: this is chosen by its last finished exit."));
  const sentences = response.passages.flatMap((passage) => passage.sentences);
  const kept = sentences.filter((sentence) => sentence.kept).length;
  drawFacts([[percent(response.share_cut), "of the text cut"], [`${kept} of ${sentences.length}`, "sentences kept"], [time(last.ms), "round trip"]]);
  $("pruned").replaceChildren(...response.passages.map((passage) => prunedPassage(passage, last.texts[passage.index])));
  show("pruned");
}

// A passage with its best sentence highlighted and what is cut crossed out; beside it what is left.
function prunedPassage(passage, text) {
  const item = element("li");
  const best = Math.max(...passage.sentences.map((sentence) => sentence.score || 0));
  const parts = passage.sentences.map((sentence) => {
    const wins = sentence.kept && sentence.score === best;
    return { ...sentence, node: wins ? marked(sentence.text, sentence.score) : element("span", sentence.kept ? "kept" : "cut", sentence.text) };
  });
  const left = element("p", passage.text ? "left" : "left nothing", passage.text || "nothing is kept");
  item.append(withParts(text, parts), left);
  return item;
}
