"""The best that is true, as exact intervals: the smallest rate, the largest stepsize, the best potential."""
