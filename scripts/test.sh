#!/usr/bin/env bash
# The tests, real-model ones included, in the same .venv as the quick start. Arguments go to pytest.
source "$(dirname "$0")/common.sh"

stage "Install into .venv, with what tests need"
install "[test]"
stage "Get the test models"
.venv/bin/python scripts/download_models.py smollm2-135m gemma-3-270m minilm
stage "Test"
.venv/bin/python -m pytest "$@"
stage ""
