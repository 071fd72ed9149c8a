#!/usr/bin/env bash
# From nothing to answers: environment, models, the sample diary, its suggested questions. Run it again: what is done is skipped.
source "$(dirname "$0")/common.sh"
MODEL="${PGMEM_QUICKSTART_MODEL:-auto}"

stage "Install into .venv"
install ""
stage "Get the models"
.venv/bin/python scripts/download_models.py "$MODEL" minilm
stage "Read the sample diary into .quickstart"
.venv/bin/pgmem ingest pgmem_local/samples/quickstart_diary.jsonl --home .quickstart
stage "Answer the suggested questions"
.venv/bin/python scripts/suggested_questions.py --home .quickstart --least "${PGMEM_QUICKSTART_LEAST:-4}"
stage ""
echo
echo "Now try:  .venv/bin/pgmem me --home .quickstart"
echo "          .venv/bin/pgmem chat --home .quickstart"
