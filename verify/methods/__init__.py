"""The methods of checking, in the order in which they run: what refutes first, then what shows most."""

from __future__ import annotations

from fedtheory import extras

# A method that lacks its solver must not pass for one that found nothing.
extras.require()

from verify.methods import (  # noqa: E402
    admissible_readings,
    all_states,
    any_data,
    citation,
    client_by_client,
    derivation,
    determinants,
    edges,
    entry_by_entry,
    experiment,
    grid_runs,
    growth,
    identities,
    induction,
    invariants,
    late_rounds,
    long_runs,
    moments,
    multipliers,
    number_types,
    polynomials,
    read_code,
    real_closed_fields,
    runs,
    search,
    second_moments,
    sequential_tests,
    squares,
    telescoping,
    trajectories,
    witness,
    worst_cases,
)

#: The methods that show a claim which the search does not refute.
PROOFS = (
    polynomials.METHOD,
    real_closed_fields.METHOD,
    read_code.METHOD,
    any_data.METHOD,
    entry_by_entry.METHOD,
    moments.METHOD,
    all_states.METHOD,
    multipliers.METHOD,
    client_by_client.METHOD,
    squares.METHOD,
    identities.METHOD,
    induction.METHOD,
    telescoping.METHOD,
    invariants.METHOD,
    worst_cases.METHOD,
    derivation.METHOD,
)
METHODS = (
    citation.METHOD,
    admissible_readings.METHOD,
    growth.METHOD,
    witness.METHOD,
    experiment.METHOD,
    search.METHOD,
    runs.METHOD,
    # After what may refute the same.
    long_runs.METHOD,
    determinants.METHOD,
    second_moments.METHOD,
    sequential_tests.METHOD,
    number_types.METHOD,
    trajectories.METHOD,
    *PROOFS,
    # They cost most, and of what is proved nothing is asked any more.
    edges.METHOD,
    grid_runs.METHOD,
    late_rounds.METHOD,
)
