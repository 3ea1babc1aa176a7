"""What a derivation shows besides the claims that it takes, as objects."""

from __future__ import annotations

import json

from fedtheory import claims
from verify import checker
from verify.export import for_all_letters


def test_what_a_limit_rests_on_besides_its_premises_is_checked_by_itself():
    made = for_all_letters.of_derived(claims.get("fedadmm/lemma-C.1/d"))
    assert made
    for one in made:
        assert one["claim"] == "fedadmm/lemma-C.1/d" and "fedadmm/lemma-C.2/c/accuracy-idle" in one["says"][0]
        checker.check(json.dumps(one))
