"""Arrays whose lengths are letters, entry by entry: sums over indices, the places where terms stand, and powers."""
