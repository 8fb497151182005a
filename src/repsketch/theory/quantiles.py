"""How many standard errors an interval takes, from the number of rows the error was estimated with."""

from statistics import NormalDist

from ..checks import check_count, check_number

FEWEST_FREE = 9  # from here on the series is within 1e-4 of the quantile at 99 %
_MOST_FREE = 2**31


def student_quantile(confidence: float, n_free: int) -> float:
    """What |T| stays below with probability ``confidence``, T being Student's with ``n_free`` degrees of freedom.

    The normal quantile and the first four terms of Fisher's series in 1 / n_free (Abramowitz and Stegun, 26.7.5).

    >>> round(student_quantile(0.95, 99), 3), round(student_quantile(0.95, 10**6), 3)
    (1.984, 1.96)
    """
    check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
    check_count("n_free", n_free, _MOST_FREE, FEWEST_FREE)
    z = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    terms = (
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
        (79.0 * z**9 + 776.0 * z**7 + 1482.0 * z**5 - 1920.0 * z**3 - 945.0 * z) / 92160.0,
    )
    return z + sum(term / n_free ** (i + 1) for i, term in enumerate(terms))
