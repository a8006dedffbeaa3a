"""Each layout is read from a small file in its real form."""

import json

import pytest

from cascada.data import Candidate, Group, read


@pytest.fixture
def file(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8"))
        return path

    return write


def groups(layout, path):
    return list(read(f"{layout}:{path}"))


def test_wikiqa_with_seven_columns_keeps_the_ids_of_questions_and_sentences(file):
    path = file(
        "WikiQA-dev.tsv",
        "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
        "Q1\twho wrote it?\tD1\tA title\tD1-0\tNobody knows.\t0\n"
        "Q1\twho wrote it?\tD1\tA title\tD1-1\tAda wrote it.\t1\n"
        "Q2\twhen?\tD2\tA title\tD2-0\tIn 1843.\t1\n",
    )
    assert groups("wikiqa", path) == [
        Group("who wrote it?", (Candidate("Nobody knows.", 0, "D1-0"), Candidate("Ada wrote it.", 1, "D1-1")), "Q1"),
        Group("when?", (Candidate("In 1843.", 1, "D2-0"),), "Q2"),
    ]


def test_two_wikiqa_questions_with_the_same_words_and_different_ids_are_two_groups(file):
    head = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"
    path = file("x.tsv", head + "Q1\twho?\tD1\tT\tD1-0\tA.\t0\nQ2\twho?\tD2\tT\tD2-0\tB.\t1\n")
    assert [group.id for group in groups("wikiqa", path)] == ["Q1", "Q2"]


def test_wikiqa_with_three_columns_has_no_header_and_no_quoting(file):
    path = file("WikiQA-dev.txt", 'who ?\t" Open quote\t0\nwho ?\tclose " quote\t1\n')
    assert groups("wikiqa", path) == [Group("who ?", (Candidate('" Open quote', 0), Candidate('close " quote', 1)))]


def test_trecqa_jsonl_keeps_question_ids(file):
    record = {"id": "1.1", "question": "who ?", "candidates": [{"sentence": "he .", "label": 1}]}
    path = file("train.jsonl", json.dumps(record) + "\n")
    assert groups("trecqa", path) == [Group("who ?", (Candidate("he .", 1),), "1.1")]


TREC_XML = """<QApairs id='1.1'>
<question>
What\tis\tR&D\t<\t5\t?
WP\tVBZ\tNN\tSYM\tCD\t.
</question>
<positive>
R&D\tis\t<unknown>\t.
NN\tVBZ\tNN\t.
1\t2\t3\t4
</positive>
<negative>
Not\tthis\t.
RB\tDT\t.
</negative>
</QApairs>
<QApairs id="1.2">
<question>
Who\t?
WP\t.
</question>
</QApairs>
"""


def test_trecqa_xml_takes_the_first_line_of_each_element_and_minds_no_bare_ampersand(file):
    assert groups("trecqa", file("train.xml", TREC_XML)) == [
        Group("What is R&D < 5 ?", (Candidate("R&D is <unknown> .", 1), Candidate("Not this .", 0)), "1.1"),
        Group("Who ?", (), "1.2"),
    ]


def test_asnq_has_four_grades_of_which_only_the_fourth_is_correct_and_quotes_are_ordinary(file):
    path = file("train.tsv", 'who"s there\t"A\t1\nwho"s there\tB"\t2\nwho"s there\tC\t3\nwho"s there\t""D\t4\n')
    (group,) = groups("asnq", path)
    assert group.texts == ('"A', 'B"', "C", '""D')
    assert group.labels == (0, 0, 0, 1)
    assert [candidate.grade for candidate in group.candidates] == [1, 2, 3, 4]


def test_qnli_labels_are_words_and_its_index_becomes_the_candidate_id(file):
    path = file(
        "dev.tsv",
        "index\tquestion\tsentence\tlabel\n"
        "0\tWhat came?\tIt came.\tentailment\n"
        "1\tWho?\tNobody.\tnot_entailment\n"
        '2\tWhat came?\tA "thing.\tnot_entailment\n',
    )
    assert groups("qnli", path) == [
        Group("What came?", (Candidate("It came.", 1, "0"), Candidate('A "thing.', 0, "2"))),
        Group("Who?", (Candidate("Nobody.", 0, "1"),)),
    ]


def test_qnli_without_labels_is_read_as_unlabelled(file):
    (group,) = groups("qnli", file("test.tsv", "index\tquestion\tsentence\n0\tWhat?\tIt.\n"))
    assert group.candidates == (Candidate("It.", None, "0"),)


def test_selqa_answers_are_indices_of_its_candidates(file):
    # From SelQA (Apache-2.0, Emory NLP).
    entry = {
        "question": "Who is on drums?",
        "article": "How to Save a Life",
        "answers": [3],
        "candidates": [
            "Isaac Slade - lead vocals, piano",
            "Joe King - guitars, bass, backing vocals",
            "Dave Welsh - guitars",
            "Ben Wysocki - drums, percussion",
        ],
    }
    (group,) = groups("selqa", file("selqa-ass-dev.json", json.dumps([entry])))
    assert group.labels == (0, 0, 0, 1)
    assert group.texts == tuple(entry["candidates"])


def test_the_candidates_of_a_squad_question_are_the_sentences_of_its_paragraph(file):
    # From XQuAD (CC BY-SA 4.0, DeepMind), after SQuAD.
    context = (
        "A piece of paper was later found on which Luther had written his last statement. "
        'The statement was in Latin, apart from "We are beggars," which was in German.'
    )
    asked = [
        {
            "id": "a",
            "question": "What was later found?",
            "answers": [{"answer_start": 61, "text": "his last statement"}],
        },
        {"id": "b", "question": "In what language?", "answers": [{"answer_start": 102, "text": "Latin"}]},
        {"id": "c", "question": "Why?", "answers": []},
    ]
    document = {"data": [{"paragraphs": [{"context": "No.", "qas": []}, {"context": context, "qas": asked}]}]}
    found = groups("squad", file("dev-v1.1.json", json.dumps(document)))
    assert [(group.id, group.labels) for group in found] == [("a", (1, 0)), ("b", (0, 1)), ("c", (0, 0))]
    assert [candidate.id for candidate in found[0].candidates] == ["2-1", "2-2"]
    assert " ".join(found[0].texts) == context


@pytest.mark.parametrize(
    "records",
    [
        [{"question": "who?", "candidates": [{"text": "he", "label": 1}, {"sentence": "she", "label": 0}]}],
        [{"question": "who?", "sentence": "he", "label": 1}, {"question": "who?", "text": "she", "label": 0}],
    ],
    ids=["a group a line", "a pair a line"],
)
def test_gpd_is_read_by_group_or_by_pair(file, records):
    path = file("train.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    assert groups("gpd", path) == [Group("who?", (Candidate("he", 1), Candidate("she", 0)))]


@pytest.mark.parametrize("column", ["sentence", "text", "candidate", "answer"])
def test_csv_columns_are_found_by_name_and_quoted_texts_may_span_lines(file, column):
    path = file("mine.csv", f'label,{column},question\n1,"a ""b"", c\nd",who?\n0,e,who?\n')
    assert list(read(path)) == [Group("who?", (Candidate('a "b", c\nd', 1), Candidate("e", 0)))]


def test_csv_ids_are_kept_where_there_are_some(file):
    path = file("mine.csv", "question_id,question,id,text,label\n7,who?,a,he,1\n")
    assert list(read(path)) == [Group("who?", (Candidate("he", 1, "a"),), "7")]


def test_our_jsonl_takes_labels_ids_and_grades_or_leaves_them_out(file):
    line = '{"question": "q", "candidates": [{"text": "a"}, {"text": "b", "label": 0, "id": 3, "grade": 2}], "x": 1}\n'
    assert list(read(file("mine.jsonl", line))) == [Group("q", (Candidate("a"), Candidate("b", 0, "3", 2)))]
