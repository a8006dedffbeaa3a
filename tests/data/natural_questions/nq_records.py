"""Records of Natural Questions, written by hand: a page as text, answers as words that stand on it."""

import json

LYRA = "<H1> Lyra </H1> <P> Lyra is small . It holds Vega . </P> <P> Vega is bright . Stars move . </P>"


def span(page, words):
    """Where the words first stand among the page's tokens."""
    tokens, wanted = page.split(" "), words.split(" ")
    places = (i for i in range(len(tokens)) if tokens[i : i + len(wanted)] == wanted)
    start = next(places)
    return {"start_token": start, "end_token": start + len(wanted)}


def annotation(page, long=None, *short, yes_no="NONE"):
    nothing = {"start_token": -1, "end_token": -1}
    return {
        "yes_no_answer": yes_no,
        "long_answer": span(page, long) if long else nothing,
        "short_answers": [span(page, words) for words in short],
    }


def record(question, page, *annotations):
    """As the simplified release has it."""
    return {"example_id": 7, "question_text": question, "document_text": page, "annotations": list(annotations)}


def original(simplified):
    """The same record as the original release has it."""
    tokens = simplified["document_text"].split(" ")
    words = [
        {"token": token.replace("_", " "), "start_byte": 0, "end_byte": 0, "html_token": token[0] == "<" != token}
        for token in tokens
    ]
    rest = {key: value for key, value in simplified.items() if key not in ("document_text", "question_text")}
    question = simplified["question_text"].split()
    return rest | {"document_html": "<html>…", "document_tokens": words, "question_tokens": question}


def answered(question="what does lyra hold", page=LYRA):
    return record(question, page, annotation(page, "<P> Lyra is small . It holds Vega . </P>", "Vega"))


def line(record):
    return json.dumps(record) + "\n"


def write_lines(path, *records):
    path.write_text("".join(map(line, records)))
    return path
